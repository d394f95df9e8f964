#!/usr/bin/env python3
"""An experiment that goes wrong is one `not ok` with a report, and the next one still runs.

The experiments 0-1 to 0-4 and 0-10 break on purpose: read a missing MSR, jump to address 0, overflow the stack,
loop, print for ever.
"""

import re

import harness
from harness import equal, ok, run, sim

BREAKERS = {  # number: the reason that the report gives
    "0-1": r"#GP at 0x[0-9a-f]+: RDMSR of 0x400000ff refused",
    "0-2": r"#PF at 0x0: instruction fetch from 0x0\b",
    "0-3": r"#\w+ at 0x[0-9a-f]+: stack overflow: the guard page of the experiment stack",
    "0-4": r"watchdog: the experiment took longer than 10 ms",
}


def reported(result, number):
    """One not ok, its reason in the check and, with the registers behind it, in the report."""
    failed = [point for point in result.tap.of(number) if point.failed]
    if len(failed) != 1:
        return False
    reason = failed[0].yaml.get("reason", "").strip('"')
    return re.match(BREAKERS[number], reason) and re.search(rf"^# {re.escape(reason)}.*\n#   rip ", result.out, re.MULTILINE)


for profile in ("skylake", "westmere", "none"):
    result = sim("selftest watchdog=10 run=0-1,0-2,0-3,0-4,15-1", profile=profile)
    tap = result.tap
    ok(not tap.errors, f"{profile}: valid TAP", f"{tap.errors}\n{result}")
    ok(result.status == 1, f"{profile}: exit 1", result)
    for number in BREAKERS:
        ok(reported(result, number), f"{profile}: {number} is one not ok, with its report", result)
    ok(
        tap.of("15-1") and not any(p.failed for p in tap.of("15-1")),
        f"{profile}: 15-1 still runs and is ok",
        result,
    )

for number in BREAKERS:
    alone = sim(f"selftest watchdog=10 run={number}")
    ok(reported(alone, number) and alone.status == 1, f"{number} alone: one not ok, with its report", alone)
    equal(len(alone.tap.points), 1, f"{number} alone: nothing else")

# Each breaker must leave the machine as it should be for experiments that count and interrupt.
for number in BREAKERS:
    result = sim(f"selftest watchdog=10 run={number},15-3,15-4")
    ok(
        result.tap.experiments() == [number, "15-3", "15-4"]
        and not [p for p in result.tap.failures if not p.text.startswith(f"ex{number} ")],
        f"15-3 and 15-4 hold after {number}",
        result,
    )

# Printing does not count, but not for ever.
result = sim("selftest watchdog=10 console=serial run=0-10,15-3")
points = result.tap.of("0-10")
ok(points and points[0].ok and int(points[0].yaml["microseconds"]) > 20000, "the watchdog waits while the console prints", result)
ok(
    [point.ok for point in points] == [True, False] and "10 ms" in points[1].yaml["reason"],
    "who prints for ever is ended all the same",
    result.out[-4000:],
)
ok(not [point for point in result.tap.of("15-3") if point.failed], "15-3 holds after 0-10", result.out[-4000:])

# QEMU's TCG was not written by us: what it thinks of the same faults must be the same.
result = run(
    "scripts/run",
    env={"ENGINE": "tcg", "EX": "0-1,0-2,0-3,0-4,15-1", "CMDLINE": "selftest watchdog=10"},
    seconds=150,
)
ok(not result.tap.errors and result.status == 1, "QEMU: valid TAP, exit 1", f"{result.tap.errors}\n{result}")
for number in BREAKERS:
    # TCG reads an MSR that it does not know as 0.
    failed = [p for p in result.tap.of(number) if p.failed]
    good = len(failed) == 1 if number == "0-1" else reported(result, number)
    ok(good, f"QEMU: {number} is one not ok, with its report", result)
ok(result.tap.of("15-1") and not any(p.failed for p in result.tap.of("15-1")), "QEMU: 15-1 still runs")

harness.done()
