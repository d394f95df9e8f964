#!/usr/bin/env python3
"""What an experiment leaves behind must not help it, or hurt it, when it is run again.

In the menu each experiment is run, then once more by r. On a machine that is the same for both runs, both must say
the same. Then one access or one PMI of the second run fails: it must say what a first run says when the same access
or PMI of it fails, in a process of its own. A value that is kept from the run before shows as a check that is ok here
and not ok there. A sample; with ALL=1 all the experiments and faults, each PMI and every fifth access.
"""

import concurrent.futures
import os
import re

import harness
from harness import ALL, KERNEL, PMUSIM, ok, run

WHOLE = bool(os.environ.get("ALL"))
IDLE = "\033[Z"  # the first key comes too early
# An xAPIC: the menu's own timer then needs no MSR, and the accesses are the experiments' alone.
WORDS = "menu=0 apic=xapic console=serial watchdog=200"
ACCESS = re.compile(r" (?:RDMSR|WRMSR|RDPMC) ")
PMI = "PMI to the local APIC"

# The same for both runs, so not those that come by the clock. The MSRs: DEBUGCTL, DS_AREA, GLOBAL_CTRL, FIXED_CTR_CTRL, PERFEVTSEL0, PMC0, LBR_SELECT.
LASTING = [
    "pmi=double", "pmi=lost", "msr-ignore=0x1d9", "counters=1", "firmware=dirty", "msr=0x600", "no-apic",
    "no-cpu=1", "msr-ignore=0x38f", "no-x2apic", "msr-ignore=0x38d", "msr-ignore=0x186", "msr-read=0xc1",
    "msr-write=0x1c8",
]  # fmt: skip


def session(keys, fault=None, more=()):
    """A session with these keys on a machine with this fault."""
    faults = ["--fault", fault] if fault else []
    return run(
        PMUSIM, "--cpus", 2, *faults, *more, "--stdin", "--cmdline", WORDS, KERNEL, text_in=IDLE + keys, seconds=300
    )  # fmt: skip


def verdicts(result):
    """ok, not ok or skip of each check, in order."""
    return [("skip " if p.skip else "ok " if p.ok else "not ok ") + p.text for p in result.tap.points]


def events(keys):
    """How many MSR accesses, PMIs and checks a session on a good machine has."""
    result = session(keys, more=["--trace", "msr,pmi"])
    lines = result.err.splitlines()
    return sum(bool(ACCESS.search(line)) for line in lines), sum(PMI in line for line in lines), len(verdicts(result))


def difference(first, second):
    return "\n".join(f"{a}   |   {b}" for a, b in zip(first, second) if a != b) or f"{len(first)} and {len(second)} checks"


def lasting(fault):
    """All experiments, and all of them again."""
    said = verdicts(session("\rrq", fault))
    half = len(said) // 2
    good = half > 0 and said[:half] == said[half:]
    return good, f"{fault or 'a good machine'}: all, twice: both say the same", difference(said[:half], said[half:])


def later(number, base):
    """One experiment, whose second run meets what a first run meets elsewhere. base: accesses of the menu alone."""
    accesses, pmis, checks = events(f"{number}\rq")
    both, pmis_of_both, _ = events(f"{number}\rrq")
    places = accesses - base
    if both - accesses != places:
        return [(False, f"{number}: both runs make as many accesses", f"{places}, {both - accesses}")]
    nth = range(3, places - 2, 5) if WHOLE else [places // 2]
    pairs = [(f"nth-msr={base + i}", f"nth-msr={accesses + i}") for i in nth]
    # Where the runs differ in their number, time decides: such a PMI at the end has no like in the other run.
    like = pmis if pmis_of_both == 2 * pmis else min(pmis, 10)
    for i in range(1, min(like, like if WHOLE else 1) + 1):
        for kind in ("lost", "double") if WHOLE else ("lost",):
            pairs.append((f"pmi={kind}:{i}", f"pmi={kind}:{pmis + i}"))
    results = []
    for here, there in pairs:
        fresh = verdicts(session(f"{number}\rq", here))
        again = verdicts(session(f"{number}\rrq", there))[checks:]
        results.append((fresh and fresh == again, f"{number}: {there} says what {here} said", difference(fresh, again)))
    return results


with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    for good, name, why in pool.map(lasting, [None, *(LASTING if WHOLE else LASTING[::3])]):
        ok(good, name, why)
    start = events("q")[0]
    for results in pool.map(lambda number: later(number, start), ALL if WHOLE else ALL[::8]):
        for good, name, why in results:
            ok(good, name, why)

harness.done()
