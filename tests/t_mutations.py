#!/usr/bin/env python3
"""The tests' assertions assert: one thing of the simulator is broken, and what is about it turns red.

usage: t_mutations.py [WORD ...]     WORD: the mutants with it in their names

The mutants and what each must turn red are the tables of tests/mutants. Those for the experiments must turn
exactly the named ones not ok. Without WORD and ALL=1 in the environment (make mutants) a sample of those runs
and fewer of the others, but each must still have its place in the sources.
"""

import os
import pathlib
import re
import sys
from concurrent.futures import ThreadPoolExecutor

import harness
from harness import BUILD, KERNEL, PMUSIM, equal, ok, run
from mutants import mutants

CHAPTERS = ("14-", "15-", "18-", "22-", "23-", "24-")
# Without the screen a run takes a third of the time. A break may leave an endless interrupt behind: the
# watchdog then ends that experiment, the sooner the better.
CMDLINE = "run=14-*,15-*,18-*,22-*,23-*,24-* console=serial watchdog=500"
SECONDS = 300  # an endless interrupt costs each experiment the watchdog's time
DIFF_SECONDS = 300  # each of many differences is shrunk
GUEST_LIMIT = 5000000  # instructions: a broken machine may hang or print for ever
SEQUENCES = 300000  # of the differential test
WORKERS = min(2, os.cpu_count() or 1)
# In `make test` one of so many: of those for the experiments, and of the others.
SAMPLE_EXPERIMENTS, SAMPLE = 15, 60


def experiments(profile, pmusim=PMUSIM):
    """Runs them; gives the run and the sets (not ok, all) of experiments of the chapters."""
    name, *settings = profile.split(",")
    sets = [word for setting in settings for word in ("--set", setting)]
    result = run(pmusim, "--profile", name, *sets, "--cpus", "2", "--cmdline", CMDLINE, KERNEL, seconds=SECONDS)
    tap = result.tap
    failed = {name for name in tap.experiments() if any(point.failed for point in tap.of(name))}
    return result, failed, {name for name in tap.experiments() if name.startswith(CHAPTERS)}


def passing(tests, program):
    """Of these tests of the model and points of guests, those that pass; program(NAME) is one to run."""
    passed = set()
    if any(": " not in test for test in tests):
        result = run(program("unit_model"), env={"CMOCKA_MESSAGE_OUTPUT": "TAP"})
        passed |= set(re.findall(r"^ok \d+ - (\w+)$", result.out, re.MULTILINE))
    for guest in sorted({test.split(": ")[0] for test in tests if ": " in test}):
        name, _, profile = guest.partition(" on ")
        image = BUILD / "test" / "guests" / f"{name}.elf"
        if guest == "timing":
            result = run("tests/t_timing.py", program("pmusim"))
        else:
            cpus = 2 if guest == "processors" else 1
            machine = ["--profile", profile or "skylake", "--cpus", cpus]
            result = run(program("pmusim"), *machine, "--max-insns", GUEST_LIMIT, image)
        passed |= {f"{guest}: {text}" for text in re.findall(r"^ok \d+ - (.*)$", result.out, re.MULTILINE)}
    return passed & set(tests)


def unbroken(program):
    return {"pmusim": PMUSIM, "unit_model": BUILD / "test" / "unit" / "unit_model"}[program]


def judge(mutant):
    """Runs what must notice it; gives what is wrong, or nothing."""
    if mutant.experiments:
        result, failed, seen = experiments(mutant.profile, mutant.build("pmusim"))
        wanted = set(mutant.experiments)
        if failed == wanted and seen == there and result.status == 1:
            return ""
        return (
            f"not ok: {sorted(failed)}\nnot run: {sorted(there - seen)}\nexit status {result.status}\n"
            + "\n".join(line for line in result.out.splitlines() if line.startswith("not ok"))
        )
    if mutant.tests:
        survived = passing(mutant.tests, mutant.build)
        return f"not noticed by {', '.join(sorted(survived))}" if survived else ""
    result = run(mutant.build("diff"), "--count", SEQUENCES, seconds=DIFF_SECONDS)
    return "" if result.status == 1 and "# differ: " in result.out else f"not noticed\n{result.out[-500:]}"


def attempt(mutant):
    """Judges it; gives the mutant and what is wrong."""
    try:
        why = judge(mutant)
    except mutants.Broken as broken:
        why = str(broken)
    mutant.remove()
    return mutant, why


known = list(mutants.everything().values())
chosen = [m for m in known if any(word in m.name for word in sys.argv[1:])]
if not sys.argv[1:]:
    some = [m for m in known if m.experiments][::SAMPLE_EXPERIMENTS] + [m for m in known if not m.experiments][::SAMPLE]
    chosen = known if os.environ.get("ALL") == "1" else some
if os.uname().machine != "x86_64":
    for m in [m for m in chosen if m.diff]:
        harness.skip(m.name, f"the differential test needs an x86-64 host, this is {os.uname().machine}")
    chosen = [m for m in chosen if not m.diff]
ok(chosen, "there are such mutants", sys.argv[1:])

homeless = []
for m in known:
    try:
        m.sources()
    except mutants.Broken as reason:
        homeless.append(f"{m.name}: {reason}")
ok(not homeless, f"each of {len(known)} mutants finds its lines", "\n".join(homeless))

wrong_name = run(pathlib.Path.cwd() / "tests/mutants/mutants.py", "freeze-nothin")
ok(wrong_name.status == 2 and "freeze-nothing" in wrong_name.err, "an unknown mutant is refused, with names near it", wrong_name)

there = set()
for one in ("westmere", "skylake"):
    whole, bad, some = experiments(one)
    ok(whole.status == 0 and not bad, f"{one} unbroken: nothing is not ok", whole)
    there |= some
named = {test for m in known for test in m.tests}
equal(sorted(named - passing(named, unbroken)), [], "unbroken: every test that a mutant names passes")

with ThreadPoolExecutor(WORKERS) as pool:
    for m, wrong in pool.map(attempt, chosen):
        red = [*m.experiments, *m.tests] or ["the differential test"]
        more = f" on {m.profile}, and no other" if m.experiments else ""
        ok(not wrong, f"{m.name}: red {', '.join(red)}{more}", wrong)

rules = {
    name
    for file in pathlib.Path("tests/model").glob("*.c")
    for name in re.findall(r"\bRULE\((\w+)\)", file.read_text(encoding="utf-8"))
}
equal(sorted(rules - named), [], "a mutant hits every test of tests/model")
equal(sorted(there - {e for m in known for e in m.experiments}), [], "a mutant hits every experiment of chapters 14, 15, 18 and 22 to 24")
harness.done()
