"""What Linux 6.1 must say of each profile's processor, from its source, not from a run.

The line "Performance Events: ..." is put together in arch/x86/events/intel/core.c (intel_pmu_init), by family, model
and leaf 0AH; of PEBS in ds.c (intel_ds_init), by PERF_CAPABILITIES 11:8, 6 ('+': trap-like) and 14 (-baseline; from
format 4 on, and 5 is called 4); of last branch records in lbr.c: the depth is the model's, or, where CPUID announces
architectural ones, leaf 1CH's; "XSAVE" stands before them where XSAVES saves them (leaf 0DH). "AnyThread deprecated"
is leaf 0AH's EDX 15, from version 5 on; where it stands, in_order() tells. "full-width counters" is PERF_CAPABILITIES
13; without them a period has 31 bits.

AMD's is put together in arch/x86/events/amd/core.c: "Fam17h+ " by the family, "core perfctr, " where 80000001H announces
the six counters at C001_0200H (amd_core_pmu_init(): 48 bits, six counters, version 2 where 80000022H announces it),
"16-deep LBR, " where 80000022H has it too (amd/lbr.c), and nothing of all that on a K8, which has amd_pmu of four counters
and version 0. The longest period is (1 << 47) - 1 in both. IBS: amd/ibs.c prints 8000001BH's EAX.
"""

import re
from dataclasses import dataclass

# "workaround disabled" is good news: intel_ht_bug() makes some models share counters between threads, and
# fixup_ht_bug() ends that where no core has two.
NO_THREADS = "core: PMU erratum BJ122, BV98, HSD29 workaround disabled, HT off"
NMI_WATCHDOG = "NMI watchdog: Enabled. Permanently consumes one hw-PMU counter."
# intel_clovertown_quirk(): whatever PEBS a model 0FH has.
NO_PEBS = "core: PEBS disabled due to CPU errata"
NO_WATCHDOG = "NMI watchdog: Perf NMI watchdog permanently disabled"
FULL = (1 << 47) - 1  # the longest period of a counter of 48 bits that can be written whole
HALF = (1 << 31) - 1  # of one that is written through 32


@dataclass
class Facts:
    """What dmesg says of a processor."""

    line: str  # behind "Performance Events: "
    version: int = 0
    width: int = 48
    general: int = 0
    period: int = FULL
    fixed: int = 3
    mask: int = 0  # the bits that Linux may set in GLOBAL_CTRL
    also: tuple = ()  # more lines that must be there
    pmu: str = ""  # of hybrid processors, the kind of core: each has its own part of the report


