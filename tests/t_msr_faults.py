#!/usr/bin/env python3
"""Every MSR access of a run refused in its turn: the kernel ends each of these runs in order.

Exit 0 or 1, valid TAP, and the refused access named in the output. `make test` takes each access of the
initialization and some of each experiment's on the first machine, and each experiment on one of the others; ALL=1
(`make test-all`) takes all of them on the first machine, and a denser sample on each of the others.
"""

import concurrent.futures
import os
import re

import harness
from harness import KERNEL, PMUSIM, ok, run

ALL = os.environ.get("ALL") == "1"
NEVER = 10**9
MOST = 2000 if ALL else 5  # of one experiment: some do the same a thousand times
# Profile, command line, and every how manieth access of the initialization and of an experiment is refused:
# in `make test`, and with ALL=1.
MACHINES = [
    ("skylake", "pmi=fixed", (1, 24), (1, 1)),
    ("skylake", "pmi=nmi apic=xapic", (5, 24), (1, 24)),
    ("westmere", "", (5, 24), (1, 24)),
    ("icelake", "", (5, 24), (1, 24)),
    ("sapphirerapids", "", (5, 24), (1, 24)),
]


def refuse(profile, words, nth):
    return run(
        PMUSIM, "--profile", profile, "--fault", f"nth-msr={nth}", "--max-seconds", 20,
        "--cmdline", f"console=serial watchdog=100 {words}", KERNEL, seconds=60,
    )  # fmt: skip


def accesses(profile, words):
    """How many MSR accesses the run makes."""
    made = re.search(r"made only (\d+)", refuse(profile, words, NEVER).err)
    return int(made[1]) if made else 0


def wrong(result):
    """What is wrong with the end of a run, or None."""
    access = re.search(r"MSR access \d+, (RDMSR|WRMSR) ([0-9A-F]+)H", result.err)
    if not access:
        return "the access never came"
    if result.status not in (0, 1):
        return f"exit {result.status}"
    if result.tap.errors:
        return f"invalid TAP: {result.tap.errors[0]}"
    words = "RDMSR of" if access[1] == "RDMSR" else "WRMSR to"
    number = int(access[2], 16)
    efer = number == 0xC0000080 and "IA32_EFER (0xc0000080)" in result.out
    if not efer and not re.search(rf"{words} 0x{number:x}\b", result.out):
        return f"{words} 0x{number:x} is not named"
    return None


def cases():
    """(profile, command line, n) of each run."""
    for place, (profile, words, sample, dense) in enumerate(MACHINES):
        each_init, each = dense if ALL else sample
        listed = run(PMUSIM, "--profile", profile, "--cmdline", "list", KERNEL).out
        numbers = re.findall(r"^# (\d+-\d+) ", listed, re.MULTILINE)
        initial = accesses(profile, f"{words} list")
        ok(len(numbers) > 6 and initial > 20, f"{profile} {words}: {initial} accesses before the experiments")
        for n in range(1, initial + 1, each_init):
            yield profile, f"{words} run=15-3", n
        for at, number in enumerate(numbers):
            if not ALL and place not in (0, 1 + at % (len(MACHINES) - 1)):
                continue
            total = accesses(profile, f"{words} run={number}")
            step = max(each, (total - initial) // MOST)
            # The samples of the experiments begin at different places, so that the common end is hit everywhere.
            first = initial + 1 + sum(map(int, number.split("-"))) * 7 % step
            for n in range(min(first, total), total + 1, step):
                yield profile, f"{words} run={number}", n


with concurrent.futures.ThreadPoolExecutor(2) as pool:
    todo = list(cases())
    results = list(pool.map(lambda case: refuse(*case), todo))
bad = [(case, wrong(r), r) for case, r in zip(todo, results) if wrong(r)]
for case, why, result in bad[:10]:
    profile, words, n = case
    ok(False, f"{profile} '{words}' nth-msr={n}: {why}", result)
ok(len(todo) > 200 and not bad, f"{len(todo)} runs with one access refused: {len(todo) - len(bad)} end in order")
harness.done()
