#!/usr/bin/env python3
"""Every experiment holds in the simulator, on each processor with a PMU, and prove can read the run."""

import harness
from harness import ALL, PMU_PROFILES, SCRATCH, check_clean, equal, ok, run, sim

TWO = ["--cpus", 2]

NO_STATUS_SET = "no IA32_PERF_GLOBAL_STATUS_SET: CPUID.0AH:EAX[7:0] < 4"
NO_FULL_WIDTH = "no full-width writes: IA32_PERF_CAPABILITIES[13] = 0"
NO_ASCI = "no SGX, so no ASCI: CPUID.7:EBX[2] = 0"
NO_ARCH_LBR = "no architectural branch records: CPUID.7:EDX[19] = 0"
NO_BASELINE = "neither extended PEBS nor adaptive records: IA32_PERF_CAPABILITIES[14] = 0"

# What a generation lacks it skips, and nothing else.
LACKS = {
    "westmere": {NO_FULL_WIDTH, NO_STATUS_SET, NO_ARCH_LBR, NO_BASELINE},
    "sandybridge": {NO_STATUS_SET, NO_ARCH_LBR, NO_BASELINE},
    "haswell": {NO_STATUS_SET, NO_ARCH_LBR, NO_BASELINE},
    "skylake": {NO_ASCI, NO_ARCH_LBR, NO_BASELINE},
    "icelake": {NO_ASCI, NO_ARCH_LBR},
}


def check_profile(profile):
    """All experiments on it; gives the run."""
    result = sim(profile=profile, more=TWO)
    tap = check_clean(result, profile, ALL, skips=True)
    if profile in LACKS:
        equal({point.skip for point in tap.skips}, LACKS[profile], f"{profile}: skipped is what it lacks, and nothing else")
    return result


for profile in ("core2", "sandybridge", "haswell", "goldmont", "sapphirerapids", "alderlake"):
    check_profile(profile)

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
