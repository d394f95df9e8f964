#!/usr/bin/env python3
"""Every experiment holds in the simulator, on each processor with a PMU, and prove can read the run."""

import harness
from harness import ALL, PMU_PROFILES, SCRATCH, check_clean, equal, ok, run, sim

TWO = ["--cpus", 2]

# What a generation lacks it skips.
for profile, skips in {"core2": True, "sandybridge": False, "haswell": False, "goldmont": True, "sapphirerapids": True, "alderlake": True}.items():
    check_clean(sim(profile=profile, more=TWO), profile, ALL, skips=skips)

for profile in PMU_PROFILES:
    result = sim(profile=profile, more=TWO)
    tap = check_clean(result, profile, ALL)
    header = next((line for line in tap.comments if line.startswith("# PMU Lab ")), "")
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
