#!/usr/bin/env python3
"""Every experiment holds in the simulator, on each processor with a PMU, and prove can read the run."""

import pathlib

import harness
import lacks
from harness import ALL, PMU_PROFILES, SCRATCH, check_clean, equal, ok, run, sim

TWO = ["--cpus", 2]

NO_ASCI = "no SGX, so no ASCI: CPUID.7:EBX[2] = 0"
NO_TOS = "no TOS: the records are architectural (CPUID.7:EDX[19] = 1)"
NO_VERSION_6 = {
    "no leaf 23H: CPUID.7.1:EAX[8] = 0",
    "no addresses of the counters' own: CPUID.0AH:EAX[7:0] < 6",
    "no auto counter reload: no leaf 23H: CPUID.7.1:EAX[8] = 0",
}
NO_METRICS_CLEAR = "no METRICS_CLEAR_EN: IA32_PERF_CAPABILITIES[19] = 0"
NO_RELOAD = "no auto counter reload: CPUID.23H.0:EAX[2] = 0"
NO_HYBRID = "one kind of core: CPUID.7:EDX[15] = 0"
NO_RETIRE_LATENCY = "no retire latency: IA32_PERF_CAPABILITIES[17] = 0"
NO_LOG = "no events in branch records: CPUID.1CH:ECX[19:16] = 0"
NO_MASKED = "no event of masked interrupts is known but of Goldmont and Goldmont Plus (CPUID.1:EAX)"
NO_COUNTERS = "no counters in records: PEBS record format 5 (IA32_PERF_CAPABILITIES[11:8])"

NOT_AMD = {
    "no PMU of AMD's: the vendor in CPUID.0 is GenuineIntel",
    "no single branch record: MSR 1DBH raises #GP",
    "no IBS: CPUID.80000001H:ECX[10] = 0",
}
# What AMD's newest have not: what is Intel's alone, and a hypervisor's extension.
NOT_INTEL = {
    "no fixed counters: AMD's processors have none (CPUID.0AH:EAX[7:0] = 0)",
    "no PEBS: AMD's processors have none (CPUID.1:EDX[21] (DS) = 0)",
    "no BTS: AMD's processors have none (CPUID.1:EDX[21] (DS) = 0)",
    "IA32_DEBUGCTL[6] (TR) cannot be set",
    "no IA32_PERF_GLOBAL_INUSE: CPUID.0AH:EAX[7:0] < 4",
    "no SYSENTER in 64-bit mode on this vendor's processors",
    "no TOS: entry 0 is always the newest (CPUID.80000022H:EAX[1] = 1)",
    "no architectural branch records: CPUID.7:EDX[19] = 0",
    "no call-stack mode: LbrSelect (C000010EH) has no such bit",
    "the counters have one address, which takes their whole width",
    "no SVM, so no guests: CPUID.80000001H:ECX[2] = 0",
    *NO_VERSION_6,
    NO_ASCI,
    NO_MASKED,
    NO_HYBRID,
}
NO_FREEZE = "no freeze on a PMI (FPMCI): CPUID.80000022H:EAX[2] = 0"

# What today's processors skip, and nothing else; that each reason of any profile is so, tests/lacks.py looks up.
LACKS = {
    "sapphirerapids": {*NOT_AMD, NO_TOS, NO_MASKED, NO_HYBRID, NO_COUNTERS, NO_RETIRE_LATENCY, NO_LOG, *NO_VERSION_6, NO_METRICS_CLEAR},
    "alderlake": {*NOT_AMD, NO_ASCI, NO_TOS, NO_MASKED, NO_COUNTERS, NO_RETIRE_LATENCY, NO_LOG, *NO_VERSION_6, NO_METRICS_CLEAR},
    "arrowlake": {*NOT_AMD, NO_ASCI, NO_TOS, NO_MASKED},
    "zen4": {*NOT_INTEL, NO_FREEZE},
    "zen5": NOT_INTEL,
}


def check_profile(profile):
    """All experiments on it; gives the run."""
    result = sim(profile=profile, more=TWO)
    tap = check_clean(result, profile, ALL, skips=True)
    reasons = {point.skip for point in tap.skips}
    untrue = [f"{reason}: {why}" for reason in sorted(reasons) if (why := lacks.untrue(reason, profile))]
    ok(not untrue, f"{profile}: what is skipped it lacks", "\n".join(untrue))
    if profile in LACKS:
        equal(reasons, LACKS[profile], f"{profile}: skipped is what it lacks, and nothing else")
    return result


for reason in (NO_ASCI.replace("= 0", "= 1"), NO_TOS, "no reason", "fewer than 3 general counters: CPUID.0AH:EAX[15:8] = 2"):
    ok(lacks.untrue(reason, "skylake"), f"skylake: '{reason}' would be seen to be untrue")

for path in sorted(pathlib.Path("sim/profiles").glob("*.profile")):
    if path.stem not in PMU_PROFILES:
        check_profile(path.stem)

# The efficient cores of that processor have what its performance cores lack: 22-10 runs on one, or not at all.
efficient = sim(profile="arrowlake", more=[*TWO, "--set", "processors=e p"])
check_clean(efficient, "arrowlake, an efficient core first", ALL, skips=True)
ok("; on processor 1" not in efficient.out, "arrowlake, an efficient core first: 22-10 runs where it is", efficient)
elsewhere = sim("run=22-10", profile="arrowlake", more=TWO)
ok(f"# processor 0: {NO_RELOAD}; on processor 1\n" in elsewhere.out, "arrowlake: 22-10 runs on the efficient core", elsewhere)
for more in ([], [*TWO, "--set", "processors=p"]):
    lone = sim("run=22-10", profile="arrowlake", more=more)
    equal({point.skip for point in lone.tap.skips}, {NO_RELOAD}, f"arrowlake, performance cores alone {more}: 22-10 is skipped")

for profile in PMU_PROFILES:
    result = check_profile(profile)
    header = next((line for line in result.tap.comments if line.startswith("# PMU Lab ")), "")
    ok("perfmon v" in header and "pmi vector 0xe0" in header, f"{profile}: the header", header)

    saved = SCRATCH / f"{profile}.tap"
    saved.write_text(result.out, encoding="utf-8")
    proved = run("prove", saved)
    ok(proved.status == 0 and "Result: PASS" in proved.out, f"{profile}: prove reads it", proved)

    again = sim(profile=profile, more=TWO)
    equal(again.out, result.out, f"{profile}: a second run is the same to the byte")

versions = {"westmere": "v3", "skylake": "v4", "icelake": "v5"}
for profile, version in versions.items():
    header = (SCRATCH / f"{profile}.tap").read_text(encoding="utf-8")
    ok(f"perfmon {version}" in header, f"{profile} has perfmon {version}", header[:300])

harness.done()
