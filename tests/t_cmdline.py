#!/usr/bin/env python3
"""A wrong command line names the wrong word and what would be right; nothing is run, and the exit says so."""

import harness
import lacks
from harness import ALL, CHAPTER_15, check_clean, equal, ok, run, sim

# command line | the word that must be named | something that must be offered instead
WRONG = [
    ("run=99-1", "99-1", "15-1"),
    ("run=15", "run=15:", "run=15-*"),
    ("run=14-1,15", "run=14-1,15:", "run=15-*"),
    # One byte more than there is room for: cut off, it could be another command line.
    ("run=15-1 watchdog=20" + " " * 1000 + "list", "the command line is longer than 1023 bytes", "nothing is run"),
    ("run=15-3,99-*", "99-*", "15-1"),
    ("run=99-1 run=15-1", "99-1", "15-1"),
    ("pmi=maybe", "pmi=maybe", "fixed"),
    ("apic=yes", "apic=yes", "x2apic"),
    ("trace=everything", "trace=everything", "msr"),
    ("console=printer", "printer", "serial"),
    ("serial=tty", "serial=tty", "0x3f8"),
    ("watchdog=1", "watchdog=1", "10"),
    ("garbage", "garbage", "run="),
    ("run=15-1 nonsense", "nonsense", "run="),
    # The experiments that break on purpose are offered only to who asks for them.
    ("run=0-1", "0-1", "selftest"),
]
for cmdline, word, right in WRONG:
    result = sim(cmdline)
    cmdline = cmdline[:40]  # for the names
    ok(word in result.out and right in result.out, f"{cmdline!r}: names {word} and {right}", result)
    ok(not result.tap.points and result.tap.bail_out is not None, f"{cmdline!r}: nothing is run", result)
    equal(result.tap.errors, [], f"{cmdline!r}: valid TAP")
    ok(result.status == 1, f"{cmdline!r}: exit 1", result)

for cmdline, experiments in [
    ("run=15-3", ["15-3"]),
    ("run=15-13,15-1", ["15-1", "15-13"]),
    ("run=15-*", CHAPTER_15),
    ("run=15-1 apic=xapic", ["15-1"]),
    ("run=15-3 apic=xapic", ["15-3"]),
    ("run=15-3 apic=x2apic", ["15-3"]),
    ("run=15-1 console=serial", ["15-1"]),
    ("run=15-1 trace=msr", ["15-1"]),
]:
    check_clean(sim(cmdline), repr(cmdline), experiments)
whole = check_clean(sim("run=all", more=["--cpus", 2]), "run=all", ALL, skips=True)
untrue = [point.skip for point in whole.skips if lacks.untrue(point.skip, "skylake")]
equal(untrue, [], "run=all: skipped is what pmusim and the processor lack alone")

listing = sim("list")
ok(all(f"{number} " in listing.out for number in ALL), "list names every experiment", listing)
ok(not any(p.failed for p in listing.tap.points) and listing.status == 0, "list: exit 0", listing)

traced = sim("run=15-2 trace=msr")
ok(
    "IA32_PERF_GLOBAL_CTRL" in traced.out and len(traced.out) > len(sim("run=15-2").out),
    "trace=msr prints the accesses by name",
    traced,
)

# The same through the front door: what make run refuses itself, before anything starts.
for setting, right in [
    ("EX=15_3", "15-3"),
    ("ENGINE=bochs", "sim"),
    ("PROFILE=pentium", "skylake"),
    ("CPUS=0", "64"),
    ("CPUS=two", "64"),
    ("TRACE=everything", "msr"),
]:
    name, value = setting.split("=")
    result = run("scripts/run", env={name: value})
    ok(setting in result.err and right in result.err, f"{setting}: named, with what is right", result)
    ok(result.status == 2 and not result.out, f"{setting}: exit 2, nothing run", result)

result = run("scripts/run", env={"EX": "99-1", "ENGINE": "sim"})
ok(result.status == 1 and "99-1" in result.out, "EX=99-1: the kernel names it, exit 1", result)
result = run("scripts/run", env={"EX": "15-1,15-2", "ENGINE": "sim", "PROFILE": "westmere"})
check_clean(result, "EX=15-1,15-2 PROFILE=westmere", ["15-1", "15-2"])
ok("pmusim, profile westmere" in result.err, "the engine is named", result)
result = run("scripts/run", env={"EX": "15-1", "ENGINE": "auto"}, seconds=200)
ok(result.err.count("engine: ") >= 1 and result.status == 0, "ENGINE=auto says which and why", result)

harness.done()
