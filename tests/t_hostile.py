#!/usr/bin/env python3
"""Machines that misbehave (pmusim --fault): nothing panics or hangs, TAP stays valid, and what is wrong is named."""

import re

import harness
from harness import KERNEL, PMUSIM, equal, ok, run

SKYLAKE, WESTMERE = "skylake", "westmere"
CLEAN, FAILS = 0, 1
# Profile, fault, command line, exit status, what the output must name (checks without their numbers); a machine that
# does not fail may have nothing to be named.
MACHINES = [
    # CPUID announces a PMU, but its registers raise #GP.
    (SKYLAKE, "msr=0x38f", "run=14-1,15-*", FAILS, ["WRMSR to 0x38f refused"]),
    (SKYLAKE, "msr=0x186,msr=0xc1", "run=15-*", FAILS, ["MSR 186H raises #GP"]),
    (WESTMERE, "msr=0x38d,msr=0x38e,msr=0x38f,msr=0x390", "run=15-*", FAILS, ["MSR 38DH raises #GP"]),
    (SKYLAKE, "msr=0x38e", "pmi=nmi run=15-*", FAILS, ["RDMSR of 0x38e refused"]),
    # Fewer counters than announced.
    (SKYLAKE, "counters=2", "run=15-1", FAILS, ["MSR 188H raises #GP", "not ok - ex15-1 "]),
    (SKYLAKE, "counters=0", "run=15-*", FAILS, ["MSR 186H raises #GP"]),
    # MISC_ENABLE, PERF_CAPABILITIES, DEBUGCTL.
    (SKYLAKE, "msr=0x1a0", "", CLEAN, ["SKIP no PEBS: IA32_MISC_ENABLE raises #GP"]),
    (SKYLAKE, "msr-ignore=0x1a0", "run=15-*", CLEAN, []),
    (SKYLAKE, "msr=0x345", "run=15-*", CLEAN, ["IA32_PERF_CAPABILITIES (345H) raises #GP"]),
    (SKYLAKE, "msr=0x1d9", "run=15-4", FAILS, ["WRMSR to 0x1d9"]),
    (SKYLAKE, "msr-ignore=0x1d9", "run=15-4", FAILS, ['debugctl_12: "cannot be set"']),
    (SKYLAKE, "msr-ignore=0x1d9", "run=14-1,14-8,14-9,15-5", CLEAN,
     ["SKIP no LBR: IA32_DEBUGCTL[0] cannot", "SKIP no BTF: IA32_DEBUGCTL[1] cannot", "SKIP no BTS: IA32_DEBUGCTL[6] cannot",
      "note: no BTS: IA32_DEBUGCTL[6] cannot be set, against CPUID.1:EDX[21]"]),
    (SKYLAKE, "msr-ignore=0x600", "run=14-9,15-5", FAILS,
     ["not ok - ex14-9 the debug store can be set up", 'ds_setup: "IA32_DS_AREA (600H) cannot be set"']),
    (SKYLAKE, "msr=0x600", "run=14-9", FAILS, ["not ok - ex14-9", 'ds_setup: "IA32_DS_AREA (600H) cannot be set"']),
    (SKYLAKE, "msr-ignore=0x38f", "run=15-*", FAILS, ["not ok - ex15-2 general counter 0 is 0 before the window"]),
    # The local APIC.
    (SKYLAKE, "no-apic", "", CLEAN, ["SKIP no local APIC: CPUID.1:EDX[9] = 0"]),
    (SKYLAKE, "no-x2apic", "run=15-3", CLEAN, []),
    (SKYLAKE, "no-x2apic", "apic=x2apic run=15-3", CLEAN, ["no x2APIC: CPUID.1:ECX[21] = 0"]),
    (SKYLAKE, "msr=0x1b", "run=15-*", CLEAN, ["IA32_APIC_BASE (1BH) raises #GP"]),
    (SKYLAKE, "msr=0x832", "run=15-12", CLEAN, ["cannot be unmasked"]),
    (SKYLAKE, "msr=0x834", "run=15-3", FAILS, ["WRMSR to 0x834"]),
    (SKYLAKE, "msr-ignore=0x80f", "run=15-3", FAILS, ["not ok - ex15-3 exactly one PMI arrives"]),
    # What the firmware left.
    (SKYLAKE, "firmware=dirty", "", CLEAN, []),
    (WESTMERE, "firmware=dirty", "pmi=nmi", CLEAN, []),
    (SKYLAKE, "firmware=x2apic", "apic=xapic", CLEAN, []),
    # Interrupts: lost, doubled, without a cause.
    (SKYLAKE, "pmi=lost", "run=15-3,15-4", FAILS, ["pmis: 0"]),
    (SKYLAKE, "pmi=lost:1", "run=15-3,15-4", FAILS, ["not ok - ex15-3 exactly one", "\nok - ex15-4 without the freeze one PMI"]),
    # 15-4's handler unmasks the entry, so that the second one comes through.
    (SKYLAKE, "pmi=double", "run=15-4", CLEAN, ["2 unexpected PMIs, the first with status 0x0"]),
    (SKYLAKE, "pmi=double", "run=15-4 pmi=nmi", CLEAN, ["2 unexpected PMIs, the first with status 0x0"]),
    (SKYLAKE, "pmi=spurious:3000", "run=15-2,15-3,15-4", FAILS, ["unexpected PMI"]),
    (WESTMERE, "nmi=every:2000", "run=15-1,15-2,15-4", FAILS, ["unexpected NMI", "while the kernel started"]),
    (SKYLAKE, "nmi=every:50001", "pmi=nmi run=15-*", FAILS, ["unexpected NMI", "not ok - ex15-3 exactly one PMI arrives"]),
    (SKYLAKE, "nmi=every:20000,firmware=dirty,pmi=double", "run=15-3,15-4", FAILS, ["unexpected NMI"]),
    # No long mode without IA32_EFER.
    (SKYLAKE, "msr=0xc0000080", "", FAILS, ["IA32_EFER (0xc0000080) raises #GP"]),
]

