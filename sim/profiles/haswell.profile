# Core i7-4770, Haswell: perfmon version 3
#
# 4 x 48-bit general counters, 3 fixed, PEBS format 2 with EventingIP, 16 last branch records with
# TSX flags in the FROM registers (the model has no transactions: they stay 0). Family 6, model
# 3CH, stepping 3.
# Sources: SDM vol. 3 "Performance Monitoring for 4th Generation Intel Core Processors"; SDM vol.
# 4, MSRs of this family and model; Linux arch/x86/events/intel/{core,ds,lbr}.c; cache and latency
# figures from Intel's optimization reference manual, rounded. MSR_LBR_SELECT.EN_CALLSTACK is not
# modelled: writing it is #GP.
#
# Of the processor's features only those are announced that the simulator executes:
# docs/simulator.md, "What the processors announce", lists what the silicon has besides. DS, DTES64,
# PDCM and leaf 0AH follow from the pmu fields. The APIC IDs in leaves 1 and 0BH are filled in for
# each processor.

name = haswell
description = Core i7-4770, Haswell: perfmon version 3
microcode = 0x28

cpuid.0x0 = 0x0000000d 0x756e6547 0x6c65746e 0x49656e69
cpuid.0x1 = 0x000306c3 0x00010800 0x15fa2213 0x0f8bfbfd
cpuid.0x2 = 0x76036301 0x00f0b5ff 0 0x00c10000
cpuid.0x4.0 = 0x00000121 0x01c0003f 0x0000003f 0x00000000
cpuid.0x4.1 = 0x00000122 0x01c0003f 0x0000003f 0x00000000
cpuid.0x4.2 = 0x00000143 0x01c0003f 0x000001ff 0x00000000
cpuid.0x4.3 = 0x00000163 0x03c0003f 0x00001fff 0x00000000
cpuid.0x4.4 = 0 0 0 0
cpuid.0x6 = 0x00000004 0 1 0
cpuid.0x7.0 = 0 0x000027ab 0 0
cpuid.0xb.0 = 0 1 0x00000100 0
cpuid.0xb.1 = 4 8 0x00000201 0
cpuid.0xd.1 = 1 0 0 0
cpuid.0x80000000 = 0x80000008 0 0 0
cpuid.0x80000001 = 0 0 0x00000021 0x2c100800
cpuid.0x80000002 = 0x65746e49 0x2952286c 0x726f4320 0x4d542865
cpuid.0x80000003 = 0x37692029 0x3737342d 0x50432030 0x20402055
cpuid.0x80000004 = 0x30342e33 0x007a4847 0x00000000 0x00000000
cpuid.0x80000005 = 0 0 0 0
cpuid.0x80000006 = 0 0 0x01006040 0
cpuid.0x80000007 = 0 0 0 0x00000100
cpuid.0x80000008 = 0x00003027 0 0 0

msr.smi_count = yes
msr.mtrr_variable = 10
msr.mcg_cap = 0x809
msr.platform_id = 1
msr.platform_info = 0x80080002200
msr.turbo_ratio_limit = 0x25262727

clock.core_hz = 3900000000 # turbo
clock.tsc_hz = 3400000000
clock.ref_hz = 100000000
clock.apic_hz = 100000000

pmu.version = 3
pmu.general = 4
pmu.general_width = 48
pmu.fixed = 3
pmu.fixed_width = 48
pmu.events_length = 7
pmu.events_unavailable = 0
pmu.anythread = yes
pmu.pin_control = no
pmu.full_width = yes
pmu.has_capabilities = yes
pmu.capabilities = 0x32c4
pmu.misc_enable = 0x850089
pmu.bts = yes
pmu.ds64 = yes
pmu.bts_predicted = yes
pmu.pebs_counters = 0xf
pmu.pebs_format = 2
pmu.pebs_load_latency = yes
pmu.lbr_depth = 16
pmu.lbr_format = 4
pmu.lbr_select = yes
pmu.lbr_callstack = yes
pmu.offcore_rsp = 2
pmu.skid = 20