FACTS = {
    # No leaf 0AH: p6_pmu_init(), which does not know model 5EH.
    "none": [Facts("unsupported p6 CPU model 94 no PMU driver, software events only.", also=(NO_WATCHDOG,))],
    # Model 55H is Skylake-X. A hypervisor's guest has no MSRs of branch records (check_msr), no DS.
    "kvm": [Facts("Skylake events, full-width counters, Intel PMU driver.", 2, 48, 4, FULL, 3, 0x7_0000_000F)],
    # Version 1: struct core_pmu, which knows no fixed counters and no GLOBAL_CTRL.
    "merom": [Facts("Core2 events, 4-deep LBR, core PMU driver.", 1, 40, 2, HALF, 0, 0x3, also=(NO_PEBS,))],
    "core2": [Facts("PEBS fmt0+, Core2 events, 4-deep LBR, Intel PMU driver.", 2, 40, 2, HALF, 3, 0x7_0000_0003)],
    "westmere": [
        Facts("PEBS fmt1+, Westmere events, 16-deep LBR, Intel PMU driver.", 3, 48, 4, HALF, 3, 0x7_0000_000F)
    ],
    "sandybridge": [
        Facts("PEBS fmt1+, SandyBridge events, 16-deep LBR, full-width counters, Intel PMU driver.",
              3, 48, 4, FULL, 3, 0x7_0000_000F, also=(NO_THREADS,))
    ],
    "haswell": [
        Facts("PEBS fmt2+, Haswell events, 16-deep LBR, full-width counters, Intel PMU driver.",
              3, 48, 4, FULL, 3, 0x7_0000_000F, also=(NO_THREADS,))
    ],
    "skylake": [
        Facts("PEBS fmt3+, Skylake events, 32-deep LBR, full-width counters, Intel PMU driver.",
              4, 48, 4, FULL, 3, 0x7_0000_000F)
    ],
    "goldmont": [
        Facts("PEBS fmt3+, Goldmont events, 32-deep LBR, full-width counters, Intel PMU driver.",
              4, 48, 4, FULL, 3, 0x7_0000_000F)
    ],
    # Bit 48 of GLOBAL_CTRL: PERF_METRICS.
    "icelake": [
        Facts("PEBS fmt4+-baseline, Icelake events, AnyThread deprecated, 32-deep LBR, full-width counters, "
              "Intel PMU driver.", 5, 48, 8, FULL, 4, 1 << 48 | 0xF_0000_00FF)
    ],
    "sapphirerapids": [
        Facts("XSAVE Architectural LBR, PEBS fmt4+-baseline, Sapphire Rapids events, AnyThread deprecated, 32-deep LBR, "
              "full-width counters, Intel PMU driver.", 5, 48, 8, FULL, 4, 1 << 48 | 0xF_0000_00FF)
    ],
    # No PEBS into Processor Trace (PERF_CAPABILITIES 16), which real ones have: the model has no Processor Trace.
    "gracemont": [
        Facts("XSAVE Architectural LBR, PEBS fmt4+-baseline, Gracemont events, AnyThread deprecated, 32-deep LBR, "
              "full-width counters, Intel PMU driver.", 5, 48, 6, FULL, 3, 0x7_0000_003F)
    ],
    # Leaf 0AH has what both kinds have in common; Linux knows what the P core has more, and says "PEBS-via-PT" of
    # every E core.
    "alderlake": [
        Facts("XSAVE Architectural LBR, PEBS fmt4+-baseline, Alderlake Hybrid events, AnyThread deprecated, 32-deep LBR, "
              "full-width counters, Intel PMU driver.", 5, 48, 8, FULL, 4, 1 << 48 | 0xF_0000_00FF,
              pmu="cpu_core"),
        Facts("", 5, 48, 6, FULL, 3, 0x7_0000_003F, also=("core: cpu_atom PMU driver: PEBS-via-PT",), pmu="cpu_atom"),
    ],
    # Linux 6.1 knows no model C6H and no PEBS format 6, but the architecture's counters, and branch records. Bit 48 is
    # the P core's PERF_CAPABILITIES 15; of a hybrid that it does not know Linux believes the first processor.
    "arrowlake": [
        Facts("XSAVE Architectural LBR, no PEBS fmt6+, generic architected perfmon, AnyThread deprecated, 32-deep LBR, "
              "full-width counters, Intel PMU driver.", 6, 48, 8, FULL, 3, 1 << 48 | 0x7_0000_00FF)
    ],
    "k8": [Facts("AMD PMU driver.", 0, 48, 4, FULL, 0, 0xF, also=(NMI_WATCHDOG,))],
    # CPUID of silicon does not announce its IBS either.
    "zen1": [Facts("Fam17h+ core perfctr, AMD PMU driver.", 0, 48, 6, FULL, 0, 0x3F, also=(NMI_WATCHDOG,))],
    "zen3": [
        Facts("Fam17h+ core perfctr, AMD PMU driver.",
              0, 48, 6, FULL, 0, 0x3F, also=(NMI_WATCHDOG, "perf: AMD IBS detected (0x000003ff)"))
    ],
    "zen4": [
        Facts("Fam17h+ 16-deep LBR, core perfctr, AMD PMU driver.",
              2, 48, 6, FULL, 0, 0x3F, also=(NMI_WATCHDOG, "perf: AMD IBS detected (0x00000bff)"))
    ],
    # Silicon's IBS has filters of latency besides, 8000001BH:EAX[12] and above.
    "zen5": [
        Facts("Fam17h+ 16-deep LBR, core perfctr, AMD PMU driver.",
              2, 48, 6, FULL, 0, 0x3F, also=(NMI_WATCHDOG, "perf: AMD IBS detected (0x00000bff)"))
    ],
}  # fmt: skip


