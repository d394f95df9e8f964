#!/usr/bin/env python3
"""The experiments' assertions assert: break one thing of the simulated processor, and exactly the
experiments that are about it turn not ok.

`pmusim --mutate NAME` makes one fault (sim/mutate.c). Each runs all experiments of chapters 14, 15 and 18 on
two processors. The expected sets are what the fault must disturb, with the reason; they are not copied from a run.
"""

import os
from concurrent.futures import ThreadPoolExecutor

import harness
from harness import KERNEL, PMUSIM, equal, ok, run

CHAPTERS = ("14-", "15-", "18-")
# Without the screen a run takes a third of the time. A fault may leave an endless interrupt behind: the
# watchdog then ends that experiment, the sooner the better.
CMDLINE = "run=14-*,15-*,18-* console=serial watchdog=500"
SECONDS = 60
WORKERS = min(2, os.cpu_count() or 1)

# mutation: (profile, the experiments that must turn not ok)
EXPECTED = {
    # Counters and PMI.
    # 15-1 and 15-3 read back what they wrote into a counter, 15-5 what the reload put there: all with the top bit set.
    "width-wrong": ("westmere", "15-1 15-3 15-5"),
    # All that compare a count with the instructions of a listing: the counter alone (15-2), beside its fixed
    # twin (15-11), of one window for both CPIs (15-13), on two processors at once (18-15).
    "window-plus-one": ("skylake", "15-2 15-11 15-13 18-15"),
    # 15-3 looks at the entry in the handler. In 14-10 and 14-13 the trace goes on until the handler stops it: its
    # first branches, past the threshold, ask for an interrupt that only the mask holds off.
    "lvt-not-masked": ("westmere", "14-10 14-13 15-3"),
    # 15-4 freezes counters, 14-5 last branch records.
    "freeze-nothing": ("skylake", "14-5 15-4"),
    # 15-11 compares it with IA32_PMC0; 15-13 takes its instructions from it and knows their number.
    "fixed0-off-by-one": ("westmere", "15-11 15-13"),
    "hlt-counts": ("skylake", "15-12"),
    "chain-free": ("westmere", "15-13"),
    "pmi-wrong-processor": ("skylake", "18-15"),
    # PEBS.
    # 15-5 alone wants more than one record of a counter by its reload: the others' ask for one, or (15-10) take
    # what comes.
    "pebs-no-reload": ("westmere", "15-5"),
    # 15-6 alone has something above 4 GiB in its records.
    "pebs-32bit": ("skylake", "15-6"),
    # The index tells of the full buffer as well, so that only 15-7 needs the bit.
    "pebs-no-ovfbuf": ("westmere", "15-7"),
    # 15-8 alone counts the interrupts of a plain counter; in 15-9 another cause's interrupt brings it along.
    "pmi-dropped-when-pebs": ("skylake", "15-8"),
    # 15-8 and 15-9 have a plain counter overflow while BTS is on.
    "overflow-lost-with-bts": ("westmere", "15-8 15-9"),
    "latency-threshold-ignored": ("skylake", "15-10"),
    "data-source-wrong": ("westmere", "15-10"),
    # LBR.
    # Every experiment that finds a near return in the stack, or passes over one on its way to the branches it
    # compares record by record: all but 14-5, whose chain is of jumps.
    "lbr-return-lost": ("westmere", "14-1 14-2 14-3 14-4 14-6 14-7"),
    # 14-2 fills the stack on purpose; in 14-5 the branches of a print run through it.
    "lbr-no-wrap": ("westmere", "14-2 14-5"),
    "lbr-call-filter-ignored": ("skylake", "14-3"),
    "lbr-jump-filter-ignored": ("westmere", "14-4"),
    "db-keeps-lbr": ("skylake", "14-5"),
    # 14-6 runs at high addresses; so does the ring 3 code of 14-7.
    "lbr-32bit": ("westmere", "14-6 14-7"),
    "lbr-ring-filter-ignored": ("skylake", "14-7"),
    "btf-ignored": ("westmere", "14-8"),
    # BTS.
    "bts-no-wrap": ("skylake", "14-9"),
    "bts-late-threshold": ("westmere", "14-10"),
    "bts-filter-ignored": ("skylake", "14-11"),
    # 14-12 runs at a high address; so does the ring 3 code of 14-11.
    "bts-32bit": ("westmere", "14-11 14-12"),
    # Of those with an interrupting buffer, 14-10 and 14-13 account for each PMI.
    "bts-double-pmi": ("skylake", "14-10 14-13"),
}


def experiments(profile, *more):
    """Runs them; gives the run and the sets (not ok, all) of experiments of the chapters."""
    result = run(
        PMUSIM, "--profile", profile, "--cpus", "2", "--cmdline", CMDLINE, *more, KERNEL, seconds=SECONDS
    )
    tap = result.tap
    failed = {name for name in tap.experiments() if any(point.failed for point in tap.of(name))}
    return result, failed, {name for name in tap.experiments() if name.startswith(CHAPTERS)}


listed = run(PMUSIM, "--mutate", "help")
names = [line.split()[0] for line in listed.out.splitlines()]
equal(sorted(names), sorted(EXPECTED), "the simulator's mutations are those of the table")
unknown = run(PMUSIM, "--mutate", "no-such", KERNEL)
ok(unknown.status == 2 and "--mutate help" in unknown.err, "an unknown mutation is refused", unknown)

jobs = [(profile,) for profile in ("westmere", "skylake")]
jobs += [(EXPECTED[name][0], "--mutate", name) for name in sorted(EXPECTED)]
with ThreadPoolExecutor(WORKERS) as pool:
    ends = list(pool.map(lambda job: experiments(*job), jobs))

there = set()
for (profile,), (result, failed, seen) in zip(jobs[:2], ends[:2]):
    ok(result.status == 0 and not failed, f"{profile} unbroken: nothing is not ok", result)
    there |= seen
for (profile, _, name), (result, failed, seen) in zip(jobs[2:], ends[2:]):
    wanted = set(EXPECTED[name][1].split())
    ok(
        failed == wanted and seen == there and result.status == 1,
        f"{name} on {profile}: {', '.join(sorted(wanted))} and no other",
        f"not ok: {sorted(failed)}\nnot run: {sorted(there - seen)}\nexit status {result.status}\n"
        + "\n".join(line for line in result.out.splitlines() if line.startswith("not ok")),
    )
hit = set().union(*(wanted.split() for _, wanted in EXPECTED.values()))
equal(sorted(there - hit), [], "every experiment of chapters 14, 15 and 18 is hit by a mutation")

harness.done()
