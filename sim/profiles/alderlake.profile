# Core i9-12900K, Alder Lake, a hybrid processor: performance cores (Golden Cove) and efficient ones
# (Gracemont), perfmon version 5
#
# 6 x 48-bit general counters and 3 fixed ones, no AnyThread, architectural last branch records up to
# 32, PEBS format 5: leaf 0AH has what both kinds of core have in common. Family 6, model 97H,
# stepping 2. The processors are a performance core and an efficient one in turn, as many as there
# are: the silicon has eight of each, the performance cores first, each with two threads.
# Sources: SDM vol. 3 "Architectural Performance Monitoring Version 5", "Last Branch Records"; Intel's
# perfmon event lists for Alder Lake's Golden Cove and Gracemont, V1.40 (codes, counters, what is
# precise); SDM vol. 4, MSRs of this family and model; Linux arch/x86/events/intel/{core,ds,lbr}.c
# (the data source of load latency too); CPUID leaves 0, 0AH, 1AH and 1CH from the dumps of the
# InstLatx64 collection (90672H), 15H and 16H and the revision of the microcode from memory, the
# others composed; cache and latency figures of the performance core from Intel's optimization
# reference manual, rounded, of the efficient one from memory. The last level cache is rounded to a
# power of two.
#
# The performance cores have two general counters more, a fixed counter for the slots and PERF_METRICS,
# which nothing announces while there are efficient cores beside them. IA32_PERF_CAPABILITIES (75FFH) is
# composed from what the sources say of its parts; no reading from a machine was found. PEBS on every
# counter of leaf 0AH with every event (PEBS_BASELINE).
#
# Of the processor's features only those are announced that the simulator executes:
# docs/simulator.md, "What the processors announce", lists what the silicon has besides. DS, DTES64,
# PDCM and leaf 0AH follow from the pmu fields. The APIC IDs in leaves 1 and 0BH are filled in for
# each processor.

name = alderlake
description = Core i9-12900K, Alder Lake, P and E cores in turn: perfmon version 5
processors = p e # in turn, for any number
microcode = 0x3a

cpuid.0x0 = 0x00000020 0x756e6547 0x6c65746e 0x49656e69
cpuid.0x1 = 0x00090672 0x00010800 0x15fa2213 0x0f8bfbfd
cpuid.0x2 = 0x00feff01 0x000000f0 0 0
cpuid.0x4.3 = 0x00000163 0x03c0003f 0x00007fff 0x00000000
cpuid.0x4.4 = 0 0 0 0
cpuid.0x6 = 0x00000004 0 1 0
# EDX[15]: hybrid.
cpuid.0x7.0 = 0 0x009827eb 4 0x00088000
cpuid.0xb.0 = 0 1 0x00000100 0
cpuid.0xb.1 = 4 8 0x00000201 0
cpuid.0xd.1 = 15 0 0 0
# TSC = 38.4 MHz * 166 / 2.
cpuid.0x15 = 2 166 38400000 0
cpuid.0x80000000 = 0x80000008 0 0 0
cpuid.0x80000001 = 0 0 0x00000121 0x2c100800
cpuid.0x80000002 = 0x68743231 0x6e654720 0x746e4920 0x52286c65
cpuid.0x80000003 = 0x6f432029 0x54286572 0x6920294d 0x32312d39
cpuid.0x80000004 = 0x4b303039 0x00000000 0x00000000 0x00000000
cpuid.0x80000005 = 0 0 0 0
cpuid.0x80000007 = 0 0 0 0x00000100
cpuid.0x80000008 = 0x0000302e 0 0 0

msr.smi_count = yes
msr.mtrr_variable = 10
msr.mcg_cap = 0x80c
msr.platform_id = 1
msr.platform_info = 0x80080002000
msr.turbo_ratio_limit = 0x33333434

clock.tsc_hz = 3187200000
clock.ref_hz = 3187200000 # REF_TSC_P: "a fixed frequency that is also used for the TSC" (perfmon)
clock.apic_hz = 38400000

pmu.version = 5
pmu.general = 6
pmu.general_width = 48
pmu.fixed = 3
pmu.fixed_width = 48
pmu.events_length = 7
pmu.events_unavailable = 0
pmu.anythread = no
pmu.pin_control = no
pmu.full_width = yes
pmu.has_capabilities = yes
pmu.capabilities = 0x75ff
pmu.misc_enable = 0x850089
pmu.bts = yes
pmu.ds64 = yes
pmu.bts_predicted = yes
pmu.pebs_counters = 0x3f
pmu.pebs_format = 5
# Precise distribution on IA32_PMC0, and on IA32_FIXED_CTR0 (INST_RETIRED.PREC_DIST): the events' PDISTCounter in the
# perfmon list, KVM's patches.
pmu.pebs_pdist = 0x100000001
pmu.pebs_load_latency = yes
pmu.lbr_depth = 32
pmu.lbr_format = 63
pmu.lbr_select = no
pmu.offcore_rsp = 2
pmu.skid = 20
pmu.fixed_bitmap = 0x7

