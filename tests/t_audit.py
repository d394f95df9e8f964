#!/usr/bin/env python3
"""Machines as silicon, firmware and hypervisors are, that the shipped profiles do not show.

Each was wrong once. Profile, --set and --fault words, command line, exit status, what the output must say, and what it
must not.
"""

import harness
from misbehaving import CLEAN, FAILS, see

NO_REGISTERS = "no registers: the records are the basic group, IA32_PERF_CAPABILITIES[14] = 0"
SKYLAKE_X = "cpuid.0x1=0x00050654 0x00010800 0x01a02010 0x000bab7c"
ATOM = "cpuid.0x1=0x000106c{} 0x00010800 0x00002010 0x000bab7c"
ATOM_LBR = ["pmu.lbr_depth=8", "pmu.bts=no"]  # the model takes TR and LBR at the Core 2 addresses for exclusive
SIGNATURE = "cpuid.0x1={} 0x00010800 0x01a02010 0x000bab7c"
EIGHT_MIB = ["cpuid.0x4.3=0x00000163 0x03c0003f 0x00001fff 0", "cache.llc=8388608 16 64 70"]  # for 15-10
NO_AUX = "pmu.latency_needs_aux=no"  # a Golden Cove that the kernel must not take it for
ATOM_EVENT = "event.0xd0.0x05=MEM_UOPS_RETIRED.LOAD_LATENCY load pebs latency counters=0x3"
PEBS = "run=15-5,15-6,15-7,15-8,15-10"
SAMPLED = ["\nok - ex15-5 each record's RIP lies in the run, its registers hold what was loaded there\n",
           "\nok - ex15-5 the counter was reloaded from the debug store after each record\n",
           "\nok - ex15-8 IA32_PMC0 plain, IA32_PMC1 PEBS: the handler tells them apart\n"]  # fmt: skip
SLOW_LOADS = "\nok - ex15-10 with a high threshold loads from memory are sampled, and fast ones are not\n"
V6 = ["pmu.version=6", "pmu.general_more=2", "pmu.events_length=13", "pmu.events_unavailable=0x280",
      "cpuid.0x0=0x23 0x756e6547 0x6c65746e 0x49656e69", "cpuid.0x7.0=1 0x00800309 0 0x00080000",
      "cpuid.0x7.1=0x100 0 0 0", "cpuid.0x23.0=0xb 3 0 0", "cpuid.0x23.1=0x3ff 0xf 0 0", "cpuid.0x23.3=0x1dff 0 0 0"]  # fmt: skip
