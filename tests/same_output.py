#!/usr/bin/env python3
"""Does the kernel still print what it printed? For changes that are to move code and nothing else.

usage: tests/same_output.py BASE [WORD ...]      BASE: a commit; WORD: only runs whose name contains it

Builds BASE in a scratch folder, runs both kernels, each in its own simulator, on every profile, with one and two
processors, the PMI as a fixed interrupt and as an NMI, and compares the consoles line by line. Addresses inside the
image are compared as symbol + offset, because code moves; so is the CRC of the summary not compared, which
follows from its lines. Prints a diff of each run that differs; ends with 0 when none does. Not part of `make test`.
"""

import bisect
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BUILD = os.environ.get("O", "build")
# An address of the image; in front may stand where kernel/paging.h maps it a second time.
HEX = re.compile(r"0x(?:(?:000000)?40|(?:0000)?7f80|ffff9000|00000000)?(00[0-9a-f]{6}|[0-9a-f]{6})\b|\b([0-9A-F]{6})H\b")
# What moves with the place of the code in the caches and the phase of its clock: times, and what follows from them.
TIMES = "tsc|other[12]|pmc[12]|core_cycles|reference(_cycles)?|empty_window|cost_awake|bound|reads_cost|\\w+_step|\\w+_per_\\w+|\\w*latenc\\w*|free_memory"
SAME = [
    (re.compile(r"CRC-32 [0-9a-f]{8}"), "CRC-32"),
    (re.compile(r"\b\d+ cycles?\b"), "cycles"),
    (re.compile(r"\b(TSC|Latency|R/EFLAGS|Data Linear Address) = 0x[0-9a-f]+"), r"\1"),
    (re.compile(rf"^  ({TIMES}): [0-9.]+$", re.M), r"  \1"),
    (re.compile(r"= 0x[0-9a-f]+  (CPU_CLK_UNHALTED)"), r"\1"),
]


def symbols(elf):
    """The image's symbols as two lists, addresses and names, and its end."""
    found = []
    for line in subprocess.run(["nm", "-n", elf], capture_output=True, text=True, check=True).stdout.splitlines():
        address, kind, name = line.split(None, 2)
        if kind in "tTdDbBrR":
            found.append((int(address, 16), name))
    found.sort()
    return [a for a, _ in found], [n for _, n in found]


def normal(text, table):
    """The text with the image's addresses as symbol + offset."""
    addresses, names = table

    def place(match):
        value = int(match[1] or match[2], 16)
        if not addresses[0] <= value < addresses[-1]:
            return "<memory>" if addresses[-1] <= value and match[1] else match[0]
        at = bisect.bisect_right(addresses, value) - 1
        return f"<{names[at]}+{value - addresses[at]:x}>"

    for pattern, plain in SAME:
        text = pattern.sub(plain, text)
    return [line if "PERFEVTSEL" in line else HEX.sub(place, line) for line in text.splitlines()]


def console(tree, profile, cpus, pmi):
    """What the kernel of a tree prints, and its exit status."""
    build = pathlib.Path(tree) / BUILD
    end = subprocess.run(
        [build / "pmusim", "--profile", profile, "--cpus", str(cpus), "--cmdline", f"pmi={pmi}", build / "pmulab.elf"],
        capture_output=True, text=True, check=False, timeout=300,
    )
    return f"{end.stdout}exit status {end.returncode}\n"


def main():
    base, *words = sys.argv[1:] or sys.exit(__doc__)
    here = pathlib.Path(__file__).parent.parent
    with tempfile.TemporaryDirectory() as there:
        subprocess.run(["git", "-C", here, "worktree", "add", "--quiet", "--detach", there, base], check=True)
        try:
            for tree in (here, there):
                subprocess.run(["make", "-s", "-j2", "-C", tree, f"O={BUILD}", "all"], check=True, stdout=sys.stderr)
            differ = compare(here, there, words)
        finally:
            subprocess.run(["git", "-C", here, "worktree", "remove", "--force", there], check=True)
    sys.exit(differ != 0)


def compare(here, there, words):
    """Prints what differs; gives the number of runs that do."""
    tables = [symbols(pathlib.Path(tree) / BUILD / "pmulab.elf") for tree in (there, here)]
    differ = runs = 0
    for profile in sorted(path.stem for path in (here / "sim/profiles").glob("*.profile")):
        for cpus, pmi in ((1, "fixed"), (1, "nmi"), (2, "fixed"), (2, "nmi")):
            name = f"{profile} {cpus} {pmi}"
            if words and not any(word in name for word in words):
                continue
            before, after = (
                normal(console(tree, profile, cpus, pmi), table) for tree, table in zip((there, here), tables)
            )
            runs += 1
            if before != after:
                differ += 1
                print(f"== {name}")
                print("\n".join(difflib.unified_diff(before, after, "before", "after", lineterm="", n=0)))
    print(f"{runs} runs, {differ} differ")
    return differ


main()