event.0x3c.0x00 = CPU_CLK_UNHALTED.THREAD_P core-cycle
event.0x3c.0x01 = CPU_CLK_UNHALTED.REF_P ref-cycle
event.0xc0.0x00 = INST_RETIRED.ANY_P insn
event.0xc4.0x00 = BR_INST_RETIRED.ALL_BRANCHES branch pebs
event.0xc5.0x00 = BR_MISP_RETIRED.ALL_BRANCHES mispredict pebs
event.0x2e.0x4f = LONGEST_LAT_CACHE.REFERENCE llc-ref
event.0x2e.0x41 = LONGEST_LAT_CACHE.MISS llc-miss
event.0xc0.0x01 = INST_RETIRED.PREC_DIST insn pebs counters=0x2
event.0xc2.0x01 = UOPS_RETIRED.ALL uops pebs
event.0xc4.0x01 = BR_INST_RETIRED.CONDITIONAL branch-cond pebs
event.0xc4.0x02 = BR_INST_RETIRED.NEAR_CALL branch-call pebs
event.0xc4.0x08 = BR_INST_RETIRED.NEAR_RETURN branch-ret pebs
event.0xc4.0x20 = BR_INST_RETIRED.NEAR_TAKEN branch-taken pebs
event.0xc4.0x40 = BR_INST_RETIRED.FAR_BRANCH branch-far
event.0xcd.0x01 = MEM_TRANS_RETIRED.LOAD_LATENCY load pebs latency
event.0xd0.0x81 = MEM_UOPS_RETIRED.ALL_LOADS load pebs
event.0xd0.0x82 = MEM_UOPS_RETIRED.ALL_STORES store pebs
event.0xd1.0x01 = MEM_LOAD_UOPS_RETIRED.L1_HIT l1-hit pebs
event.0xd1.0x02 = MEM_LOAD_UOPS_RETIRED.L2_HIT l2-hit pebs
event.0xd1.0x04 = MEM_LOAD_UOPS_RETIRED.LLC_HIT llc-hit pebs
# Linux's topdown-*. What is issued is what retires: the model issues nothing in vain.
event.0x0e.0x01 = UOPS_ISSUED.ANY slots-retiring
event.0xc2.0x02 = UOPS_RETIRED.RETIRE_SLOTS slots-retiring pebs
event.0x9c.0x01 = IDQ_UOPS_NOT_DELIVERED.CORE slots-frontend
event.0x0d.0x03 = INT_MISC.RECOVERY_CYCLES recovery-cycle
# Known and not counted, from memory of Intel's event list.
event.0x03.0x02 = LD_BLOCKS.STORE_FORWARD uncounted
event.0x07.0x01 = LD_BLOCKS_PARTIAL.ADDRESS_ALIAS uncounted
event.0x08.0x01 = DTLB_LOAD_MISSES.MISS_CAUSES_A_WALK uncounted
event.0x48.0x01 = L1D_PEND_MISS.PENDING uncounted
event.0x49.0x01 = DTLB_STORE_MISSES.MISS_CAUSES_A_WALK uncounted
event.0x51.0x01 = L1D.REPLACEMENT uncounted
event.0x79.0x04 = IDQ.MITE_UOPS uncounted
event.0x79.0x08 = IDQ.DSB_UOPS uncounted
event.0x79.0x30 = IDQ.MS_UOPS uncounted
event.0x80.0x02 = ICACHE.MISSES uncounted
event.0x85.0x01 = ITLB_MISSES.MISS_CAUSES_A_WALK uncounted
event.0x87.0x01 = ILD_STALL.LCP uncounted
event.0xa1.0x01 = UOPS_DISPATCHED_PORT.PORT_0 uncounted
event.0xa2.0x01 = RESOURCE_STALLS.ANY uncounted
event.0xa2.0x08 = RESOURCE_STALLS.SB uncounted
event.0xb0.0x01 = OFFCORE_REQUESTS.DEMAND_DATA_RD uncounted
event.0xb7.0x01 = OFFCORE_RESPONSE_0 uncounted
event.0xbb.0x01 = OFFCORE_RESPONSE_1 uncounted
event.0xc3.0x02 = MACHINE_CLEARS.MEMORY_ORDERING uncounted
event.0xc3.0x04 = MACHINE_CLEARS.SMC uncounted
event.0xca.0x1e = FP_ASSIST.ANY uncounted
event.0xf1.0x07 = L2_LINES_IN.ALL uncounted

cache.l1i = 32768 8 64 4
cache.l1d = 32768 8 64 4
cache.l2 = 262144 8 64 12
cache.llc = 8388608 16 64 36

uarch.retire_width = 4
# The window, fetch and line fill buffers: Intel's Optimization Reference Manual, in part from memory;
# the streamer's distance and lat_forward: from memory.
uarch.window = 192
uarch.fetch_bytes = 32
uarch.misses = 10
uarch.prefetch = 20
uarch.memory_latency = 200
uarch.mispredict_penalty = 16
uarch.predictor_bits = 12
uarch.lat_mul = 3
uarch.lat_forward = 5
uarch.lat_div = 28
uarch.lat_io = 400
uarch.lat_msr = 100
uarch.lat_tsc = 24 # this and lat_pause: Agner Fog, "Instruction tables"
uarch.lat_pause = 9
uarch.lat_serialize = 100
