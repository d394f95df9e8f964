"""What the tests share: TAP output, and running the kernel in the simulator and in QEMU.

A test is an executable tests/t_*.py (or a program of tests/unit/) that prints TAP and ends with 0. The
environment gives O, the build directory, relative to the root of the tree, which is where a test runs.
"""

import os
import pathlib
import re
import struct
import subprocess
import sys
import time
from dataclasses import dataclass

import tapcheck

BUILD = pathlib.Path(os.environ.get("O", "build"))
SCRATCH = BUILD / "test"
KERNEL = BUILD / "pmulab.elf"
PMUSIM = BUILD / "pmusim"
SEVEN = ["15-1", "15-2", "15-3", "15-4", "15-11", "15-12", "15-13"]  # those that count alone
# All, in their order; 0-x break on purpose and are not offered.
ALL = [
    f"{chapter}-{number}"
    for chapter, number in re.findall(
        r"&ex(\d+)_(\d+)", pathlib.Path("runner/registry.c").read_text(encoding="utf-8")
    )
    if chapter != "0"
]
CHAPTER_15 = [number for number in ALL if number.startswith("15-")]
PMU_PROFILES = ["westmere", "skylake", "icelake"]

_results = []


def ok(condition, name, why=""):
    """One check; why (text) is shown when it fails. Returns the condition."""
    _results.append(bool(condition))
    print(f"{'ok' if condition else 'not ok'} {len(_results)} - {name}", flush=True)
    if not condition:
        for line in str(why).splitlines()[-200:]:
            print(f"#   {line}", flush=True)
    return bool(condition)


def equal(got, wanted, name):
    """One check that two values are equal."""
    return ok(got == wanted, name, f"got:    {got!r}\nwanted: {wanted!r}")


def skip(name, reason):
    """One check that cannot be made here."""
    _results.append(True)
    print(f"ok {len(_results)} - {name} # SKIP {reason}", flush=True)


def done():
    """Ends the test: the plan, the exit status."""
    print(f"1..{len(_results)}")
    sys.exit(0 if all(_results) and _results else 1)


@dataclass
class Run:
    """A program's end: exit status (124: out of time), text, seconds."""

    status: int
    out: str
    err: str
    seconds: float

    @property
    def tap(self):
        return tapcheck.parse(self.out)

    def __str__(self):
        return f"{self.out}\n{self.err}\nexit status {self.status}, {self.seconds:.1f} s"


def run(*command, seconds=60, env=None, text_in=None):
    """Runs a program to its end or for so many seconds."""
    start = time.monotonic()
    command = [str(word) for word in command]
    environment = {**os.environ, **(env or {})}
    stdin = {"input": text_in.encode()} if text_in is not None else {"stdin": subprocess.DEVNULL}
    try:
        end = subprocess.run(command, capture_output=True, timeout=seconds, env=environment, **stdin, check=False)
        status, out, err = end.returncode, end.stdout, end.stderr
    except OSError as missing:
        status, out, err = 127, b"", str(missing).encode()
    except subprocess.TimeoutExpired as late:
        status, out, err = 124, late.stdout or b"", late.stderr or b""
    return Run(
        status, out.decode(errors="replace"), err.decode(errors="replace"), time.monotonic() - start
    )


def sim(cmdline="", profile="skylake", kernel=KERNEL, more=(), seconds=60):
    """Runs the kernel in the simulator."""
    return run(
        PMUSIM, "--profile", profile, "--cmdline", cmdline, *more, kernel, seconds=seconds
    )


def patched_kernel(function, code, name):
    """A copy of the kernel with other code at the beginning of that function; gives its path."""
    symbols = dict(reversed(line.split()[::2]) for line in run("nm", KERNEL).out.splitlines() if line.count(" ") == 2)
    address = int(symbols[function], 16)
    elf = bytearray(KERNEL.read_bytes())
    (headers,) = struct.unpack_from("<Q", elf, 32)
    size, count = struct.unpack_from("<HH", elf, 54)
    for at in range(headers, headers + size * count, size):
        offset, start, _, length = struct.unpack_from("<QQQQ", elf, at + 8)
        if start <= address < start + length:
            place = offset + address - start
            elf[place : place + len(code)] = code
    path = SCRATCH / name
    path.write_bytes(elf)
    return path


def check_clean(result, name, experiments=None, skips=False):
    """The four checks of a good run: valid TAP, nothing not ok, no skip, exit 0; and the experiments."""
    tap = result.tap
    ok(not tap.errors, f"{name}: valid TAP 14", "\n".join(tap.errors) + f"\n{result}")
    ok(tap.points and not tap.failures and tap.bail_out is None, f"{name}: nothing is not ok", result)
    if not skips:
        ok(not tap.skips, f"{name}: nothing is skipped", "\n".join(str(p) for p in tap.skips))
    equal(result.status, 0, f"{name}: exit 0")
    if experiments is not None:
        equal(tap.experiments(), experiments, f"{name}: the experiments, in order")
    return tap
