#!/usr/bin/env python3
"""The debug store: branch traces in memory (14-9 to 14-13) and precise samples (15-5 to 15-10) on every processor
that has them, with the PMI as a fixed interrupt and as NMI, and what the others say that they lack."""

import re

from harness import check_clean, done, ok, sim

BTS = ["14-9", "14-10", "14-11", "14-12", "14-13"]
PEBS = ["15-5", "15-6", "15-7", "15-8", "15-9", "15-10"]
ALL = f"run={','.join(BTS + PEBS)}"
WHOLE = ["westmere", "sandybridge", "haswell", "skylake", "icelake"]
LACKS = {
    "core2": re.compile(r"no load latency: PEBS record format 0 |IA32_PMC1 cannot sample: IA32_PEBS_ENABLE\[1\]"),
    "goldmont": re.compile(r"no load latency: Goldmont has no such event|IA32_PMC1 cannot sample: IA32_PEBS_ENABLE\[1\]"),
}
RECORD = {"core2": 144, "westmere": 176, "sandybridge": 176, "haswell": 192, "skylake": 200, "icelake": 208,
          "sapphirerapids": 208, "alderlake": 208, "goldmont": 200, "gracemont": 208, "arrowlake": 208}  # fmt: skip

for profile, size in RECORD.items():
    lacks = LACKS.get(profile)
    result = sim(ALL, profile=profile)
    tap = check_clean(result, profile, BTS + PEBS, skips=lacks is not None)
    if lacks:
        others = [point.skip for point in tap.skips if not lacks.search(point.skip)]
        ok(len(tap.skips) == 3 + 7 and not others, f"{profile}: only load latency, and PEBS on IA32_PMC1, are skipped", others)
    ok(f"PEBS records of {size} bytes" in result.out, f"{profile}: records of {size} bytes", result)
    if profile == "sapphirerapids":
        # Golden Cove: 03H/82H counts beside the load latency event, on IA32_PMC0, and the window opens both.
        slow = sim("run=15-10", profile=profile, more=["--trace", "msr"])
        writes = re.findall(r"WRMSR (IA32_PERFEVTSEL[0-7]|IA32_PERF_GLOBAL_CTRL) \(\w+\) <- (\w+)H", slow.err)
        ok(("IA32_PERFEVTSEL0", "438203") in writes and ("IA32_PERF_GLOBAL_CTRL", "81") in writes,
           f"{profile}: the auxiliary event counts with the load latency event", set(writes))  # fmt: skip
    check_clean(sim("run=14-10,14-13,15-7,15-8,15-9 pmi=nmi", profile=profile), f"{profile}, pmi=nmi", skips=lacks is not None)

for profile, bts, pebs in (
    ("none", "CPUID.0AH:EAX[7:0] = 0", "CPUID.0AH:EAX[7:0] = 0"),
    ("kvm", "CPUID.1:EDX[21] = 0", "CPUID.1:EDX[21] = 0"),
):
    result = sim(ALL, profile=profile)
    ok(result.status == 0 and not result.tap.failures, f"{profile}: nothing is not ok", result)
    for experiments, reason in ((BTS, bts), (PEBS, pebs)):
        skips = [point.skip or "" for experiment in experiments for point in result.tap.of(experiment)]
        good = all(reason in skip for skip in skips) if reason else not any(skips)
        ok(skips and good, f"{profile}: {experiments[0]} and on say {reason or 'nothing is missing'}", skips)

done()
