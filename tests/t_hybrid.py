#!/usr/bin/env python3
"""A machine with two kinds of core: each processor is of its own kind, in the same time, and what is wrong is said."""

import pathlib

from harness import ALL, KERNEL, PMUSIM, SCRATCH, check_clean, done, equal, ok, run, sim

PROFILE = "alderlake"


def cpus(number, *sets):
    return ["--cpus", number, *(word for s in sets for word in ("--set", s))]


# The whole, whatever the number and the order of the processors, and of whichever kind the first is.
for number, sets, cmdline in (
    (1, [], ""),
    (2, [], "pmi=nmi"),
    (3, [], ""),
    (4, [], "pmi=nmi"),
    (4, ["processors=e p"], ""),
    (2, ["processors=e"], ""),
):
    name = f"{PROFILE}, {number} processors{''.join(f', {s}' for s in sets)} {cmdline}".rstrip()
    check_clean(sim(cmdline, PROFILE, more=cpus(number, *sets)), name, ALL, skips=True)

# A section is of one kind alone, and so is a word with its name; a word without is of both. An overcount of one
# kind's clock shows whose processor it is: the time of both is the same, within their turns.
two = sim("", PROFILE, more=[*cpus(4), "--stats"])
times = [float(line.split()[3]) for line in two.err.splitlines() if "simulated time" in line]
ok(len(times) == 4 and max(times) < 1 and max(times) - min(times) < 0.1, "the processors' times stay together", times)

# What is refused, and the word of the message.
REFUSED = {
    (PROFILE, "x:pmu.general=4"): "x: no kind of core of alderlake: it has p, e",
    (PROFILE, "e:clock.tsc_hz=1000000000"): "clock.tsc_hz: the machine has one",
    (PROFILE, "e:pmu.genral=4"): "pmu.genral: unknown key; the nearest is pmu.general",
    (PROFILE, "e:pmu.general=4"): "alderlake [e]: pmu.pebs_counters: names a counter past",
    (PROFILE, "processors=p x"): 'processors: "x" is no kind of core here: the profile has p, e',
    (PROFILE, "processors=p p p p p p p p p"): "processors: more than 8",
    ("skylake", "e:pmu.general=4"): "e: skylake has one kind of core",
    ("skylake", "processors=p"): "processors: the profile has one kind of core",
}
for (profile, word), message in REFUSED.items():
    result = run(PMUSIM, "--profile", profile, "--set", word, KERNEL, seconds=10)
    ok(result.status == 2 and message in result.err and not result.out, f"{profile} --set {word}", result)

# The same of a file.
text = pathlib.Path(f"sim/profiles/{PROFILE}.profile").read_text("utf-8")
BROKEN = {
    ("[e]", "[E]"): "a section is [KIND]",
    ("[e]", "[p]"): "p: this section is there twice",
    ("[e]", "[e]\nname = x"): "name: the machine has one",
    ("[e]", "[e]\npmu.skid = 5"): "pmu.skid: given twice",
    ("[e]", "[e]\nevent.0xc0.0x00 = INST_RETIRED.ANY_P insn"): "event.0xc0.0x00: given twice",
    ("[e]", "[e]\ncpuid.0x2 = 0 0 0 0"): "cpuid.0x2: given twice",
    ("[e]", "[e]\npmu.skod = 5"): "pmu.skod: unknown key",
    ("clock.core_hz = 3900000000", ""): "clock.core_hz: missing",
    ("processors = p e", ""): "processors: missing: of which kind is each? The profile has p, e",
}
for (old, new), message in BROKEN.items():
    SCRATCH.mkdir(parents=True, exist_ok=True)
    path = SCRATCH / "broken.profile"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    result = run(PMUSIM, "--profile", path, "--cpus", 2, KERNEL, seconds=10)
    ok(result.status == 2 and message in result.err and not result.out, f"refused: {message}", result)

listed = run(PMUSIM, "--list-profiles").out
equal([line for line in listed.splitlines() if line.startswith(PROFILE) and "P and E cores" in line] != [], True, "--list-profiles says it")

done()
