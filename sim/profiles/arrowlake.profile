# Core Ultra 9 285K, Arrow Lake, a hybrid processor: performance cores (Lion Cove) and efficient ones
# (Skymont), perfmon version 6
#
# Leaf 0AH tells what both kinds of its cores have, 8 x 48-bit general counters and 3 fixed ones; leaf
# 23H what each kind has, UMASK2 and EQ both: a performance core 10 general counters, a fourth fixed
# one for the slots and PERF_METRICS with both levels, which RDPMC may clear; an efficient core 8, the
# fixed counters 4 to 6 for what the slots went to, and auto counter reload. Architectural last branch
# records up to 32, which log events; PEBS format 6 with retire latencies. Family 6, model C6H,
# stepping 2. The processors are a performance core and an efficient one in turn, as many as there
# are: the silicon has eight of the former and sixteen of the latter.
# Sources: SDM vol. 3 "Architectural Performance Monitoring Version 6", "Last Branch Records",
# "Performance Metrics"; vol. 4, IA32_PMC_GPn_CTR and its neighbours; Intel's perfmon event lists for
# Arrow Lake's Lion Cove and Skymont, V1.20 (codes, UMASK2, counters, what is precise); Linux
# arch/x86/events/intel/{core,ds,lbr}.c (the data sources of load latency, auto counter reload); CPUID
# leaves 0AH, 1AH, 1CH and 23H from the dumps of the InstLatx64 collection, the signature C0662H and
# the revision 114H of the microcode from reports of machines, 15H, 16H, the caches and all latencies
# from memory, the others composed.
#
# IA32_PERF_CAPABILITIES (AF6FFH and 276FFH) is composed from what the sources say of its parts; no
# reading from a machine was found. The first cache of the performance core (48 KiB, 4 cycles) has a
# second one of 192 KiB between it and the L2, which is left out here. The last level cache is rounded
# to a power of two.
#
# Of the processor's features only those are announced that the simulator executes:
# docs/simulator.md, "What the processors announce", lists what the silicon has besides. DS, DTES64,
# PDCM and leaf 0AH follow from the pmu fields. The APIC IDs in leaves 1 and 0BH are filled in for
# each processor.

name = arrowlake
description = Core Ultra 9 285K, Arrow Lake, P and E cores in turn: perfmon version 6
processors = p e # in turn, for any number
microcode = 0x114

cpuid.0x0 = 0x00000023 0x756e6547 0x6c65746e 0x49656e69
cpuid.0x1 = 0x000c0662 0x00010800 0x15fa2213 0x0f8bfbfd
cpuid.0x2 = 0x00feff01 0x000000f0 0 0
cpuid.0x4.3 = 0x00000163 0x03c0003f 0x00007fff 0x00000000
cpuid.0x4.4 = 0 0 0 0
cpuid.0x6 = 0x00000004 0 1 0
# EDX[15]: hybrid.
cpuid.0x7.0 = 1 0x009827eb 4 0x00088000
# EAX[8]: leaf 23H.
cpuid.0x7.1 = 0x00000100 0 0 0
cpuid.0xb.0 = 0 1 0x00000100 0
cpuid.0xb.1 = 4 8 0x00000201 0
cpuid.0xd.1 = 15 0 0 0
# TSC = 38.4 MHz * 192 / 2.
cpuid.0x15 = 2 192 38400000 0
cpuid.0x80000000 = 0x80000008 0 0 0
cpuid.0x80000001 = 0 0 0x00000121 0x2c100800
cpuid.0x80000002 = 0x65746e49 0x2952286c 0x726f4320 0x4d542865
cpuid.0x80000003 = 0x6c552029 0x20617274 0x38322039 0x00004b35
cpuid.0x80000004 = 0x00000000 0x00000000 0x00000000 0x00000000
cpuid.0x80000005 = 0 0 0 0
cpuid.0x80000007 = 0 0 0 0x00000100
cpuid.0x80000008 = 0x0000302e 0 0 0

