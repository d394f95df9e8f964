#!/usr/bin/env python3
"""Errata: machines that have them. What is wrong stays `not ok`, and the erratum that explains it is named beside it.

Each machine without its erratum (a newer microcode, a later stepping, the work-around) has to be clean. The page of the
errata and the names of experiments in their table are held to what there is.
"""

import pathlib
import re
import shutil

import harness
from harness import ALL, BUILD, KERNEL, PMUSIM, ok, run, skip

CLEAN, FAILS = 0, 1
PEBS = "run=15-5,15-6,15-7,15-8,15-9,15-10"
NEEDS_RESET = "pmu.counters_need_reset=yes"
OLD_PEBS = "pmu.pebs_fixed_from=0x28"
LATE_PMI = "pmu.pebs_pmi_late=yes"
OLD_FREEZE = "pmu.freeze_fixed_from=0x2e"
SANDY_GUEST = "cpuid.0x1=0x000206a7 0x00010800 0x81a02010 0x000bab7c"
PENRYN_AS_MEROM = "cpuid.0x1=0x000006fb 0x00010800 0x00002010 0x000bab7c"
SANDY_PEBS = "known erratum pebs_ucodes (model 0x2a stepping 7, microcode before 0x28, "
MACHINES = [
    # Nehalem and Westmere: counters that must be reset by a sequence, on each processor.
    ("westmere", [NEEDS_RESET], ["cpus=2"], "run=all", CLEAN,
     ["\nok - ex18-15 both processors count at the same time\n", "\n# errata: AAK100, AAP53, BD53\n"],
     ["not ok", "erratum"]),
    # The same silicon under a model number that is not on the list: this is what it looks like.
    ("westmere", [NEEDS_RESET, "cpuid.0x1=0x00020695 0x00010800 0x00802010 0x000bab7c"], [], "run=15-2,15-11", FAILS,
     ["\nnot ok - ex15-11 "], ["erratum"]),
    # Sandy Bridge: PEBS by the revision of the microcode, that of a loaded update or none.
    ("sandybridge", [OLD_PEBS, "microcode=0x27"], [], PEBS, FAILS,
     ["\nnot ok - ex15-5 ", f"\n# ex15-5: {SANDY_PEBS}here 0x27): PEBS is broken, Linux does not use it\n",
      f"\n# ex15-9: {SANDY_PEBS}here 0x27)"], []),
    ("sandybridge", [OLD_PEBS, "microcode=0"], [], "run=15-5", FAILS, [f"\n# ex15-5: {SANDY_PEBS}here 0x0)"], []),
    ("sandybridge", [OLD_PEBS, "microcode=0x28"], [], PEBS, CLEAN,
     ["\nok - ex15-5 ", "\n# errata: BJ122, BV98, HSD29\n"], ["erratum"]),
    ("skylake", [], [], "run=15-2", CLEAN, ["\n# microcode 0xdc, "], ["errat"]),
    # An old revision, and all is well none the less: an erratum is named beside what it explains, and nowhere else.
    ("sandybridge", ["microcode=0x27"], [], PEBS, CLEAN, ["\nok - ex15-5 "], ["erratum", "not ok"]),
    # Broken in another way, and new: the reason is not this one.
    ("sandybridge", ["pmu.pebs_fixed_from=0x30"], [], "run=15-5", FAILS, ["\nnot ok - ex15-5 "], ["erratum"]),
    # A guest's revision is the hypervisor's word; one that cannot be read is none.
    ("sandybridge", ["pmu.pebs_fixed_from=0x30", SANDY_GUEST], [], "run=15-5", FAILS,
     [f"\n# ex15-5: {SANDY_PEBS}which a guest cannot know)", "\n# errata: pebs_ucodes?; BJ122, BV98, HSD29\n"], []),
    ("sandybridge", [OLD_PEBS, "microcode=0x27"], ["msr=0x8b"], "run=15-5", FAILS,
     [f"\n# ex15-5: {SANDY_PEBS}of an unknown revision here)"], ["panic"]),
    # Core 2 of 65 nm: the PMI of a full PEBS buffer comes one event late.
    ("core2", [LATE_PMI, PENRYN_AS_MEROM], [], "run=15-7", FAILS,
     ["\nnot ok - ex15-7 one PMI arrives\n", "\n# ex15-7: known erratum AJ67, AJ68, AJ69, AJ106 (model 0x0f): PEBS is"], []),
    ("core2", [LATE_PMI], [], "run=15-7", FAILS, ["\nnot ok - ex15-7 one PMI arrives\n"], ["erratum"]),
    ("core2", [PENRYN_AS_MEROM], [], PEBS, CLEAN, ["\nok - ex15-7 one PMI arrives\n"], ["erratum"]),
    # A sampling counter's own overflow bit beside OvfBuf: 15-7 says so, and 15-8 tells the two causes apart all the same.
    ("haswell", ["pmu.pebs_keeps_bit=yes"], [], "run=15-5,15-6,15-7,15-8,15-9,15-10", FAILS,
     ["\nnot ok - ex15-7 the sampling counter's own overflow bit is clear\n",
      "\n# ex15-7: known erratum handle_pmi_common (model 0x3c): the overflow bit of a counter",
      "with_the_sampling_counters_bit: 1\n"], ["not ok - ex15-8"]),
    ("haswell", [], [], "run=15-7,15-8", CLEAN, ["with_the_sampling_counters_bit: 0\n"], ["erratum"]),
    # Goldmont: the freeze by the revision of the microcode, its status bit without its effect.
    ("goldmont", [OLD_FREEZE, "microcode=0x2d"], [], "run=15-3,15-4", FAILS,
     ["\nnot ok - ex15-4 with the freeze both reads in the handler are equal\n",
      "\n# ex15-4: known erratum counter_freezing_ucodes (model 0x5c stepping 9, microcode before 0x2e, here 0x2d): "
      "FREEZE_PERFMON_ON_PMI is broken\n"], ["# ex15-3: known"]),
    ("goldmont", [OLD_FREEZE, "microcode=0x2e"], [], "run=15-4", CLEAN,
     ["\nok - ex15-4 with the freeze both reads in the handler are equal\n"], ["erratum"]),
]  # fmt: skip

