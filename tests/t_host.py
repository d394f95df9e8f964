#!/usr/bin/env python3
"""pmusim and its host: how a run ends, what is refused before it begins, where symbols are found.

The guests are a few bytes of machine code behind a Multiboot header that gives their addresses.
"""

import os
import re
import select
import struct
import subprocess

import harness
from harness import KERNEL, PMUSIM, SCRATCH, equal, ok, run, sim

BASE = 0x100000
HEADER = 32  # of a Multiboot header with addresses
SCRATCH.mkdir(parents=True, exist_ok=True)


def guest(name, code):
    """An image that runs this code (32-bit protected mode, no paging) from BASE + HEADER on."""
    magic, flags = 0x1BADB002, 0x10000
    head = struct.pack("<IIIIIIII", magic, flags, -(magic + flags) & 0xFFFFFFFF, BASE, BASE, 0, 0, BASE + HEADER)
    path = SCRATCH / f"host.{name}"
    path.write_bytes(head + code)
    return path


def store(address, value):
    """MOV dword [address], value"""
    return b"\xc7\x05" + struct.pack("<II", address, value)


# ---- A machine that can never run again ends at once, with no limit set ----
APIC = 0xFEE00000
ENDS = {
    "cli; hlt": b"\xfa\xf4",
    # SVR: enabled; LVT timer: periodic, vector 40H; initial count. It expires again and again, but IF is 0.
    "cli; hlt beside a periodic timer": store(APIC + 0xF0, 0x1FF) + store(APIC + 0x320, 0x20040)
    + store(APIC + 0x380, 1000) + b"\xfa\xf4",
}  # fmt: skip
for name, code in ENDS.items():
    for cpus in (1, 2):
        result = run(PMUSIM, "--cpus", cpus, "--stats", guest("halt", code), seconds=10)
        ok(
            result.status == 3 and "no processor can ever run again" in result.err,
            f"{name}, {cpus} processors, no limit: status 3", result,
        )  # fmt: skip
        spent = [float(seconds) for seconds in re.findall(r"simulated time ([0-9.]+) s", result.err)]
        ok(len(spent) == cpus and max(spent) < 0.1, f"{name}, {cpus} processors: no time passes in that halt", result)

# ---- --max-seconds takes fractions: an endless loop of PAUSE ----
for seconds in ("0.2", "0.05", "1"):
    result = run(PMUSIM, "--max-seconds", seconds, "--stats", guest("loop", b"\xf3\x90\xeb\xfc"), seconds=60)
    spent = re.search(r"simulated time ([0-9.]+) s", result.err)
    ok(
        result.status == 124 and spent and abs(float(spent[1]) - float(seconds)) < 1e-6,
        f"--max-seconds {seconds} ends after that time", result,
    )  # fmt: skip

# ---- MAXPHYADDR: what the paging structures and the local APIC's address can have ----
for bits, good in {0x14: False, 31: False, 32: True, 36: True, 52: True, 53: False, 64: False, 0x6A: False}.items():
    words = ["--set", f"cpuid.0x80000008={0x3000 + bits} 0 0 0"]
    if good:
        result = sim("run=15-1 console=serial", more=words)
        ok(result.status == 0, f"MAXPHYADDR {bits} is taken", result)
    else:
        result = run(PMUSIM, *words, guest("halt", b"\xfa\xf4"), seconds=10)
        said = f"EAX[7:0] (MAXPHYADDR) is {bits}: must be 32 to 52"
        ok(result.status == 2 and said in result.err, f"MAXPHYADDR {bits} is refused", result)

# ---- IA32_APIC_BASE: the address has MAXPHYADDR bits (SDM vol. 3 "Local APIC Status and Location") ----
# mov $0x1b, %ecx; rdmsr; bts $N - 32, %edx; wrmsr; mov $0x10, %al; out %al, $0xf4. #GP: no IDT, a triple fault.
for bits, flipped, good in ((39, 38, True), (39, 39, False), (36, 35, True), (36, 36, False), (46, 45, True), (46, 46, False)):
    code = b"\xb9\x1b\0\0\0\x0f\x32\x0f\xba\xea" + bytes([flipped - 32]) + b"\x0f\x30\xb0\x10\xe6\xf4"
    result = run(PMUSIM, "--set", f"cpuid.0x80000008={0x3000 + bits} 0 0 0", guest("base", code), seconds=10)
    wanted = (0, "") if good else (3, "vector 13")
    ok(
        result.status == wanted[0] and wanted[1] in result.err,
        f"MAXPHYADDR {bits}: IA32_APIC_BASE {'takes' if good else 'refuses'} bit {flipped}", result,
    )  # fmt: skip