msr.smi_count = yes
msr.mtrr_variable = 10
msr.mcg_cap = 0x80c
msr.platform_id = 1
msr.platform_info = 0x80080002500
msr.turbo_ratio_limit = 0x39393939

clock.tsc_hz = 3686400000
clock.ref_hz = 3686400000 # REF_TSC_P: "a fixed frequency that is also used for the TSC" (perfmon)
clock.apic_hz = 38400000

pmu.version = 6
pmu.general = 8
pmu.general_width = 48
pmu.fixed = 3
pmu.fixed_bitmap = 0x7
pmu.fixed_width = 48
pmu.events_length = 13
# Slots and bad speculation, each of which one kind of core has not.
pmu.events_unavailable = 0x280
pmu.anythread = no
pmu.pin_control = no
pmu.full_width = yes
pmu.has_capabilities = yes
pmu.misc_enable = 0x850089
pmu.bts = yes
pmu.ds64 = yes
pmu.bts_predicted = yes
pmu.pebs_format = 6
# Precise distribution on IA32_PMC0 and IA32_PMC1: the events' PDISTCounter in the perfmon list of the
# performance core, Linux for both; and on IA32_FIXED_CTR0 (INST_RETIRED.PREC_DIST).
pmu.pebs_pdist = 0x100000003
pmu.pebs_load_latency = yes
pmu.lbr_depth = 32
pmu.lbr_format = 63
pmu.lbr_select = no
pmu.offcore_rsp = 2
pmu.skid = 20

event.0x3c.0x01 = CPU_CLK_UNHALTED.REF_TSC_P ref-cycle
event.0xc0.0x00 = INST_RETIRED.ANY_P insn pebs
event.0xc4.0x00 = BR_INST_RETIRED.ALL_BRANCHES branch pebs
event.0xc5.0x00 = BR_MISP_RETIRED.ALL_BRANCHES mispredict pebs
event.0x2e.0x4f = LONGEST_LAT_CACHE.REFERENCE llc-ref
event.0x2e.0x41 = LONGEST_LAT_CACHE.MISS llc-miss
event.0xe4.0x01 = MISC_RETIRED.LBR_INSERTS lbr-insert pebs

cache.llc = 33554432 16 64 84
uarch.memory_latency = 500
uarch.predictor_bits = 12
uarch.lat_mul = 3
uarch.lat_forward = 5
uarch.lat_div = 14
uarch.lat_io = 400
uarch.lat_msr = 100
uarch.lat_tsc = 25
uarch.lat_pause = 140
uarch.lat_serialize = 100

[p]
cpuid.0x4.0 = 0x00000121 0x02c0003f 0x0000003f 0x00000000
cpuid.0x4.1 = 0x00000122 0x03c0003f 0x0000003f 0x00000000
cpuid.0x4.2 = 0x00000143 0x02c0003f 0x00000fff 0x00000000
cpuid.0x16 = 3700 5700 100 0
# A performance core.
cpuid.0x1a = 0x40000003 0 0 0
# Depths 8, 16 and 32, cleared in deep C-states, effective addresses; filters by ring and by branch,
# call-stack mode; mispredictions, cycles and types of branches; four counters' events are logged.
cpuid.0x1c = 0x4000000b 7 0x000f0007 0
# Sub-leaves 0, 1 and 3; UMASK2 and EQ. The counters. The architectural events but bad speculation.
cpuid.0x23.0 = 0x0000000b 3 0 0
cpuid.0x23.1 = 0x000003ff 0x0000000f 0 0
cpuid.0x23.3 = 0x00001dff 0 0 0
cpuid.0x80000006 = 0 0 0x08007040 0

clock.core_hz = 5500000000 # turbo