@dataclass
class Tools:
    """What perf can do with a processor."""

    name: str = ""  # /sys/bus/event_source/devices/cpu/caps/pmu_name, which Intel's have
    precise: int = 0  # x86_pmu_max_precise(): 1 for PEBS, 1 with branch records or from format 2, 1 for PREC_DIST
    branches: int = 0  # records of the last branches
    callstack: bool = False  # … also as a stack of calls: intel_pmu_lbr_init_hsw() and later
    latency: bool = False  # mem_attr is set, and PEBS there
    topdown: bool = False  # hsw_events_attrs, which snb_events_attrs resembles, glm_, tnt_ and later: topdown-*
    metrics: bool = False  # slots and the metrics of Top-down, from icl_td_events_attrs on
    tma: bool = False  # perf's own files have metrics TopdownL1 for it; of Alder Lake's, 6.1 opens neither kind's
    bts: bool = True
    watchdog: bool = True  # kvm_guest_init() puts it off in a guest
    ibs: bool = False  # ibs_op and ibs_fetch: 80000001H:ECX[10]
    # Events that count interrupts and exceptions too: of AMD's PPRs "Retired Branch Instructions", of the K8's manual
    # "Retired x86 Instructions" besides.
    taken: tuple = ()
    # Of instructions INST_RETIRED.PREC_DIST alone is precise (SDM vol. 3, the table of Haswell's PEBS events).
    prec_dist: bool = False


TOOLS = {
    "none": None,
    "kvm": Tools("skylake", topdown=True, tma=True, bts=False, watchdog=False),
    "merom": Tools("core2", branches=4),
    "core2": Tools("core2", 2, 4),
    "westmere": Tools("westmere", 2, 16, latency=True),
    "sandybridge": Tools("sandybridge", 2, 16, latency=True, topdown=True, tma=True),
    "haswell": Tools("haswell", 3, 16, True, True, True, tma=True, prec_dist=True),
    "skylake": Tools("skylake", 3, 32, True, True, True, tma=True),
    "goldmont": Tools("goldmont", 3, 32, True, topdown=True),
    "icelake": Tools("icelake", 3, 32, True, True, True, True, tma=True),
    "sapphirerapids": Tools("sapphire_rapids", 3, 32, True, True, True, True, tma=True),
    "gracemont": Tools("gracemont", 3, 32, True, True, True),
    "alderlake": Tools("alderlake_hybrid", 3, 32, True, True, True, True),
    "arrowlake": Tools("generic_arch_v5+", 0, 32, True),
    # No PEBS (a precise event goes to IBS), no BTS, no events of Top-down; branch records with PerfMonV2, no stack of calls.
    "k8": Tools(bts=False, taken=("instructions:u", "branches:u")),
    "zen1": Tools(bts=False, taken=("branches:u",)),
    "zen3": Tools(bts=False, ibs=True, taken=("branches:u",)),
    "zen4": Tools(branches=16, bts=False, ibs=True, taken=("branches:u",)),
    "zen5": Tools(branches=16, bts=False, ibs=True, taken=("branches:u",)),
}


def report_of(facts):
    """The seven lines of x86_pmu_show_pmu_cap()."""
    return [
        f"... version:                {facts.version}",
        f"... bit width:              {facts.width}",
        f"... generic registers:      {facts.general}",
        f"... value mask:             {(1 << facts.width) - 1:016x}",
        f"... max period:             {facts.period:016x}",
        f"... fixed-purpose events:   {facts.fixed}",
        f"... event mask:             {facts.mask:016x}",
    ]


def in_order(line):
    """What Linux says, in the order of its newest versions. Those of before 2026, whose logs are everywhere, print
    " AnyThread deprecated, ", with that space, before they look at the model."""
    return re.sub(r"  AnyThread deprecated, ([^,]*, )", r" \1AnyThread deprecated, ", line)