# ---- An ELF64 entry that the 32-bit start cannot reach ----
def elf64(entry, virtual=BASE):
    """An ELF64 image whose one segment, loaded at BASE, writes 10H to the debug-exit port."""
    code = struct.pack("<III", 0x1BADB002, 0, -0x1BADB002 & 0xFFFFFFFF) + b"\x90" * 4 + b"\xb0\x10\xe6\xf4"
    head = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, entry, 64, 0, 0, 64, 56, 1, 64, 0, 0)
    return head + struct.pack("<IIQQQQQQ", 1, 5, 120, virtual, BASE, len(code), len(code), 4096) + code


for name, image, status, said in (
    ("at its physical address", elf64(BASE + 16), 0, ""),
    ("high, in a segment that is loaded low", elf64((1 << 40) + 16, virtual=1 << 40), 0, ""),
    ("above 4 GiB", elf64((1 << 32) + BASE + 16), 2, "entry address 100100010H: must lie below 4 GiB"),
):
    path = SCRATCH / "host.elf64"
    path.write_bytes(image)
    result = run(PMUSIM, path, seconds=10)
    ok(result.status == status and said in result.err, f"an ELF64 entry {name}: status {status}", result)

# ---- A symbol that several files have ----
words = ("--trace", "insn", "--trace-to", "tap_plan")
several = sim("run=15-3", more=(*words, "--trace-from", "run"))
candidates = re.findall(r"([\w.]+:run) \((0x[0-9a-f]+)\)", several.err)
ok(
    several.status == 2 and "--trace-from 'run': several symbols have that name" in several.err and len(candidates) > 1,
    "--trace-from with the name of several symbols is refused", several,
)  # fmt: skip
for word, address in [pair for pair in candidates if pair[0] == "ex15_3.c:run"]:
    for each in (word, address):
        part = sim("run=15-3", more=("--trace", "insn", "--trace-from", each))
        ok(part.status == 0 and int(part.err.split()[0], 16) == int(address, 16), f"--trace-from {each} begins there", part.err[:200])
equal(len([word for word, _ in candidates if word == "ex15_3.c:run"]), 1, "they are told apart by their files")

# ---- A stream that cannot be written: why, and a status that is not 0 ----
def unwritable(stream, *words):
    """Runs pmusim with this stream on a full device, or with nobody at its other end; gives status, output, errors."""
    name, kind = stream.split()
    with open("/dev/full", "wb") as full:
        other, broken = os.pipe()
        os.close(other)
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, name: full if kind == "full" else broken}
        end = subprocess.run([str(word) for word in (PMUSIM, *words)], stdin=subprocess.DEVNULL, timeout=60, check=False, **streams)
        os.close(broken)
    return end.returncode, (end.stdout or b"").decode(), (end.stderr or b"").decode()


FULL = "cannot write the standard output: No space left on device"
NOBODY = "nobody reads the standard output any more"
SHORT = ("--cmdline", "run=15-1 console=serial")
for stream, words, status, said in (
    ("stdout full", (*SHORT, KERNEL), 1, FULL),
    ("stdout gone", (*SHORT, KERNEL), 1, NOBODY),
    ("stdout full", ("--help",), 1, FULL),
    ("stdout full", ("--list-profiles",), 1, FULL),
    ("stderr full", (*SHORT, KERNEL), 0, ""),
    ("stderr full", ("--stats", *SHORT, KERNEL), 1, ""),
    ("stderr full", ("--trace", "msr", *SHORT, KERNEL), 1, ""),
    ("stderr gone", ("--trace", "msr", *SHORT, KERNEL), 1, ""),
):
    end = unwritable(stream, *words)
    shown = " ".join(str(word).rsplit("/", maxsplit=1)[-1] for word in words)
    ok(end[0] == status and said in end[2], f"{stream}: '{shown}' ends with {status}", end)

# ---- A prompt is there before the guest waits for its answer ----
# Writes "> " to 3F8H, then reads the line status until bit 0 is set, sends back what came, and says all ok.
PROMPT = (
    b"\x66\xba\xf8\x03\xb0>\xee\xb0 \xee\x66\xba\xfd\x03\xec\xa8\x01\x74\xfb"
    b"\x66\xba\xf8\x03\xec\xee\xb0\x10\xe6\xf4"
)


def read_some(stream, seconds):
    """What a pipe has within so many seconds."""
    return os.read(stream.fileno(), 100) if select.select([stream], [], [], seconds)[0] else b""


for answer in (b"x", None):
    words = [str(PMUSIM), *(["--stdin"] if answer else []), str(guest("prompt", PROMPT))]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        prompt = read_some(process.stdout, 10)
        equal(prompt, b"> ", f"a prompt without a newline comes {'before' if answer else 'without'} its answer")
        if answer:
            process.stdin.write(answer)
            process.stdin.flush()
            equal((read_some(process.stdout, 10), process.wait(10)), (answer, 0), "and the answer reaches the guest")
        process.kill()

harness.done()