for profile, fault, words, status, named in MACHINES:
    name = f"{profile} {fault} {words}".strip()
    result = run(
        PMUSIM, "--profile", profile, "--fault", fault, "--max-seconds", 20,
        "--cmdline", f"{words} watchdog=100 console=serial", KERNEL,
    )  # fmt: skip
    ok(result.status == status and not result.tap.errors, f"{name}: valid TAP, exit {status}", f"{result.tap.errors}\n{result}")
    said = re.sub(r"^(ok|not ok) \d+ - ", r"\1 - ", result.out, flags=re.MULTILINE)
    missing = [text for text in named if text not in said]
    if named or status == FAILS:
        ok(named and not missing, f"{name}: it says what is wrong", f"missing: {missing}\n{result}")

# What has no value proves nothing: counters that stand, interrupts that do not come. Fault, command line, and the
# checks that must not be ok: they would hold of 0 and 0, or of nothing that happened.
SELECTS = "msr-ignore=0x186,msr-ignore=0x187,msr-ignore=0x188,msr-ignore=0x189,msr-ignore=0x38d"
NO_VALUE = [
    (
        "msr-ignore=0x309,msr-ignore=0x30a,msr-ignore=0x30b,msr-ignore=0x38d,msr-ignore=0x38f", "run=15-12,15-13",
        [
            "15-12 halted: the reference cycles stand but for the instructions around HLT",
            "15-13 the dependency chain has the higher non-halted CPI",
            "15-13 the dependency chain has the higher nominal CPI",
        ],
    ),
    (
        SELECTS, "run=15-2,15-11,18-15",
        [
            "15-2 RDPMC reads what RDMSR reads",
            "15-11 two counters of instructions agree exactly",
            "18-15 no PMI arrives at processor 0",
            "18-15 general counter 0 of processor 0 did not move",
        ],
    ),
    (SELECTS, "run=15-9 pmi=nmi", ["15-9 causes that meet while interrupts are off come in one interrupt"]),
    ("pmi=lost", "run=15-9 pmi=nmi", ["15-9 causes that meet while interrupts are off come in one interrupt"]),
    ("pmi=lost", "run=18-15", ["18-15 no PMI arrives at processor 0"]),
    (
        "msr-ignore=0x3f1", "run=15-8",  # no PEBS, so no full buffer
        [
            "15-8 IA32_PMC0 plain, IA32_PMC1 PEBS: the handler tells them apart",
            "15-8 IA32_PMC1 plain, IA32_PMC0 PEBS: the handler tells them apart",
        ],
    ),
]  # fmt: skip

for fault, words, checks in NO_VALUE:
    result = run(
        PMUSIM, "--profile", SKYLAKE, "--cpus", 2, "--fault", fault, "--max-seconds", 20,
        "--cmdline", f"{words} watchdog=100 console=serial", KERNEL,
    )  # fmt: skip
    failed = [point.text for point in result.tap.failures]
    for check in checks:
        ok(f"ex{check}" in failed, f"{fault} {words}: no value is not ok: {check}", result)

for word, wanted in [
    ("msr", "number of an MSR"), ("msr=", "number of an MSR"), ("msr=0x", "number of an MSR"),
    ("nth-msr=0", "from 1 on"), ("pmi=late", "lost, double or spurious"), ("pmi=lost:0", "lost, double"),
    ("nmi=every:5", "from 2000 on"), ("nmi=7", "every:N"), ("smi=1999", "N from 2000 on"), ("smi=every:2000", "N from 2000 on"),
    ("smi=2000:0", "I from 1"), ("smi=2000:10:11", "B up to I"), ("smi=2000:1:1:1", "B up to I"), ("smi-spoils=1", "takes no argument"),
    ("counters=9", "from 0 to 8"),
    ("no-apic=1", "takes no argument"), ("firmware=old", "dirty, fixed, claimed or x2apic"), ("smoke", "--fault help"), ("", "--fault help"),
]:  # fmt: skip
    result = run(PMUSIM, "--fault", word, KERNEL)
    ok(result.status == 2 and wanted in result.err and not result.out, f"--fault '{word}': {wanted}", result)
listed = run(PMUSIM, "--fault", "help")
equal((listed.status, listed.out.count("\n") >= 12), (0, True), "--fault help lists the words")
first, second = (run(PMUSIM, "--fault", "nmi=every:7001", "--cmdline", "run=15-3", KERNEL).out for _ in range(2))
equal(first, second, "a machine that misbehaves does it the same way each time")
harness.done()
