# N100, Gracemont (Alder Lake-N): perfmon version 5
#
# 6 x 48-bit general counters and 3 fixed ones, no AnyThread, architectural last branch records up to
# 32, PEBS format 5: an Atom of today, without performance cores beside it. Family 6, model BEH,
# stepping 0.
# Sources: SDM vol. 3 "Architectural Performance Monitoring Version 5", "Last Branch Records"; Intel's
# perfmon event list for Alder Lake's Gracemont, V1.40 (codes, counters, what is precise); Linux
# arch/x86/events/intel/{core,ds,lbr}.c (the data source of load latency); CPUID leaves 0AH, 1AH and
# 1CH from the dumps of the InstLatx64 collection, 0, 15H, 16H and the revision of the microcode from
# memory, the others composed; cache and latency figures rounded, from memory.
# IA32_PERF_CAPABILITIES (75FFH) is composed from what the sources say of its parts. PEBS on every
# counter with every event (PEBS_BASELINE).
#
# Of the processor's features only those are announced that the simulator executes:
# docs/simulator.md, "What the processors announce", lists what the silicon has besides. DS, DTES64,
# PDCM and leaf 0AH follow from the pmu fields. The APIC IDs in leaves 1 and 0BH are filled in for
# each processor.

name = gracemont
description = N100, Gracemont (Alder Lake-N): perfmon version 5
microcode = 0x1d

cpuid.0x0 = 0x00000020 0x756e6547 0x6c65746e 0x49656e69
cpuid.0x1 = 0x000b06e0 0x00010800 0x15fa2213 0x0f8bfbfd
cpuid.0x2 = 0x00feff01 0x000000f0 0 0
cpuid.0x4.0 = 0x00000121 0x01c0003f 0x0000003f 0x00000000
cpuid.0x4.1 = 0x00000122 0x01c0003f 0x0000007f 0x00000000
cpuid.0x4.2 = 0x00000143 0x03c0003f 0x000007ff 0x00000000
cpuid.0x4.3 = 0x00000163 0x02c0003f 0x00001fff 0x00000000
cpuid.0x4.4 = 0 0 0 0
cpuid.0x6 = 0x00000004 0 1 0
cpuid.0x7.0 = 0 0x009827eb 4 0x00080000
cpuid.0xb.0 = 0 1 0x00000100 0
cpuid.0xb.1 = 4 8 0x00000201 0
cpuid.0xd.1 = 15 0 0 0
# TSC = 38.4 MHz * 42 / 2.
cpuid.0x15 = 2 42 38400000 0
cpuid.0x16 = 800 3400 100 0
# An efficient core.
cpuid.0x1a = 0x20000001 0 0 0
# Depths 8, 16 and 32, cleared in deep C-states, linear addresses; filters by ring and by branch,
# call-stack mode; mispredictions, cycles and types of branches; no logging of events.
cpuid.0x1c = 0xc000000b 7 7 0
cpuid.0x80000000 = 0x80000008 0 0 0
cpuid.0x80000001 = 0 0 0x00000121 0x2c100800
cpuid.0x80000002 = 0x65746e49 0x2952286c 0x30314e20 0x00000030
cpuid.0x80000003 = 0x00000000 0x00000000 0x00000000 0x00000000
cpuid.0x80000004 = 0x00000000 0x00000000 0x00000000 0x00000000
cpuid.0x80000005 = 0 0 0 0
cpuid.0x80000006 = 0 0 0x08008040 0
cpuid.0x80000007 = 0 0 0 0x00000100
cpuid.0x80000008 = 0x0000302e 0 0 0

msr.smi_count = yes
msr.mtrr_variable = 10
msr.mcg_cap = 0x80a
msr.platform_info = 0x80080000800
msr.turbo_ratio_limit = 0x22222222

clock.core_hz = 3400000000 # turbo
clock.tsc_hz = 806400000
clock.ref_hz = 806400000 # REF_TSC_P: "a fixed frequency that is also used for the TSC" (perfmon)
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
# Precise distribution on IA32_FIXED_CTR0: INST_RETIRED.PREC_DIST in the perfmon list.
pmu.pebs_pdist = 0x100000000
pmu.pebs_load_latency = yes
pmu.pebs_source = 1 # Gracemont
pmu.lbr_depth = 32
pmu.lbr_format = 63
pmu.lbr_select = no
pmu.offcore_rsp = 2
pmu.skid = 20
pmu.fixed_bitmap = 0x7
pmu.metrics = no

event.0x3c.0x00 = CPU_CLK_UNHALTED.CORE_P core-cycle
event.0x3c.0x01 = CPU_CLK_UNHALTED.REF_TSC_P ref-cycle
event.0xc0.0x00 = INST_RETIRED.ANY_P insn pebs
event.0xc4.0x00 = BR_INST_RETIRED.ALL_BRANCHES branch pebs
event.0xc5.0x00 = BR_MISP_RETIRED.ALL_BRANCHES mispredict pebs
event.0x2e.0x4f = LONGEST_LAT_CACHE.REFERENCE llc-ref
event.0x2e.0x41 = LONGEST_LAT_CACHE.MISS llc-miss
event.0xc2.0x00 = TOPDOWN_RETIRING.ALL slots-retiring pebs
event.0x71.0x00 = TOPDOWN_FE_BOUND.ALL slots-frontend
event.0x73.0x00 = TOPDOWN_BAD_SPECULATION.ALL slots-bad-spec
event.0x74.0x00 = TOPDOWN_BE_BOUND.ALL slots-backend
# Linux asks for 73H with the umask of Tremont's TOPDOWN_BAD_SPECULATION.ALL.
event.0x73.0x06 = TOPDOWN_BAD_SPECULATION.ALL slots-bad-spec
event.0xc4.0x7e = BR_INST_RETIRED.COND branch-cond pebs
event.0xc4.0xc0 = BR_INST_RETIRED.NEAR_TAKEN branch-taken pebs
event.0xe4.0x01 = MISC_RETIRED.LBR_INSERTS lbr-insert pebs
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

cache.l1i = 65536 8 64 4
cache.l1d = 32768 8 64 4 # 3 to use; the latency of a record is longer, and 4 is the least that can be asked for
cache.l2 = 2097152 16 64 18
cache.llc = 6291456 12 64 70

uarch.retire_width = 5
# The window, fetch and line fill buffers: Intel's Optimization Reference Manual, in part from memory;
# the streamer's distance and lat_forward: from memory.
uarch.window = 256
uarch.fetch_bytes = 32
uarch.misses = 16
uarch.prefetch = 16
uarch.memory_latency = 300
uarch.mispredict_penalty = 13
uarch.predictor_bits = 12
uarch.lat_mul = 3
uarch.lat_forward = 5
uarch.lat_div = 18
uarch.lat_io = 400
uarch.lat_msr = 100
uarch.lat_tsc = 25 # this and lat_pause: from memory
uarch.lat_pause = 140
uarch.lat_serialize = 100
