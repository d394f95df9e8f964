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

# 22-13: what differs stands side by side; what one kind lacks is no other's fault, and named.
ONE = {
    ((), 2): ["#   kind                     P core (1AH: 40000001H)     E core (1AH: 20000001H)\n#   processors               0           ",
              "#   branch records           32, effective addresses     32, linear addresses\n",
              "#   load latency event       CDH/01H on counters 3EH     D0H/05H on counters 3H\n"],
    (("processors=e p",), 4): ["#   processors               0, 2                        1, 3\n", "E core (1AH: 20000001H)     P core"],
    (("e:pmu.general=4", "e:pmu.pebs_counters=0xf"), 2): ["general counters         6 x 48 bits                 4 x 48 bits\n"],
    (("e:pmu.lbr_depth=0",), 2): ["branch records           32, effective addresses     none\n"],
    (("p:pmu.lbr_depth=0",), 2): ["branch records           none                        32, linear addresses\n"],
    (("e:pmu.fixed=2", "e:pmu.fixed_bitmap=3"), 2): [
        "reference cycles, each in its unit # SKIP processor 1: no fixed counter 2: CPUID.0AH:ECX[2] = 0 and EDX[4:0] = 2\n"],
    (("e:pmu.version=0", "e:pmu.pebs_counters=0"), 2): ["before the window # SKIP processor 1: no architectural PMU: CPUID.0AH:EAX[7:0] = 0\n"],
    (("processors=e",), 2): ["what kind of core it is # SKIP one kind of core runs: CPUID.1AH:EAX = 20000001H on all\n"],
    ((), 1): ["# SKIP one processor in the MADT\n"],
}
for (sets, number), lines in ONE.items():
    result = sim("run=22-13", PROFILE, more=cpus(number, *sets))
    missing = [line for line in lines if line not in result.out]
    ok(not result.tap.failures and not missing, f"22-13 with {number} processors and {', '.join(sets)}", f"{missing}\n{result}")

# Two that call themselves the same kind and are not.
three = text.replace("processors = p e", "processors = p e x") + text[text.index("[e]") :].replace("[e]", "[x]").replace(
    "0xc000000b 7 7", "0x4000000b 7 7")
path = SCRATCH / "three.profile"
path.write_text(three, encoding="utf-8")
result = run(PMUSIM, "--profile", path, "--cpus", 4, "--cmdline", "run=22-13", KERNEL)
equal([f"{p.text}" for p in result.tap.failures], ["ex22-13 processors of one kind have the same PMU"], "and only that is not ok")
ok('  processor_2: "not as processor 1"\n' in result.out, "which processor is not", result)

listed = run(PMUSIM, "--list-profiles").out
equal([line for line in listed.splitlines() if line.startswith(PROFILE) and "P and E cores" in line] != [], True, "--list-profiles says it")

done()