pmu.general_more = 2
pmu.fixed_more = 0x8
pmu.capabilities = 0xaf6ff
pmu.pebs_counters = 0x3ff
pmu.pebs_source = 3 # Lion Cove
# IA32_FIXED_CTR0 samples without a retire latency, as on Meteor Lake's P cores: Linux,
# rwc_get_event_constraints(), through which Arrow Lake's go as well.
pmu.pebs_untimed = 0x100000000
pmu.metrics = yes
pmu.metrics_level2 = yes

event.0x3c.0x00 = CPU_CLK_UNHALTED.THREAD_P core-cycle
event.0xa4.0x01 = TOPDOWN.SLOTS_P slots
event.0xa4.0x02 = TOPDOWN.BACKEND_BOUND_SLOTS slots-backend
event.0xa4.0x04 = TOPDOWN.BAD_SPEC_SLOTS slots-bad-spec counters=0x1
event.0xa4.0x08 = TOPDOWN.BR_MISPREDICT_SLOTS slots-bad-spec counters=0x1
event.0xa4.0x10 = TOPDOWN.MEMORY_BOUND_SLOTS slots-memory counters=0x8
event.0x9c.0x01 = IDQ_BUBBLES.CORE slots-frontend
event.0xc2.0x02 = UOPS_RETIRED.SLOTS slots-retiring
event.0xc4.0x02 = BR_INST_RETIRED.NEAR_CALL branch-call pebs
event.0xc4.0x08 = BR_INST_RETIRED.NEAR_RETURN branch-ret pebs
event.0xc4.0x11.0x01 = BR_INST_RETIRED.COND branch-cond pebs
event.0xc4.0x20 = BR_INST_RETIRED.NEAR_TAKEN branch-taken pebs
event.0xc4.0x40 = BR_INST_RETIRED.FAR_BRANCH branch-far pebs
event.0xcd.0x01 = MEM_TRANS_RETIRED.LOAD_LATENCY load pebs latency counters=0x3fc
event.0xd0.0x81 = MEM_INST_RETIRED.ALL_LOADS load pebs counters=0xf
event.0xd0.0x82 = MEM_INST_RETIRED.ALL_STORES store pebs counters=0xf
event.0xd1.0x01.0x01 = MEM_LOAD_RETIRED.L1_HIT l1-hit pebs counters=0xf
event.0xd1.0x01 = MEM_LOAD_RETIRED.L1_HIT_L0 l1-hit pebs counters=0xf
event.0xd1.0x02 = MEM_LOAD_RETIRED.L2_HIT l2-hit pebs counters=0xf
event.0xd1.0x04 = MEM_LOAD_RETIRED.L3_HIT llc-hit pebs counters=0xf
event.0xd1.0x08 = MEM_LOAD_RETIRED.L1_MISS l1-miss pebs counters=0xf
event.0xd1.0x10 = MEM_LOAD_RETIRED.L2_MISS l2-miss pebs counters=0xf
# Known and not counted, from the same event list.
event.0xc0.0x02 = INST_RETIRED.NOP uncounted
event.0xc0.0x08 = INST_RETIRED.REP_ITERATION uncounted
event.0xc0.0x10 = INST_RETIRED.BR_FUSED uncounted
event.0xc0.0x30 = INST_RETIRED.MACRO_FUSED uncounted
event.0xc4.0x00.0x01 = BR_INST_RETIRED.COND_TAKEN_FWD uncounted
event.0xc4.0x01 = BR_INST_RETIRED.COND_TAKEN_BWD uncounted
event.0xc4.0x01.0x01 = BR_INST_RETIRED.COND_TAKEN uncounted
event.0xc4.0x10 = BR_INST_RETIRED.COND_NTAKEN uncounted
event.0xc4.0x80 = BR_INST_RETIRED.INDIRECT uncounted
event.0xc5.0x02 = BR_MISP_RETIRED.INDIRECT_CALL uncounted
event.0xc5.0x08 = BR_MISP_RETIRED.RET uncounted
event.0xc5.0x10 = BR_MISP_RETIRED.COND_NTAKEN uncounted
event.0xc5.0x20 = BR_MISP_RETIRED.NEAR_TAKEN uncounted
event.0xc5.0x44 = BR_MISP_RETIRED.ALL_BRANCHES_COST uncounted
event.0xc5.0x80 = BR_MISP_RETIRED.INDIRECT uncounted
event.0xcd.0x02 = MEM_TRANS_RETIRED.STORE_SAMPLE uncounted
event.0xd0.0x09 = MEM_INST_RETIRED.STLB_HIT_LOADS uncounted
event.0xd0.0x0a = MEM_INST_RETIRED.STLB_HIT_STORES uncounted
event.0xd0.0x11 = MEM_INST_RETIRED.STLB_MISS_LOADS uncounted
event.0xd0.0x12 = MEM_INST_RETIRED.STLB_MISS_STORES uncounted
event.0xd0.0x84 = MEM_INST_RETIRED.ALL_SWPF uncounted
event.0xd0.0x87 = MEM_INST_RETIRED.ANY uncounted
event.0xd1.0x00.0x01 = MEM_LOAD_RETIRED.L1_HIT_L1 uncounted
event.0xd1.0x20 = MEM_LOAD_RETIRED.L3_MISS uncounted
event.0xd1.0x40 = MEM_LOAD_RETIRED.FB_HIT uncounted

