#!/usr/bin/env python3
"""One PMI by the LVT, fixed and as NMI; and the two ways in which counters freeze and thaw.

The experiments assert it themselves. Here the values that they print are looked at as well, so that a check
that always says yes would be found out.
"""

import re

import harness
from harness import PMU_PROFILES, check_clean, equal, ok, sim

LVT_MASK = 1 << 16
LVT_DELIVERY = {"fixed": 0x0E0, "nmi": 0x400}  # SDM vol. 3 "Local Vector Table": vector, delivery mode
VERSION = {"westmere": 3, "skylake": 4, "icelake": 5}


def values(tap, experiment):
    """All the values that an experiment prints, the later ones of a key behind the earlier."""
    found = {}
    for point in tap.of(experiment):
        for key, value in point.yaml.items():
            found.setdefault(key, []).append(value.strip('"'))
    return found


for profile in PMU_PROFILES:
    for mode, lvt in LVT_DELIVERY.items():
        name = f"{profile}, pmi={mode}"
        result = sim(f"run=15-3 pmi={mode}", profile=profile)
        seen = values(check_clean(result, name, ["15-3"]), "15-3")
        equal((seen.get("pmis"), seen.get("unexpected")), (["1"], ["0"]), f"{name}: one PMI")
        equal(seen.get("delivered_as"), ["NMI" if mode == "nmi" else "fixed"], f"{name}: delivered so")
        entry = int(seen.get("lvt_in_handler", ["0"])[0], 16)
        ok(entry & LVT_MASK, f"{name}: the local APIC set the mask bit", hex(entry))
        ok(entry & 0x400 == lvt & 0x400 and (mode == "nmi" or entry & 0xFF == lvt), f"{name}: the LVT entry", hex(entry))
        equal(int(seen.get("lvt_after", ["0x10000"])[0], 16) & LVT_MASK, 0, f"{name}: unmasked after it")
        equal(int(seen.get("status_in_handler", ["0"])[0], 16) & 1, 1, f"{name}: GLOBAL_STATUS[0] in the handler")

    traced = sim("run=15-3", profile=profile, more=["--trace", "pmi"])
    steps = r"PMI overflow IA32_PMC0\n.*PMI PMI to the local APIC\n.*PMI LVT perfmon: fixed, vector E0H; mask set\n"
    ok(traced.status == 0 and re.search(steps, traced.err), f"{profile}: --trace pmi shows the PMI's way", traced)

for profile in PMU_PROFILES:
    for mode in LVT_DELIVERY:
        name = f"{profile}, freeze, pmi={mode}"
        result = sim(f"run=15-4 pmi={mode}", profile=profile)
        seen = values(check_clean(result, name, ["15-4"]), "15-4")
        by_status = VERSION[profile] >= 4
        equal(seen.get("shows_in"), ["the status" if by_status else "the enables"], f"{name}: it shows in")
        thawed = "the reset of the status" if by_status else "the enables"
        equal(seen.get("thawed_by"), [thawed], f"{name}: thawed by")
        first, second = ([int(n) for n in seen.get(key, [])] for key in ("first", "second"))
        ok(len(first) == len(second) == 2, f"{name}: four reads", result)
        ok(second[:1] > first[:1], f"{name}: not frozen, the counter goes on", result)
        ok(second[1:] == first[1:], f"{name}: frozen, it stands", result)
        before, after = ([int(n) for n in seen.get(key, [])] for key in ("before", "after"))
        ok(len(before) == len(after) == 2 and after[0] == before[0], f"{name}: the wrong way does not thaw", result)
        ok(after[1:] > before[1:], f"{name}: the right way thaws", result)

harness.done()