for profile, sets, faults, words, status, said, unsaid in MACHINES:
    name = " ".join([profile, *sets, *faults, words])
    options = [word for s in sets for word in ("--set", s)] + [
        word for f in faults for word in (("--cpus", f[5:]) if f.startswith("cpus=") else ("--fault", f))
    ]
    result = run(PMUSIM, "--profile", profile, *options, "--max-seconds", 60, "--cmdline", f"{words} watchdog=100", KERNEL)
    ok(result.status == status and not result.tap.errors, f"{name}: valid TAP, exit {status}", f"{result.tap.errors}\n{result}")
    out = re.sub(r"^(ok|not ok) \d+ - ", r"\1 - ", result.out, flags=re.MULTILINE)
    missing = [text for text in said if text not in out]
    wrong = [text for text in unsaid if text in out]
    ok(not missing and not wrong, f"{name}: it says so", f"missing: {missing}, wrong: {wrong}\n{result}")

# AAP53: each of three values in a select, each counter on with one of them, before a window opens; on each processor.
WRITE = re.compile(r"(cpu\d) \w+ (\w+)\+\w+ +WRMSR IA32_PERF(?:EVTSEL(\d)|_GLOBAL_CTRL) \(\w+\) <- ([0-9A-F]+)H")
VALUES = {0x4300B5, 0x4300D2, 0x4300B1}
traced = run(PMUSIM, "--profile", "westmere", "--cpus", 2, "--trace", "msr", "--cmdline", "run=18-15", KERNEL)
selects, values, counters, opened = {}, {}, {}, {}
for cpu, function, select, value in WRITE.findall(traced.err):
    if select:
        selects[cpu, int(select)] = int(value, 16)
        values.setdefault(cpu, set()).update({int(value, 16)} & VALUES)
    elif function == "pmu_window_open":
        opened.setdefault(cpu, (values[cpu] == VALUES, counters[cpu] == set(range(4))))
    else:
        on = {n for n in range(4) if int(value, 16) >> n & 1 and selects.get((cpu, n)) in VALUES}
        counters.setdefault(cpu, set()).update(on)
ok(opened == {"cpu0": (True, True), "cpu1": (True, True)}, "all four counters of both processors are reset in time", opened)

# The revision, as somebody else plays it: Intel has it in the upper half of 8BH, AMD in the lower.
for vendor, register in (("GenuineIntel", 0x2500000000), ("AuthenticAMD", 0x25)):
    said = f"{vendor} in QEMU: microcode 0x25"
    if shutil.which("qemu-system-x86_64"):
        cpu = f"cpu=max,vendor={vendor},ucode-rev={register:#x}"
        booted = run("scripts/qemu", KERNEL, "medium=kernel", cpu, "append=run=15-2", "seconds=60", seconds=100)
        ok(booted.status == CLEAN and "\n# microcode 0x25, " in booted.out, said, booted)
    else:
        skip(said, "qemu-system-x86_64 is not installed")

page = run("scripts/errata", "--check")
ok(page.status == 0, "docs/real-hardware.md has the table of pmu/errata.c", page)
table = run(BUILD / "test/errata").out
shown = re.findall(r"^(?:\|[^|]*){3}\|([^|]*)", table, re.MULTILINE)[2:]
named = {word.replace("\\", "").strip() for cell in shown for word in cell.split(",")} - {"no experiment"}
unknown = [n for n in named if not any(re.fullmatch(re.escape(n).replace(r"\*", ".*"), e) for e in ALL)]
ok(named and not unknown, "the experiments that errata show in exist", f"{named} {unknown}")
sheets = {path.stem[2:].replace("_", "-") for path in pathlib.Path("experiments").glob("*/ex*.c") if "NEED_PEBS" in path.read_text()}
pebs = next(cell for cell in table.splitlines() if cell.startswith("| pebs_ucodes"))
ok(sheets and all(f" {sheet}" in pebs for sheet in sheets), "an erratum of PEBS shows in every experiment that needs it", sheets)

harness.done()
