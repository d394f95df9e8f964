# Xeon Platinum 8480+, Sapphire Rapids: perfmon version 5
#
# 8 x 48-bit general counters, 4 fixed by the bitmap of CPUID.0AH:ECX, no AnyThread, PERF_METRICS,
# architectural last branch records up to 32, PEBS format 5. Family 6, model 8FH, stepping 8.
# Sources: SDM vol. 3 "Architectural Performance Monitoring Version 5", "Last Branch Records"; Intel's
# perfmon event list for Sapphire Rapids, V1.39 (codes, counters, what is precise); SDM vol. 4, MSRs
# of this family and model; Linux arch/x86/events/intel/{core,ds,lbr}.c; CPUID leaves 0, 0AH and 1CH
# from the dumps of the InstLatx64 collection, the others composed; cache and latency figures from
# Intel's optimization reference manual, rounded. The last level cache has 32 MiB, the silicon's
# 105: pmusim's 256 MiB of memory would have no buffer that outgrows it.
#
# IA32_PERF_CAPABILITIES (F5FFH) is composed from what the sources say of its parts; no reading from
# a machine was found. PEBS on every counter with every event (PEBS_BASELINE). The perfmon list keeps
# IA32_PMC0 out of PEBS for INST_RETIRED.ANY_P, which the model does not. Linux counts the auxiliary
# event 03H/82H beside load latency on this core; here it is not needed.
#
# Of the processor's features only those are announced that the simulator executes:
# docs/simulator.md, "What the processors announce", lists what the silicon has besides. DS, DTES64,
# PDCM and leaf 0AH follow from the pmu fields. The APIC IDs in leaves 1 and 0BH are filled in for
# each processor.

name = sapphirerapids
description = Xeon Platinum 8480+, Sapphire Rapids: perfmon version 5
microcode = 0x2b000603

cpuid.0x0 = 0x00000020 0x756e6547 0x6c65746e 0x49656e69
cpuid.0x1 = 0x000806f8 0x00010800 0x15fa2213 0x0f8bfbfd
cpuid.0x2 = 0x00feff01 0x000000f0 0 0
cpuid.0x4.0 = 0x00000121 0x02c0003f 0x0000003f 0x00000000
cpuid.0x4.1 = 0x00000122 0x01c0003f 0x0000003f 0x00000000
cpuid.0x4.2 = 0x00000143 0x03c0003f 0x000007ff 0x00000000
cpuid.0x4.3 = 0x00000163 0x03c0003f 0x00007fff 0x00000000
cpuid.0x4.4 = 0 0 0 0
cpuid.0x6 = 0x00000004 0 1 0
# SGX, which the firmware has not enabled: leaf 12H is zeros, and there are no enclaves. The status has ASCI.
cpuid.0x7.0 = 0 0x009827ef 4 0x00080000
cpuid.0xb.0 = 0 1 0x00000100 0
cpuid.0xb.1 = 4 8 0x00000201 0
cpuid.0xd.1 = 15 0 0 0
# TSC = 25 MHz * 160 / 2.
cpuid.0x15 = 2 160 25000000 0
cpuid.0x16 = 2000 3800 100 0
# Depths 8, 16 and 32, cleared in deep C-states, effective addresses; filters by ring and by branch,
# call-stack mode; mispredictions, cycles and types of branches; no logging of events.
cpuid.0x1c = 0x4000000b 7 7 0
cpuid.0x80000000 = 0x80000008 0 0 0
cpuid.0x80000001 = 0 0 0x00000121 0x2c100800
cpuid.0x80000002 = 0x65746e49 0x2952286c 0x6f655820 0x2952286e
cpuid.0x80000003 = 0x616c5020 0x756e6974 0x3438206d 0x002b3038
cpuid.0x80000004 = 0x00000000 0x00000000 0x00000000 0x00000000
cpuid.0x80000005 = 0 0 0 0
cpuid.0x80000006 = 0 0 0x08007040 0
cpuid.0x80000007 = 0 0 0 0x00000100
cpuid.0x80000008 = 0x0000302e 0 0 0

msr.smi_count = yes
msr.mtrr_variable = 10
msr.mcg_cap = 0x80c
msr.platform_info = 0x80080001400
msr.turbo_ratio_limit = 0x2626262626262626

clock.core_hz = 3000000000 # turbo
clock.tsc_hz = 2000000000
clock.ref_hz = 2000000000 # REF_TSC_P: "a fixed frequency that is also used for the TSC" (perfmon)
clock.apic_hz = 25000000

pmu.version = 5
pmu.general = 8
pmu.general_width = 48
pmu.fixed = 4
pmu.fixed_width = 48
pmu.events_length = 8
pmu.events_unavailable = 0
pmu.anythread = no
pmu.pin_control = no
pmu.full_width = yes
pmu.has_capabilities = yes
pmu.capabilities = 0xf5ff
pmu.misc_enable = 0x850089
pmu.bts = yes
pmu.ds64 = yes
pmu.bts_predicted = yes
pmu.pebs_counters = 0xff
pmu.pebs_format = 5
# Precise distribution on IA32_PMC0, and on IA32_FIXED_CTR0 (INST_RETIRED.PREC_DIST): the events' PDISTCounter in the
# perfmon list, KVM's patches.
pmu.pebs_pdist = 0x100000001
pmu.pebs_load_latency = yes
pmu.latency_needs_aux = yes
pmu.lbr_depth = 32
pmu.lbr_format = 63
pmu.lbr_select = no
pmu.offcore_rsp = 2
pmu.skid = 20
pmu.fixed_bitmap = 0xf
pmu.metrics = yes
pmu.metrics_level2 = yes

event.0x3c.0x00 = CPU_CLK_UNHALTED.THREAD_P core-cycle
event.0x3c.0x01 = CPU_CLK_UNHALTED.REF_TSC_P ref-cycle
event.0xc0.0x00 = INST_RETIRED.ANY_P insn pebs
event.0xc4.0x00 = BR_INST_RETIRED.ALL_BRANCHES branch pebs
event.0xc5.0x00 = BR_MISP_RETIRED.ALL_BRANCHES mispredict pebs
event.0x2e.0x4f = LONGEST_LAT_CACHE.REFERENCE llc-ref
event.0x2e.0x41 = LONGEST_LAT_CACHE.MISS llc-miss
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
event.0xcd.0x01 = MEM_TRANS_RETIRED.LOAD_LATENCY load pebs latency counters=0xfe
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
cache.l2 = 2097152 16 64 14
cache.llc = 33554432 16 64 70

uarch.retire_width = 6
# The window, fetch and line fill buffers: Intel's Optimization Reference Manual, in part from memory;
# the streamer's distance and lat_forward: from memory.
uarch.window = 512
uarch.fetch_bytes = 32
uarch.misses = 16
uarch.prefetch = 20
uarch.memory_latency = 300
uarch.mispredict_penalty = 17
uarch.predictor_bits = 12
uarch.lat_mul = 3
uarch.lat_forward = 5
uarch.lat_div = 18
uarch.lat_io = 400
uarch.lat_msr = 100
uarch.lat_tsc = 25 # this and lat_pause: Agner Fog, "Instruction tables"
uarch.lat_pause = 140
uarch.lat_serialize = 100
