#!/usr/bin/env python3
"""Last branch records: chapter 14's experiments on every processor that has them, and three witnesses of the same
branches. The kernel prints what the LBR stack and the BTS buffer say of one function (experiment 0-6); the
simulator's own branch trace, which knows nothing of either, must say the same, record by record."""

import re

from harness import check_clean, done, equal, ok, sim

LBR_DEPTH = {"core2": 4, "westmere": 16, "sandybridge": 16, "haswell": 16, "skylake": 32, "icelake": 32, "goldmont": 32}
ARCHITECTURAL = {"sapphirerapids": 32, "alderlake": 32, "gracemont": 32, "arrowlake": 32}
EXPERIMENTS = [f"14-{n}" for n in range(1, 9)]
ADDRESS = r"0x([0-9a-f]{16})"
LBR_LINE = re.compile(rf"^#\s+\d+\s+{ADDRESS} \S+\s+-> {ADDRESS}", re.MULTILINE)
BTS_LINE = re.compile(rf"^#\s+\d+\s+{ADDRESS} -> {ADDRESS}", re.MULTILINE)
TRACE_LINE = re.compile(r"^([0-9a-f]{16}) .*? -> ([0-9a-f]{16})", re.MULTILINE)
LACKS = {
    "core2": re.compile(r"no LBR filter \(MSR_LBR_SELECT\)|TR and LBR exclude each other"),
    **{profile: re.compile("no TOS: the records are architectural") for profile in ARCHITECTURAL},
}

for profile, depth in {**LBR_DEPTH, **ARCHITECTURAL}.items():
    lacks = LACKS.get(profile)
    result = sim(f"run={','.join(EXPERIMENTS)}", profile=profile)
    tap = check_clean(result, profile, EXPERIMENTS, skips=lacks is not None)
    if lacks:
        others = [point.skip for point in tap.skips if not lacks.search(point.skip)]
        ok(tap.skips and not others, f"{profile}: only what it lacks is skipped", others)
    if profile in ARCHITECTURAL:
        equal(len(tap.skips), 2, f"{profile}: nothing else of chapter 14 is skipped")
        moved = sim("run=23-2", profile=profile)
        check_clean(moved, f"{profile}: the architectural stack", ["23-2"])
        for held in (8, 16, depth):
            ok(f"# depth {held}: the newest are kept, and none past it" in moved.out, f"{profile}: depth {held}", moved)
    check_clean(sim("run=14-5 pmi=nmi", profile=profile), f"{profile}, pmi=nmi", ["14-5"], skips=profile == "core2")

    traced = sim(
        "run=0-6 selftest",
        profile=profile,
        more=["--trace", "branch", "--trace-from", "pmu_window_call", "--trace-to", "pmu_window_close"],
    )
    check_clean(traced, f"{profile}, traced", ["0-6"])
    trace = TRACE_LINE.findall(traced.err)
    lbr = LBR_LINE.findall(traced.out)[::-1]
    bts = BTS_LINE.findall(traced.out)
    ok(len(bts) > 4 and len(trace) == 2 * len(bts), f"{profile}: the function runs twice in the trace", traced)
    # The first run is the LBR's, the second the BTS's.
    first, second = trace[: len(bts)], trace[len(bts) :]
    equal(lbr, first[-depth:], f"{profile}: the LBR stack says what the trace says, as far back as it goes")
    equal(bts, second, f"{profile}: the BTS buffer says what the trace says")
    equal(first, second, f"{profile}: both runs take the same branches")

for profile, reason in (
    ("none", "MSR 1C9H raises #GP"),
    ("kvm", "MSR 1C9H raises #GP"),
):
    result = sim("run=14-1", profile=profile)
    skips = [point.skip for point in result.tap.skips]
    ok(skips and all(reason in skip for skip in skips) and result.status == 0, f"{profile}: skipped, saying why", result)

done()
