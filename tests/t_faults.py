#!/usr/bin/env python3
"""An experiment that goes wrong is one `not ok` with a report, and the next one still runs.

The experiments 0-1 to 0-4 break on purpose: read a missing MSR, jump to address 0, overflow the stack, loop.
"""

import harness
from harness import ok, run, sim

BREAKERS = {  # number: what the report must name
    "0-1": ["#GP", "RIP"],
    "0-2": ["#PF", "0x0"],
    "0-3": ["stack"],
    "0-4": ["watchdog"],
}

for profile in ("skylake", "westmere", "none"):
    result = sim("selftest watchdog=10 run=0-1,0-2,0-3,0-4,15-1", profile=profile)
    tap = result.tap
    ok(not tap.errors, f"{profile}: valid TAP", f"{tap.errors}\n{result}")
    ok(result.status == 1, f"{profile}: exit 1", result)
    for number in BREAKERS:
        points = tap.of(number)
        ok(len([p for p in points if p.failed]) == 1, f"{profile}: {number} is one not ok", result)
    ok(
        tap.of("15-1") and not any(p.failed for p in tap.of("15-1")),
        f"{profile}: 15-1 still runs and is ok",
        result,
    )

for number, words in BREAKERS.items():
    alone = sim(f"selftest watchdog=10 run={number}")
    report = alone.out
    ok(
        all(word.lower() in report.lower() for word in words),
        f"{number} alone: the report names {', '.join(words)}",
        alone,
    )
    ok(f"0-{number[-1]}" in report and report.count("not ok") == 1, f"{number} alone: one not ok", alone)

# Each breaker must leave the machine as it should be for experiments that count and interrupt.
for number in BREAKERS:
    result = sim(f"selftest watchdog=10 run={number},15-3,15-4")
    ok(
        result.tap.experiments() == [number, "15-3", "15-4"]
        and not [p for p in result.tap.failures if not p.text.startswith(f"ex{number} ")],
        f"15-3 and 15-4 hold after {number}",
        result,
    )

# QEMU's TCG was not written by us: what it thinks of the same faults must be the same.
result = run(
    "scripts/run",
    env={"ENGINE": "tcg", "EX": "0-1,0-2,0-3,0-4,15-1", "CMDLINE": "selftest watchdog=10"},
    seconds=150,
)
ok(not result.tap.errors and result.status == 1, "QEMU: valid TAP, exit 1", f"{result.tap.errors}\n{result}")
for number, words in BREAKERS.items():
    failed = [p for p in result.tap.of(number) if p.failed]
    ok(len(failed) == 1, f"QEMU: {number} is one not ok", result)
    if number != "0-1":  # TCG reads an MSR that it does not know as 0
        named = all(word.lower() in result.out.lower() for word in words)
        ok(named, f"QEMU: the report of {number} names {', '.join(words)}", result)
ok(result.tap.of("15-1") and not any(p.failed for p in result.tap.of("15-1")), "QEMU: 15-1 still runs")

harness.done()
