# Core i7-1065G7, Ice Lake: perfmon version 5
#
# 8 x 48-bit general counters, 4 fixed by the bitmap of CPUID.0AH:ECX, no AnyThread, PERF_METRICS,
# 32 last branch records with separate information registers. Family 6, model 7EH, stepping 5.
# Sources: SDM vol. 3 "Performance Monitoring for 10th Generation Intel Core Processors",
# "Architectural Performance Monitoring Version 5"; SDM vol. 4, MSRs of 06_7EH; Linux
# arch/x86/events/intel/{core,ds,lbr}.c; perfmon's event list for Ice Lake; cache and latency
# figures from Intel's optimization reference manual, rounded. PEBS is adaptive (format 4, with
# PEBS_BASELINE: every event on every counter, fixed ones as well).
#
# Of the processor's features only those are announced that the simulator executes:
# docs/simulator.md, "What the processors announce", lists what the silicon has besides. DS, DTES64,
# PDCM and leaf 0AH follow from the pmu fields. The APIC IDs in leaves 1 and 0BH are filled in for
# each processor.

name = icelake
description = Core i7-1065G7, Ice Lake: perfmon version 5
microcode = 0xc6

cpuid.0x0 = 0x00000016 0x756e6547 0x6c65746e 0x49656e69
cpuid.0x1 = 0x000706e5 0x00010800 0x15fa2213 0x0f8bfbfd
cpuid.0x2 = 0x00feff01 0x000000f0 0 0
cpuid.0x4.0 = 0x00000121 0x02c0003f 0x0000003f 0x00000000
cpuid.0x4.1 = 0x00000122 0x01c0003f 0x0000003f 0x00000000
cpuid.0x4.2 = 0x00000143 0x01c0003f 0x000003ff 0x00000000
cpuid.0x4.3 = 0x00000163 0x03c0003f 0x00001fff 0x00000000
cpuid.0x4.4 = 0 0 0 0
cpuid.0x6 = 0x00000004 0 1 0
cpuid.0x7.0 = 0 0x009827eb 4 0
cpuid.0xb.0 = 0 1 0x00000100 0
cpuid.0xb.1 = 4 8 0x00000201 0
cpuid.0xd.1 = 15 0 0 0
# TSC = 38.4 MHz * 78 / 2.
cpuid.0x15 = 2 78 38400000 0
cpuid.0x16 = 1500 3900 100 0
cpuid.0x80000000 = 0x80000008 0 0 0
cpuid.0x80000001 = 0 0 0x00000121 0x2c100800
cpuid.0x80000002 = 0x65746e49 0x2952286c 0x726f4320 0x4d542865
cpuid.0x80000003 = 0x37692029 0x3630312d 0x20374735 0x20555043
cpuid.0x80000004 = 0x2e312040 0x48473033 0x0000007a 0x00000000
cpuid.0x80000005 = 0 0 0 0
cpuid.0x80000006 = 0 0 0x02006040 0
cpuid.0x80000007 = 0 0 0 0x00000100
cpuid.0x80000008 = 0x00003027 0 0 0

msr.smi_count = yes
msr.split_lock = yes
msr.mtrr_variable = 10
msr.mcg_cap = 0x80a
msr.platform_id = 7
msr.platform_info = 0x40080000f00
msr.turbo_ratio_limit = 0x23232627

clock.core_hz = 3000000000 # turbo
clock.tsc_hz = 1497600000
clock.ref_hz = 38400000
clock.apic_hz = 38400000

pmu.version = 5
pmu.general = 8
pmu.general_width = 48
pmu.fixed = 4
pmu.fixed_width = 48
pmu.fixed_bitmap = 0xf
pmu.events_length = 8
pmu.events_unavailable = 0
pmu.anythread = no
pmu.pin_control = no
pmu.full_width = yes
pmu.has_capabilities = yes
pmu.capabilities = 0xf4c5
pmu.misc_enable = 0x850089
pmu.bts = yes
pmu.ds64 = yes
pmu.bts_predicted = yes
pmu.pebs_counters = 0xff
pmu.pebs_format = 4
# Precise distribution on IA32_FIXED_CTR0: INST_RETIRED.PREC_DIST in the perfmon list.
pmu.pebs_pdist = 0x100000000
pmu.pebs_load_latency = yes
pmu.lbr_depth = 32
pmu.lbr_format = 5
pmu.lbr_select = yes
pmu.lbr_callstack = yes
pmu.lbr_info = yes
pmu.metrics = yes
pmu.offcore_rsp = 2
pmu.skid = 20