event.0x3c.0x01 = CPU_CLK_UNHALTED.REF_TSC_P ref-cycle
event.0xc0.0x00 = INST_RETIRED.ANY_P insn pebs
event.0xc4.0x00 = BR_INST_RETIRED.ALL_BRANCHES branch pebs
event.0xc5.0x00 = BR_MISP_RETIRED.ALL_BRANCHES mispredict pebs
event.0x2e.0x4f = LONGEST_LAT_CACHE.REFERENCE llc-ref
event.0x2e.0x41 = LONGEST_LAT_CACHE.MISS llc-miss

cache.llc = 33554432 16 64 70
uarch.memory_latency = 400
uarch.predictor_bits = 12
uarch.lat_mul = 3
uarch.lat_forward = 5
uarch.lat_div = 18
uarch.lat_io = 400
uarch.lat_msr = 100
uarch.lat_tsc = 25 # this and lat_pause: Agner Fog, "Instruction tables"; of the efficient core from memory
uarch.lat_pause = 140
uarch.lat_serialize = 100

[p]
cpuid.0x4.0 = 0x00000121 0x02c0003f 0x0000003f 0x00000000
cpuid.0x4.1 = 0x00000122 0x01c0003f 0x0000003f 0x00000000
cpuid.0x4.2 = 0x00000143 0x0240003f 0x000007ff 0x00000000
cpuid.0x16 = 3200 5200 100 0
# A performance core.
cpuid.0x1a = 0x40000001 0 0 0
# Depths 8, 16 and 32, cleared in deep C-states, effective addresses; filters by ring and by branch,
# call-stack mode; mispredictions, cycles and types of branches; no logging of events.
cpuid.0x1c = 0x4000000b 7 7 0
cpuid.0x80000006 = 0 0 0x05007040 0

clock.core_hz = 4900000000 # turbo

# What the performance cores have and nothing tells of (Linux arch/x86/events/intel/core.c, intel_pmu_init()): two
# general counters, FIXED_CTR3 for the slots, PERF_METRICS.
pmu.general_more = 2
pmu.fixed_more = 0x8
pmu.metrics = yes
pmu.metrics_level2 = yes
pmu.unannounced = yes
pmu.latency_needs_aux = yes

