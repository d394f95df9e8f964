#!/usr/bin/env python3
"""The kernel is small and its pages have their rights."""

import pathlib
import re

import harness
from harness import BUILD, KERNEL, ok, run

# 64 KiB for the kernel and 4 KiB for each experiment, those that break on purpose too.
EXPERIMENTS = len(list(pathlib.Path("experiments").glob("*/ex*_*.c")))
LIMIT = (64 + 4 * EXPERIMENTS) * 1024

size = run("size", KERNEL)
text, data = (int(word) for word in size.out.splitlines()[1].split()[:2])
ok(EXPERIMENTS > 30, f"there are {EXPERIMENTS} experiments")
ok(text + data < LIMIT, f"text and data are {text + data} bytes, under {LIMIT}", size)

headers = run("readelf", "-lW", KERNEL).out
loads = re.findall(r"^ +LOAD .*? ([R ][W ][E ]) 0x", headers, re.MULTILINE)
ok(len(loads) >= 3, "text, read-only data and data are segments of their own", headers)
ok(not [flags for flags in loads if "W" in flags and "E" in flags], "no segment is both W and E", headers)

# GRUB looks for the header in the first 32 KiB, on an 8-byte boundary (Multiboot2 Specification, "OS image
# format").
head = KERNEL.read_bytes()[:32768]
at = head.find(bytes.fromhex("d65052e8"))
ok(at >= 0 and at % 8 == 0, "the Multiboot2 header is where GRUB looks")

# The table of symbols made from the first link must fit the second.
for elf in ("pmulab.pre.elf", "pmulab.elf"):
    names = run("nm", "-n", BUILD / elf).out
    functions = [line for line in names.splitlines() if re.search(r" [tT] ", line)]
    if elf == "pmulab.pre.elf":
        first = functions
ok(first == functions and len(functions) > 20, "both links put the functions at the same addresses")

harness.done()