NO_LBR_STACK = "as in the symbol table # SKIP no LBR stack: "
MACHINES = [
    # PEBS format 4 without PEBS_BASELINE (a KVM guest): IA32_PERFEVTSELx[34] is reserved, the record the basic group.
    ("icelake", ["pmu.capabilities=0xb4c5"], [], "run=15-5,15-6,15-7,15-8,15-10", CLEAN,
     ["room for 8 records of 32 bytes", "PEBS records of 32 bytes, format 4",
      f"ok - ex15-5 each record's RIP lies in the run, its registers hold what was loaded there # SKIP {NO_REGISTERS}",
      "\nok - ex15-5 the counter was reloaded from the debug store after each record\n",
      f"ok - ex15-6 in the upper half: RIP, RSI and all other registers are there in 64 bits # SKIP {NO_REGISTERS}",
      "\nok - ex15-7 the index is at or past the threshold, with the one record written\n",
      "SKIP no load latency: the records are the basic group, IA32_PERF_CAPABILITIES[14] = 0"],
     ["R/EFLAGS", "R/EIP"]),
    ("icelake", ["pmu.capabilities=0xb4c5"], [], "run=23-8,23-9", CLEAN,
     ["\nok - ex23-9 no group: the basic one alone, which names a load of the run # SKIP "
      "neither extended PEBS nor adaptive records: IA32_PERF_CAPABILITIES[14] = 0\n"], []),
    # Format 6: counters in the records.
    ("alderlake", ["pmu.capabilities=0x76ff", "pmu.pebs_format=6"], [], "run=23-8,23-9,23-10", CLEAN,
     ["\nok - ex23-9 counters, with registers: they go on from record to record as the run does\n",
      "\nok - ex23-9 all groups together: each as it is alone, and they agree\n"], ["SKIP"]),
    # Retire latency, as from Meteor Lake and Granite Rapids on.
    *[(profile, [f"pmu.capabilities={bits}"], [], "run=23-13", CLEAN,
       ["\nok - ex23-13 slow loads: the latency is what each takes in the count of cycles\n"], ["SKIP"])
      for profile, bits in (("alderlake", "0x275ff"), ("gracemont", "0x275ff"))],
    # The same bit there, and MSR_PEBS_DATA_CFG not.
    ("icelake", [], ["msr=0x3f2"], "run=15-5,15-6", CLEAN,
     ["SKIP no registers: MSR_PEBS_DATA_CFG[1] (GPR group) cannot be set"], []),
    # Version 4 without PDCM: IA32_DEBUGCTL[12:11] are reserved.
    ("skylake", ["pmu.has_capabilities=no"], [], "run=14-5,15-4,15-9", CLEAN,
     ["ok - ex15-4 without the freeze one PMI arrives # SKIP "
      "no FREEZE_PERFMON_ON_PMI: CPUID.1:ECX[15] (PDCM) = 0\n",
      "LBR_FRZ from 4 on # SKIP no FREEZE_PERFMON_ON_PMI: CPUID.1:ECX[15] (PDCM) = 0\n",
      "\nok - ex15-9 the full BTS buffer is handled\n"], []),
    # Firmware with "limit CPUID maximum": IA32_MISC_ENABLE[22], on every processor.
    ("skylake", ["pmu.misc_enable=0xc50089"], ["cpus=2"], "run=15-1,15-2,18-15", CLEAN,
     ["perfmon v4: ", "\n# note: CPUID was limited to leaf 2 or 3 by IA32_MISC_ENABLE[22]: cleared\n",
      "TSC 3408000 kHz by CPUID 15H", "\nok - ex18-15 both processors count at the same time\n"], ["no PMU", "SKIP"]),
    # The bit stays set: no PMU, and the leaf is named.
    ("skylake", ["pmu.misc_enable=0xc50089"], ["msr-ignore=0x1a0"], "run=15-2", CLEAN,
     ["SKIP no PMU: CPUID maximum leaf is 02H < 0AH"], ["cleared"]),
    # Firmware that counts for itself, by the fixed counters alone; or has taken a counter that stands.
    ("skylake", [], ["firmware=fixed"], "run=15-1,15-2,15-11", CLEAN,
     ["\n# note: the firmware left IA32_FIXED_CTR_CTRL = 0x333 on: it may use the counters\n"],
     ["GLOBAL_INUSE = 0x7", "PERFEVTSEL0 ="]),
    ("core2", [], ["firmware=fixed"], "run=15-1,15-2", CLEAN,
     ["\n# note: the firmware left IA32_FIXED_CTR_CTRL = 0x333 on: it may use the counters\n"], []),
    ("skylake", [], ["firmware=claimed"], "run=15-1,15-2", CLEAN,
     ["\n# note: IA32_PERF_GLOBAL_INUSE = 0x1: the firmware may use the counters\n"], ["the firmware left"]),
    ("skylake", [], ["firmware=dirty"], "run=15-2", CLEAN,
     ["\n# note: the firmware left IA32_FIXED_CTR_CTRL = 0xbbb on: it may use the counters\n"
      "# note: the firmware left IA32_PERFEVTSEL0 = "], ["GLOBAL_INUSE = "]),
    ("skylake", [], [], "run=15-2", CLEAN, [], ["firmware", "note:"]),
    # Core X and Xeon W: the signature of the Xeon Scalable, whose crystal has 25 MHz, and a crystal of 24 MHz. CPUID.16H
    # tells the base frequency; where it is missing, the TSC is measured.
    ("skylake", [SKYLAKE_X], [], "run=15-2", CLEAN, ["model 0x55", "\n# TSC 3400000 kHz by CPUID 16H\n"], ["3550000"]),
    ("skylake", [SKYLAKE_X, "cpuid.0x0=0x15 0x756e6547 0x6c65746e 0x49656e69"], [], "run=15-2", CLEAN,
     ["model 0x55", "\n# TSC 3408"], ["by CPUID"]),
    # A framebuffer where UEFI has it on many integrated GPUs: the experiments must not map over it, for the next scroll
    # would fault, and the report of that too.
    ("skylake", [], ["framebuffer=0x4000000000"], "run=14-6,14-12,15-6", CLEAN,
     ["\nok - ex14-6 above 4 GiB the records have the full addresses\n",
      "\nok - ex14-12 above 4 GiB every record has its 64-bit addresses\n", "\nok - ex15-6 above 4 GiB:",
      "code_at: 0x7f80"], ["panic"]),
    # One that the processor cannot address: no screen, and no panic.
    ("skylake", [], ["framebuffer=0x8000000000"], "run=15-2", CLEAN, ["\nok - ex15-2 "], ["panic"]),
    # The same in the highest 512 GiB, with as many physical address bits.
    ("skylake", ["cpuid.0x80000008=0x3030 0 0 0"], ["framebuffer=0x7f8000000000"], "run=14-6,14-12,15-6", CLEAN,
     ["\nok - ex14-6 above 4 GiB the records have the full addresses\n", "code_at: 0x7f00"], ["panic"]),
    # Leaf 23H names more general counters than leaf 0AH: the P cores of Lunar Lake and Arrow Lake. One that no leaf names
    # answers: the machine contradicts itself.
    ("skylake", ["pmu.general_more=2"], [], "run=15-1,15-2", CLEAN,
     ['leaf_23h: "names 6 general counters, leaf 0AH 4"', "C7H #GP", "18CH #GP"], ["C5H answers"]),
    ("skylake", ["pmu.general_more=2", "pmu.contradictory=yes"], [], "run=15-1", FAILS,
     ["\nnot ok - ex15-1 one past the last general counter raises #GP or is not ours\n", "C5H answers"], ["leaf_23h"]),
    # Nothing names the two counters more of an Alder Lake's P cores: leaf 0AH has what all its cores have.
    ("alderlake", [], [], "run=15-1,22-5", CLEAN,
     ['hybrid: "leaf 0AH names 6 general counters, a P core may have 8"', "C9H #GP", "tried_from: 8\n"], ["SKIP"]),
    # And those of its E cores would be a contradiction: they have what leaf 0AH says.
    ("alderlake", ["processors=e", "e:pmu.general_more=2", "e:pmu.unannounced=yes"], [], "run=15-1,22-5", FAILS,
     ["\nnot ok - ex15-1 one past the last general counter raises #GP or is not ours\n", "C7H answers", "tried_from: 6\n"],
     ["hybrid:"]),
    # Nor the metrics of its P cores: the model tells of them, and not where a hypervisor keeps their registers back, nor of
    # those of an E core.
    ("alderlake", [], [], "run=15-1,22-4,22-8", CLEAN,
     ["fixed counters: 4, 48 bits wide, mask 0xf", "\nok - ex22-8 of each the four shares make the whole\n"],
     ["no performance metrics"]),
    *[("alderlake", settings, refused, "run=15-1,22-4,22-8", CLEAN,
       ["fixed counters: 3, 48 bits wide, mask 0x7", "SKIP no performance metrics: IA32_PERF_CAPABILITIES[15] = 0\n"],
       ["\nok - ex22-8 of each the four shares make the whole\n"])
      for settings, refused in (([], ["msr=0x329"]), ([], ["msr=0x30c"]), (["processors=e"], []),
                                (["processors=e", "e:pmu.metrics=yes", "e:pmu.fixed_more=8", "e:pmu.unannounced=yes"], []))],
    # A P core of version 6: ten counters by addresses of their own, all used; all it refuses is told.
    ("sapphirerapids", V6, [], "run=15-1,15-2,15-3,15-5,15-11,22-*", CLEAN,
     ["fixed counters: 4, 48 bits wide, mask 0xf", "  event 12  E4H/01H  MISC_RETIRED.LBR_INSERTS       available\n",
      "  general_counters: 10\n", "IA32_PMC_GP9_CTR               0x1924 = ", "  there: 0xf000003ff\n",
      "\nok - ex22-9 what a general counter is given by its own address, the old ones read\n",
      "\nok - ex22-9 with EQ, cycles(= k) = cycles(>= k) - cycles(>= k + 1), for each k\n"], ["second unit mask #"]),
    # Its hypervisor refuses them: a note, the old ones, and just this experiment sees that it is wrong.
    ("sapphirerapids", V6, ["msr=0x1900"], "run=15-1,15-2,22-5,22-9", FAILS,
     ["\n# note: the counters' own addresses from 1900H on raise #GP, against CPUID.0AH:EAX[7:0] = 6\n",
      "\nnot ok - ex22-9 what a general counter is given by its own address, the old ones read\n",
      "# SKIP RDMSR of the counters' own addresses raises #GP\n", "\nok - ex15-2 ", "\nok - ex22-5 "],
     ["not ok - ex15-", "not ok - ex22-5"]),
    # The E core of an Arrow Lake alone: fixed counters with a hole in their numbers, and auto counter reload.
    ("arrowlake", ["processors=e"], [], "run=15-1,22-4,22-5,22-9,22-10", CLEAN,
     ["fixed counters: 6, 48 bits wide, mask 0x77\n", "  counters: 0x77000000ff\n", "  no_causes: 0x7400000003\n",
      "\nok - ex22-10 the overflow of each cause gives each of them the value, as ones above bit 31\n  ---\n  pairs: 56\n",
      "  behind_the_last_reload: 352\n  if_each_comes_at_once: 352\n",
      "IA32_PMC_GP2_CFG_C             0x190b = 0x00000000fffffcf7  RELOAD=0xfffffcf7\n"], ["SKIP"]),
    # Leaf 23H names a counter that is not there, and one less than there are.
    ("skylake", ["pmu.general_more=2"], ["counters=5"], "run=22-9", FAILS,
     ["\nnot ok - ex22-9 each counter of sub-leaf 1 has its registers, and can be opened\n  ---\n  named: 0x70000003f\n"
      "  there: 0x70000001f\n", "\nok - ex22-9 no other can\n"], []),
    ("sapphirerapids", [*V6, "pmu.contradictory=yes", "cpuid.0x23.1=0x1ff 0x7 0 0"], [], "run=22-9", FAILS,
     ["  named: 0x7000001ff\n", "\nnot ok - ex22-9 no other can\n  ---\n  there: 0xf000003ff\n"], []),
    # A facility of a counter that is not there, and a sub-leaf that sub-leaf 0 does not name.
    ("sapphirerapids", [*V6, "pmu.contradictory=yes", "cpuid.0x23.0=0xf 3 0 0", "cpuid.0x23.2=0x400 0 4 0"], [],
     "run=22-9", FAILS, ["\nnot ok - ex22-9 those of single facilities name counters of sub-leaf 1 alone\n"], []),
    ("sapphirerapids", [*V6, "cpuid.0x23.9=0 0 0 1"], [], "run=22-9", FAILS,
     ["# CPUID.23H.9: EAX=00000000H EBX=00000000H ECX=00000000H EDX=00000001H",
      "\nnot ok - ex22-9 the sub-leaves that sub-leaf 0 does not name are 0\n"], []),
    # With SGX the status has ASCI.
    ("skylake", ["cpuid.0x7.0=0 0x0080030d 0 0"], [], "run=22-7", CLEAN,
     ["\nok - ex22-7 ASCI can be set and cleared\n  ---\n  set: 0x1000000000000000\n  reset: 0x0\n"], ["SKIP"]),
    # Load latency on counter 3 alone, as perfmon's event lists have it where Linux takes any.
    *[(profile, [f"event.{event} load pebs latency counters=0x8"], [], "run=15-10", CLEAN, ["\nok - ex15-10 "], ["SKIP"])
      for profile, event in [("haswell", "0xcd.0x01=MEM_TRANS_RETIRED.LOAD_LATENCY"),
                             ("westmere", "0x0b.0x10=MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD")]],
    # INT n recorded as an interrupt is, from the return address on; the manual allows either.
    ("skylake", ["pmu.int_from_behind=yes"], [], "run=14-7,14-11", CLEAN,
     ["\nok - ex14-7 no filter, back through an interrupt gate: both rings' branches and the two between them\n",
      'back_to_ring_0: "recorded, FROM behind it"'], []),
    ("sapphirerapids", ["pmu.int_from_behind=yes"], [], "run=14-7", CLEAN, ['"recorded, FROM behind it"'], []),
    # The first Atoms: records that FREEZE_LBRS_ON_PMI does not stop; from stepping 10 on they stand still.
    ("core2", [ATOM.format(2), *ATOM_LBR, "pmu.lbr_freeze_fails=yes"], [], "run=14-1,14-5,23-5", CLEAN,
     ["\nok - ex14-5 without FREEZE_LBRS_ON_PMI the records go on in the PMI handler\n",
      "LBR_FRZ from 4 on # SKIP FREEZE_LBRS_ON_PMI fails on model 0x1c before stepping 10 (CPUID.1:EAX)\n"], []),
    ("core2", [ATOM.format("a"), *ATOM_LBR], [], "run=14-1,14-5,23-5", CLEAN,
     ["\nok - ex14-5 with it they stand still: LBR cleared before version 4, LBR_FRZ from 4 on\n"], []),
    ("core2", [ATOM.format("a"), *ATOM_LBR, "pmu.lbr_freeze_fails=yes"], [], "run=14-5", FAILS,
     ["\nnot ok - ex14-5 with it they stand still: LBR cleared before version 4, LBR_FRZ from 4 on\n"], []),
    # SMIs, far more often than any firmware makes them: FREEZE_WHILE_SMM stays set where it is there, and they enter
    # neither counts nor records. Not with 15-12, which holds the TSC against a counter that stands in SMM.
    *[(profile, [], [f"smi={period}", "cpus=2"], "run=14-*,15-1,15-2,15-3,15-4,15-5,15-6,15-7,15-8,15-9,15-11,15-13,18-15,22-1,22-2,22-3",
       CLEAN, ["\n# SMIs while it ran: "], []) for profile in ("westmere", "skylake") for period in (3000, 20000)],
    ("skylake", [], ["smi=100000"], "run=15-12", FAILS,
     ["# SMIs fell in (MSR_SMI_COUNT): the TSC runs on in them, the counter may stand\nnot ok - ex15-12 busy: "], ["TSC's rate"]),
    ("skylake", [], ["smi=20000"], "run=14-5", CLEAN, ["  debugctl: 0x4801\n", "  debugctl_in_handler: 0x4040\n"], []),
    # The bit is announced, and a hypervisor refuses it.
    ("kvm", ["pmu.capabilities=0x3000"], [], "run=14-8,15-1,15-2,15-11", CLEAN, [" FREEZE_WHILE_SMM FW_WRITE\n"],
     ["0x4000", "SKIP"]),
    # Architectural branch records, from Alder Lake and Sapphire Rapids on, whose model is in no table.
    ("sapphirerapids", [], [], "run=14-1,14-2,14-3,14-4,14-5,14-6,14-7,23-2", CLEAN,
     ["newest first: 4 of 32, format 63 (architectural: IA32_LBR_x_INFO)\n", "  lbr_ctl: 0x7f0006\n",
      "# depth 16: the newest are kept, and none past it\n# depth 32: the newest are kept, and none past it\n",
      "\nok - ex14-5 with it they stand still: LBR cleared before version 4, LBR_FRZ from 4 on\n",
      "  into_ring_3: \"recorded, FROM hidden\"\n"], ["no LBR stack", "no LBR filter", "TOS 1"]),
    ("sapphirerapids", ["cpuid.0x1c=0x40000003 7 7 0", "pmu.lbr_depth=16"], [], "run=14-1,14-2,23-1,23-2,23-3", CLEAN,
     ["newest first: 16 of 16, format 63", "# depth 16: the newest are kept, and none past it\n"], ["depth 32"]),
    # Two counters of eight that log into the records; no call-stack mode.
    ("sapphirerapids", ["cpuid.0x1c=0x4000000b 7 0x00030007 0"], [], "run=23-7", CLEAN,
     ["# IA32_PMC1: as in the listing\n", "  counters: 0x3\n"], ["IA32_PMC2", "SKIP"]),
    ("sapphirerapids", ["cpuid.0x1c=0x4000000b 3 7 0"], [], "run=23-1,23-6", CLEAN,
     ["# SKIP no call-stack mode: CPUID.1CH:EBX[2] = 0\n", "  announced: 0x7f0007\n"], []),
    ("sapphirerapids", ["cpuid.0x1c=0x4000000b 7 3 0"], [], "run=23-1,23-2,23-3", CLEAN,
     ["# SKIP no BR_TYPE in IA32_LBR_x_INFO: CPUID.1CH:ECX[2] = 0\n", "\nok - ex23-3 with no ring nothing is recorded\n"], []),
    # Without the filters, and without the fields of IA32_LBR_x_INFO.
    ("sapphirerapids", ["cpuid.0x1c=0x4000000b 0 0 0"], [], "run=14-1,14-2,14-3,14-5,14-6,23-2,23-3", CLEAN,
     ["newest first: 4 of 32, format 63", "\nok - ex14-1 the recording is off again\n",
      "# SKIP no LBR filter: CPUID.1CH:EBX[1:0] = 0\n"], [" predicted", "mispredicted", " cycle"]),
    # A hypervisor announces them, and refuses a register or drops what is written to it.
    *[("sapphirerapids", [], [fault], "run=14-1,14-7", CLEAN, [NO_LBR_STACK + why], []) for fault, why in (
        ("msr=0x14ce", "IA32_LBR_CTL (14CEH) cannot be set to 0x7f0007\n"),
        ("msr-ignore=0x14ce", "IA32_LBR_CTL (14CEH) cannot be set to 0x7f0007\n"),
        ("msr=0x14cf", "IA32_LBR_DEPTH (14CFH) cannot be set to 32\n"),
        ("msr-ignore=0x14cf", "IA32_LBR_DEPTH (14CFH) does not clear IA32_LBR_0_FROM_IP (1500H)\n"),
        ("msr=0x121f", "MSR 121FH raises #GP, CPUID.7:EDX[19] = 1 announces it\n"),
        ("msr=0x1500", "MSR 1500H raises #GP, CPUID.7:EDX[19] = 1 announces it\n"))],
    # PEBS format 5: Golden Cove, whose load latency is not on IA32_PMC0 and wants 03H/82H beside it, and which has no
    # retire latency.
    ("sapphirerapids", EIGHT_MIB, [], PEBS, CLEAN,
     [*SAMPLED, SLOW_LOADS, "PEBS records of 208 bytes, format 5\n", "  counters: 0xfe\n", "Cache Latency = 0x"],
     ["SKIP", "Retire Latency"]),
    # Granite Rapids: IA32_PERF_CAPABILITIES[17] announces the retire latency.
    ("sapphirerapids", [SIGNATURE.format("0x000a06d1"), "pmu.capabilities=0x2f5ff", NO_AUX, *EIGHT_MIB], [], PEBS, CLEAN,
     [*SAMPLED, SLOW_LOADS, "Retire Latency = 0x"], ["SKIP"]),
    # The small cores: Alder Lake N, and Alder Lake's by CPUID.1AH. Its big ones have the other event.
    *[("sapphirerapids", [*sets, ATOM_EVENT, NO_AUX, *EIGHT_MIB], [], PEBS, CLEAN,
       [*SAMPLED, SLOW_LOADS, "  counters: 0x3f\n", "  counters: 0x3\n"], ["SKIP", "counters: 0xfe"]) for sets in (
        [SIGNATURE.format("0x000b06e0")],
        [SIGNATURE.format("0x00090672"), "cpuid.0x1a=0x20000001 0 0 0"])],
    ("sapphirerapids", [SIGNATURE.format("0x00090672"), "cpuid.0x1a=0x40000001 0 0 0", *EIGHT_MIB], [], PEBS, CLEAN,
     [*SAMPLED, SLOW_LOADS, "  counters: 0xfe\n"], ["SKIP"]),
    # Precise distribution on every counter, of either kind, and on none: the record is of the event that overflows or
    # of the next, and which of the two nothing announces.
    *[("sapphirerapids", [f"pmu.pebs_pdist={counters}", *EIGHT_MIB], [], "run=15-5,15-6,15-7,15-8,15-9,15-10,23-8,23-10",
       CLEAN, [*SAMPLED, SLOW_LOADS, "\nok - ex23-10 "], ["SKIP"]) for counters in ("0xf000000ff", "0")],
    # Format 6.
    ("sapphirerapids", [SIGNATURE.format("0x000b06d1"), "pmu.pebs_format=6", "pmu.capabilities=0x2f6ff"], [],
     "run=15-5,15-6,15-7,15-8", CLEAN, [*SAMPLED, "PEBS records of 208 bytes, format 6\n"], ["SKIP"]),
    # The Atoms before: a precise load, on Goldmont on IA32_PMC0 alone, and no load latency.
    ("skylake", [SIGNATURE.format("0x000506c9")], [], PEBS, CLEAN,
     [*SAMPLED[:2], "  counters: 0x1\n", "PEBS records of 200 bytes, format 3\n",
      "SKIP no load latency: Goldmont has no such event (CPUID.1:EAX)\n"], ["counters: 0xf\n"]),
    ("icelake", [SIGNATURE.format("0x00090661")], [], PEBS, CLEAN,
     [*SAMPLED, "PEBS records of 208 bytes, format 4\n",
      "SKIP no load latency: Tremont has no such event (CPUID.1:EAX)\n"], []),
]  # fmt: skip

see(MACHINES)
harness.done()