event.0x3c.0x00 = CPU_CLK_UNHALTED.THREAD_P core-cycle
event.0xa4.0x01 = TOPDOWN.SLOTS_P slots
event.0xc2.0x02 = UOPS_RETIRED.SLOTS slots-retiring
# What is issued is what retires: the model issues nothing in vain.
event.0x0e.0x01 = UOPS_ISSUED.ANY slots-retiring
event.0x9c.0x01 = IDQ_UOPS_NOT_DELIVERED.CORE slots-frontend
event.0xcc.0x20 = MISC_RETIRED.LBR_INSERTS lbr-insert
event.0xc4.0x02 = BR_INST_RETIRED.NEAR_CALL branch-call pebs
event.0xc4.0x08 = BR_INST_RETIRED.NEAR_RETURN branch-ret pebs
event.0xc4.0x11 = BR_INST_RETIRED.COND branch-cond pebs
event.0xc4.0x20 = BR_INST_RETIRED.NEAR_TAKEN branch-taken pebs
event.0xc4.0x40 = BR_INST_RETIRED.FAR_BRANCH branch-far pebs
# "mem-loads-aux" of Linux, beside load latency alone: what it counts is not told.
event.0x03.0x82 = MEM_LOADS_AUX none
event.0xcd.0x01 = MEM_TRANS_RETIRED.LOAD_LATENCY load pebs latency counters=0x3e
event.0xd0.0x81 = MEM_INST_RETIRED.ALL_LOADS load pebs counters=0xf
event.0xd0.0x82 = MEM_INST_RETIRED.ALL_STORES store pebs counters=0xf
event.0xd1.0x01 = MEM_LOAD_RETIRED.L1_HIT l1-hit pebs counters=0xf
event.0xd1.0x02 = MEM_LOAD_RETIRED.L2_HIT l2-hit pebs counters=0xf
event.0xd1.0x04 = MEM_LOAD_RETIRED.L3_HIT llc-hit pebs counters=0xf
event.0xd1.0x08 = MEM_LOAD_RETIRED.L1_MISS l1-miss pebs counters=0xf
event.0xd1.0x10 = MEM_LOAD_RETIRED.L2_MISS l2-miss pebs counters=0xf
# Known and not counted, from the same event list.
event.0xc0.0x02 = INST_RETIRED.NOP uncounted
event.0xc0.0x08 = INST_RETIRED.REP_ITERATION uncounted
event.0xc0.0x10 = INST_RETIRED.MACRO_FUSED uncounted
event.0xc4.0x01 = BR_INST_RETIRED.COND_TAKEN uncounted
event.0xc4.0x10 = BR_INST_RETIRED.COND_NTAKEN uncounted
event.0xc4.0x80 = BR_INST_RETIRED.INDIRECT uncounted
event.0xc5.0x01 = BR_MISP_RETIRED.COND_TAKEN uncounted
event.0xc5.0x02 = BR_MISP_RETIRED.INDIRECT_CALL uncounted
event.0xc5.0x08 = BR_MISP_RETIRED.RET uncounted
event.0xc5.0x10 = BR_MISP_RETIRED.COND_NTAKEN uncounted
event.0xc5.0x11 = BR_MISP_RETIRED.COND uncounted
event.0xc5.0x20 = BR_MISP_RETIRED.NEAR_TAKEN uncounted
event.0xc5.0x80 = BR_MISP_RETIRED.INDIRECT uncounted
event.0xcd.0x02 = MEM_TRANS_RETIRED.STORE_SAMPLE uncounted
event.0xd0.0x11 = MEM_INST_RETIRED.STLB_MISS_LOADS uncounted
event.0xd0.0x12 = MEM_INST_RETIRED.STLB_MISS_STORES uncounted
event.0xd0.0x21 = MEM_INST_RETIRED.LOCK_LOADS uncounted
event.0xd0.0x41 = MEM_INST_RETIRED.SPLIT_LOADS uncounted
event.0xd0.0x42 = MEM_INST_RETIRED.SPLIT_STORES uncounted
event.0xd1.0x20 = MEM_LOAD_RETIRED.L3_MISS uncounted
event.0xd1.0x40 = MEM_LOAD_RETIRED.FB_HIT uncounted
event.0xa4.0x02 = TOPDOWN.BACKEND_BOUND_SLOTS uncounted
event.0xa4.0x04 = TOPDOWN.BAD_SPEC_SLOTS uncounted
event.0xa4.0x08 = TOPDOWN.BR_MISPREDICT_SLOTS uncounted
event.0xa4.0x10 = TOPDOWN.MEMORY_BOUND_SLOTS uncounted
# Known and not counted, from memory of Intel's event list.
event.0x03.0x02 = LD_BLOCKS.STORE_FORWARD uncounted
event.0x03.0x08 = LD_BLOCKS.NO_SR uncounted
event.0x08.0x20 = DTLB_LOAD_MISSES.STLB_HIT uncounted
event.0x24.0xe1 = L2_RQSTS.ALL_DEMAND_DATA_RD uncounted
event.0x24.0xe4 = L2_RQSTS.ALL_CODE_RD uncounted
event.0x51.0x01 = L1D.REPLACEMENT uncounted
event.0x79.0x04 = IDQ.MITE_UOPS uncounted
event.0x79.0x08 = IDQ.DSB_UOPS uncounted
event.0x87.0x01 = DECODE.LCP uncounted
event.0xad.0x10 = INT_MISC.UOP_DROPPING uncounted
event.0xb1.0x01 = UOPS_EXECUTED.THREAD uncounted
event.0xc3.0x04 = MACHINE_CLEARS.SMC uncounted

cache.l1i = 32768 8 64 5
cache.l1d = 49152 12 64 5
cache.l2 = 1310720 10 64 15
uarch.retire_width = 6
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
cpuid.0x4.2 = 0x00000143 0x03c0003f 0x000007ff 0x00000000
cpuid.0x16 = 2400 3900 100 0
# An efficient core.
cpuid.0x1a = 0x20000001 0 0 0
# As a performance core, but linear addresses.
cpuid.0x1c = 0xc000000b 7 7 0
cpuid.0x80000006 = 0 0 0x08008040 0

clock.core_hz = 3900000000 # turbo

pmu.metrics = no
pmu.pebs_source = 1 # Gracemont

event.0x3c.0x00 = CPU_CLK_UNHALTED.CORE_P core-cycle
event.0xc2.0x00 = TOPDOWN_RETIRING.ALL slots-retiring pebs
event.0x71.0x00 = TOPDOWN_FE_BOUND.ALL slots-frontend
event.0x73.0x00 = TOPDOWN_BAD_SPECULATION.ALL slots-bad-spec
event.0x74.0x00 = TOPDOWN_BE_BOUND.ALL slots-backend
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
event.0xd1.0x04 = MEM_LOAD_UOPS_RETIRED.L3_HIT llc-hit pebs
event.0xd1.0x08 = MEM_LOAD_UOPS_RETIRED.L1_MISS l1-miss pebs
event.0xd1.0x10 = MEM_LOAD_UOPS_RETIRED.L2_MISS l2-miss pebs
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
event.0xe4.0x01 = MISC_RETIRED.LBR_INSERTS uncounted

cache.l1i = 65536 8 64 4
cache.l1d = 32768 8 64 4 # 3 to use; the latency of a record is longer, and 4 is the least that can be asked for
cache.l2 = 2097152 16 64 18
uarch.retire_width = 5
uarch.window = 256 # and what follows: as for the P core
uarch.fetch_bytes = 32
uarch.misses = 16
uarch.prefetch = 16
uarch.mispredict_penalty = 13