cache.l1i = 65536 16 64 5
cache.l1d = 49152 12 64 4
cache.l2 = 3145728 12 64 17
uarch.retire_width = 8
# The window, fetch and line fill buffers: Intel's Optimization Reference Manual, in part from memory;
# the streamer's distance and lat_forward: from memory.
uarch.window = 512
uarch.fetch_bytes = 32
uarch.misses = 16
uarch.prefetch = 20
uarch.mispredict_penalty = 17

[e]
cpuid.0x4.0 = 0x00000121 0x01c0003f 0x0000003f 0x00000000
cpuid.0x4.1 = 0x00000122 0x01c0003f 0x0000007f 0x00000000
cpuid.0x4.2 = 0x00000143 0x03c0003f 0x00000fff 0x00000000
cpuid.0x16 = 3200 4600 100 0
# An efficient core.
cpuid.0x1a = 0x20000003 0 0 0
# As a performance core, but linear addresses.
cpuid.0x1c = 0xc000000b 7 0x000f0007 0
# Sub-leaves 0 to 3; UMASK2 and EQ; 8 slots a cycle. The counters; those that reload and are reloaded.
# The architectural events but slots.
cpuid.0x23.0 = 0x0000000f 3 8 0
cpuid.0x23.1 = 0x000000ff 0x00000077 0 0
cpuid.0x23.2 = 0x000000fc 0x00000003 0x000000fc 0x00000003
cpuid.0x23.3 = 0x00001f7f 0 0 0
cpuid.0x80000006 = 0 0 0x10008040 0

clock.core_hz = 4600000000 # turbo

pmu.fixed_more = 0x70
pmu.capabilities = 0x276ff
pmu.pebs_counters = 0xff
pmu.pebs_source = 2 # as Crestmont
pmu.metrics = no