event.0x3c.0x00 = CPU_CLK_UNHALTED.THREAD_P core-cycle
event.0x3c.0x01 = CPU_CLK_UNHALTED.REF_P ref-cycle
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
event.0x0d.0x01 = INT_MISC.RECOVERY_CYCLES recovery-cycle
event.0xc4.0x02 = BR_INST_RETIRED.NEAR_CALL branch-call pebs
event.0xc4.0x08 = BR_INST_RETIRED.NEAR_RETURN branch-ret pebs
event.0xc4.0x11 = BR_INST_RETIRED.COND branch-cond pebs
event.0xc4.0x20 = BR_INST_RETIRED.NEAR_TAKEN branch-taken pebs
event.0xc4.0x40 = BR_INST_RETIRED.FAR_BRANCH branch-far pebs
event.0xcd.0x01 = MEM_TRANS_RETIRED.LOAD_LATENCY load pebs latency
event.0xd0.0x81 = MEM_INST_RETIRED.ALL_LOADS load pebs
event.0xd0.0x82 = MEM_INST_RETIRED.ALL_STORES store pebs
event.0xd1.0x01 = MEM_LOAD_RETIRED.L1_HIT l1-hit pebs
event.0xd1.0x02 = MEM_LOAD_RETIRED.L2_HIT l2-hit pebs
event.0xd1.0x04 = MEM_LOAD_RETIRED.L3_HIT llc-hit pebs
event.0xd1.0x08 = MEM_LOAD_RETIRED.L1_MISS l1-miss pebs
event.0xd1.0x10 = MEM_LOAD_RETIRED.L2_MISS l2-miss pebs
# Known and not counted, from memory of Intel's event list.
event.0x03.0x02 = LD_BLOCKS.STORE_FORWARD uncounted
event.0x03.0x08 = LD_BLOCKS.NO_SR uncounted
event.0x07.0x01 = LD_BLOCKS_PARTIAL.ADDRESS_ALIAS uncounted
event.0x08.0x0e = DTLB_LOAD_MISSES.WALK_COMPLETED uncounted
event.0x08.0x10 = DTLB_LOAD_MISSES.WALK_PENDING uncounted
event.0x08.0x20 = DTLB_LOAD_MISSES.STLB_HIT uncounted
event.0x0d.0x10 = INT_MISC.UOP_DROPPING uncounted
event.0x24.0x21 = L2_RQSTS.DEMAND_DATA_RD_MISS uncounted
event.0x24.0xe1 = L2_RQSTS.ALL_DEMAND_DATA_RD uncounted
event.0x24.0xe2 = L2_RQSTS.ALL_RFO uncounted
event.0x24.0xe4 = L2_RQSTS.ALL_CODE_RD uncounted
event.0x24.0xff = L2_RQSTS.REFERENCES uncounted
event.0x48.0x01 = L1D_PEND_MISS.PENDING uncounted
event.0x51.0x01 = L1D.REPLACEMENT uncounted
event.0x79.0x04 = IDQ.MITE_UOPS uncounted
event.0x79.0x08 = IDQ.DSB_UOPS uncounted
event.0x79.0x30 = IDQ.MS_UOPS uncounted
event.0x80.0x04 = ICACHE_DATA.STALLS uncounted
event.0x83.0x02 = ICACHE_64B.IFTAG_MISS uncounted
event.0x87.0x01 = ILD_STALL.LCP uncounted
event.0xa2.0x01 = RESOURCE_STALLS.ANY uncounted
event.0xa2.0x08 = RESOURCE_STALLS.SB uncounted
event.0xa8.0x01 = LSD.UOPS uncounted
event.0xab.0x02 = DSB2MITE_SWITCHES.PENALTY_CYCLES uncounted
event.0xb0.0x01 = OFFCORE_REQUESTS.DEMAND_DATA_RD uncounted
event.0xb1.0x01 = UOPS_EXECUTED.THREAD uncounted
event.0xb7.0x01 = OFFCORE_RESPONSE_0 uncounted
event.0xbb.0x01 = OFFCORE_RESPONSE_1 uncounted
event.0xc3.0x01 = MACHINE_CLEARS.COUNT uncounted
event.0xc3.0x02 = MACHINE_CLEARS.MEMORY_ORDERING uncounted
event.0xc3.0x04 = MACHINE_CLEARS.SMC uncounted
event.0xc7.0x01 = FP_ARITH_INST_RETIRED.SCALAR_DOUBLE uncounted
event.0xc7.0x02 = FP_ARITH_INST_RETIRED.SCALAR_SINGLE uncounted
event.0xd0.0x11 = MEM_INST_RETIRED.STLB_MISS_LOADS uncounted
event.0xd0.0x12 = MEM_INST_RETIRED.STLB_MISS_STORES uncounted
event.0xd0.0x21 = MEM_INST_RETIRED.LOCK_LOADS uncounted
event.0xd0.0x41 = MEM_INST_RETIRED.SPLIT_LOADS uncounted
event.0xd0.0x42 = MEM_INST_RETIRED.SPLIT_STORES uncounted
event.0xd1.0x40 = MEM_LOAD_RETIRED.FB_HIT uncounted
event.0xf1.0x1f = L2_LINES_IN.ALL uncounted

cache.l1i = 32768 8 64 5
cache.l1d = 49152 12 64 5
cache.l2 = 524288 8 64 13
cache.llc = 8388608 16 64 42

uarch.retire_width = 5
# The window, fetch and line fill buffers: Intel's Optimization Reference Manual, in part from memory;
# the streamer's distance and lat_forward: from memory.
uarch.window = 352
uarch.fetch_bytes = 32
uarch.misses = 12
uarch.prefetch = 20
uarch.memory_latency = 230
uarch.mispredict_penalty = 17
uarch.predictor_bits = 14
uarch.lat_mul = 3
uarch.lat_forward = 5
uarch.lat_div = 18
uarch.lat_io = 400
uarch.lat_msr = 100
uarch.lat_tsc = 25 # this and lat_pause: Agner Fog, "Instruction tables"
uarch.lat_pause = 140
uarch.lat_serialize = 100
