#!/usr/bin/env python3
"""The same image, profile and command line give the same bytes and counts; and tracing changes none of them.

What is compared holds counts, clocks and time-stamps: the kernel's dumps, the simulator's --stats, and a guest
that prints its counters and the TSC. A traced run goes instruction by instruction, an untraced one by blocks with
counters derived from totals: that both print the same is the proof that the fast way counts as the careful one.
(tests/t_compilers.py compares what gcc and what clang make of the simulator.)
"""

import re

import harness
from harness import BUILD, KERNEL, PMUSIM, equal, ok, run

GUEST = BUILD / "test" / "guests" / "pmu.elf"
EXPERIMENTS = "run=15-1,15-2,15-3,15-4,15-11"
LIGHT = ["msr", "pmi", "irq", "exc", "msr,pmi,irq,exc"]
HEAVY = ["branch", "insn", "msr,pmi,irq,exc,branch,insn"]


def stats(result):
    """The figures of --stats, but for the wall time."""
    return [line for line in re.findall(r"^pmusim: .*", result.err, re.MULTILINE) if "wall time" not in line]


def check(image, profile, kinds, words=()):
    """One image on one profile: twice in a row, then with each kind of trace."""
    command = [PMUSIM, "--profile", profile, "--stats", *words, image]
    name = f"{image.name}, {profile}"
    first = run(*command)
    ok(first.status == 0 and first.out and len(stats(first)) > 10, f"{name}: it runs", first)
    second = run(*command)
    equal(second.out, first.out, f"{name}: the same output again")
    equal(stats(second), stats(first), f"{name}: the same figures again")
    for kind in kinds:
        traced = run(*command[:-1], "--trace", kind, image)
        ok(traced.out == first.out, f"{name}: the same output with --trace {kind}", difference(first.out, traced.out))
        equal(stats(traced)[-len(stats(first)) :], stats(first), f"{name}: the same figures with --trace {kind}")
        ok(len(traced.err) > len(first.err), f"{name}: --trace {kind} traces something")


def difference(one, other):
    """The first lines that differ."""
    pairs = zip(one.splitlines(), other.splitlines())
    return next((f"without: {a}\nwith:    {b}" for a, b in pairs if a != b), "one is longer")


for each in ("westmere", "skylake", "icelake"):
    check(KERNEL, each, LIGHT if each == "skylake" else LIGHT[-1:], ["--cmdline", EXPERIMENTS])
    check(GUEST, each, HEAVY)
check(KERNEL, "skylake", LIGHT[-1:], ["--cpus", "2", "--cmdline", "run=15-2,18-15"])

harness.done()