event.0x3c.0x00 = CPU_CLK_UNHALTED.CORE_P core-cycle
event.0xa4.0x02 = TOPDOWN_BE_BOUND.ALL_P slots-backend
event.0x73.0x00 = TOPDOWN_BAD_SPECULATION.ALL_P slots-bad-spec
event.0x9c.0x01 = TOPDOWN_FE_BOUND.ALL_P slots-frontend
event.0xc2.0x02 = TOPDOWN_RETIRING.ALL_P slots-retiring pebs
event.0x71.0x00 = TOPDOWN_FE_BOUND.ALL_NON_ARCH slots-frontend
event.0x74.0x00 = TOPDOWN_BE_BOUND.ALL_NON_ARCH slots-backend
event.0xc4.0x7e = BR_INST_RETIRED.COND branch-cond pebs
event.0xc4.0xc0 = BR_INST_RETIRED.NEAR_TAKEN branch-taken pebs
event.0xc4.0xf9 = BR_INST_RETIRED.NEAR_CALL branch-call pebs
event.0xc4.0xf7 = BR_INST_RETIRED.NEAR_RETURN branch-ret pebs
event.0xc4.0xbf = BR_INST_RETIRED.FAR_BRANCH branch-far pebs
event.0xd0.0x05 = MEM_UOPS_RETIRED.LOAD_LATENCY load pebs latency counters=0x3
event.0xd0.0x81 = MEM_UOPS_RETIRED.ALL_LOADS load pebs
event.0xd0.0x82 = MEM_UOPS_RETIRED.ALL_STORES store pebs
event.0xd1.0x01 = MEM_LOAD_UOPS_RETIRED.L1_HIT l1-hit pebs
event.0xd1.0x02 = MEM_LOAD_UOPS_RETIRED.L2_HIT l2-hit pebs
event.0xd1.0x1c = MEM_LOAD_UOPS_RETIRED.L3_HIT llc-hit pebs
event.0xd1.0x40 = MEM_LOAD_UOPS_RETIRED.L1_MISS l1-miss pebs
event.0xd1.0x80 = MEM_LOAD_UOPS_RETIRED.L2_MISS l2-miss pebs
# Known and not counted, from the same event list.
event.0xc4.0x80 = BR_INST_RETIRED.TAKEN uncounted
event.0xc4.0xdf = BR_INST_RETIRED.REL_JMP uncounted
event.0xc4.0xeb = BR_INST_RETIRED.INDIRECT uncounted
event.0xc4.0xef = BR_INST_RETIRED.INDIRECT_JMP uncounted
event.0xc4.0xfb = BR_INST_RETIRED.INDIRECT_CALL uncounted
event.0xc4.0xfd = BR_INST_RETIRED.REL_CALL uncounted
event.0xc4.0xfe = BR_INST_RETIRED.COND_TAKEN uncounted
event.0xc5.0x7e = BR_MISP_RETIRED.COND uncounted
event.0xc5.0x80 = BR_MISP_RETIRED.NEAR_TAKEN uncounted
event.0xc5.0xeb = BR_MISP_RETIRED.INDIRECT uncounted
event.0xc5.0xef = BR_MISP_RETIRED.INDIRECT_JMP uncounted
event.0xc5.0xf7 = BR_MISP_RETIRED.RETURN uncounted
event.0xc5.0xfb = BR_MISP_RETIRED.INDIRECT_CALL uncounted
event.0xc5.0xfe = BR_MISP_RETIRED.COND_TAKEN uncounted
event.0xd0.0x06 = MEM_UOPS_RETIRED.STORE_LATENCY uncounted
event.0xd0.0x11 = MEM_UOPS_RETIRED.STLB_MISS_LOADS uncounted
event.0xd0.0x12 = MEM_UOPS_RETIRED.STLB_MISS_STORES uncounted
event.0xd0.0x21 = MEM_UOPS_RETIRED.LOCK_LOADS uncounted
event.0xd0.0x41 = MEM_UOPS_RETIRED.SPLIT_LOADS uncounted
event.0xd0.0x42 = MEM_UOPS_RETIRED.SPLIT_STORES uncounted
event.0xd0.0x83 = MEM_UOPS_RETIRED.ALL uncounted
event.0xc4.0x7f = BR_INST_RETIRED.COND_NTAKEN uncounted
event.0xc5.0x7f = BR_MISP_RETIRED.COND_NTAKEN uncounted

cache.l1i = 65536 8 64 4
cache.l1d = 32768 8 64 4
cache.l2 = 4194304 16 64 19
uarch.retire_width = 8
uarch.mispredict_penalty = 15
