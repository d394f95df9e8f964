# Core i5-650, Westmere (Clarkdale): perfmon version 3
#
# The generation of the machine in the book: 4 x 48-bit general counters, 3 fixed, PEBS format 1,
# 16 last branch records with flags in the FROM registers. Family 6, model 25H, stepping 5.
# Sources: SDM vol. 3 "Performance Monitoring for Processors Based on Nehalem / Westmere
# Microarchitecture", "Last Branch, Interrupt, and Exception Recording for ... Nehalem"; SDM vol.
# 4, MSRs of 06_25H; Linux arch/x86/events/intel/{core,ds,lbr}.c (events, PEBS constraints, LBR
# format and depth); Intel's specification update for the Core i5-600 series (signature 20655H);
# cache and latency figures from Intel's optimization reference manual, Nehalem chapter, rounded.
# No full-width writes: IA32_PERF_CAPABILITIES[13] came with Sandy Bridge.
#
# Of the processor's features only those are announced that the simulator executes:
# docs/simulator.md, "What the processors announce", lists what the silicon has besides. DS, DTES64,
# PDCM and leaf 0AH follow from the pmu fields. The APIC IDs in leaves 1 and 0BH are filled in for
# each processor.

name = westmere
description = Core i5-650, Westmere (Clarkdale): perfmon version 3
microcode = 0x7

cpuid.0x0 = 0x0000000b 0x756e6547 0x6c65746e 0x49656e69
cpuid.0x1 = 0x00020655 0x00010800 0x009a2213 0x0f8bfbfd
cpuid.0x2 = 0x55035a01 0x00f0b2e3 0 0x09ca212c
cpuid.0x4.0 = 0x00000121 0x01c0003f 0x0000003f 0x00000000
cpuid.0x4.1 = 0x00000122 0x00c0003f 0x0000007f 0x00000000
cpuid.0x4.2 = 0x00000143 0x01c0003f 0x000001ff 0x00000000
cpuid.0x4.3 = 0x00000163 0x03c0003f 0x00000fff 0x00000000
cpuid.0x4.4 = 0 0 0 0
cpuid.0x6 = 0x00000004 0 1 0
cpuid.0xb.0 = 0 1 0x00000100 0
cpuid.0xb.1 = 4 8 0x00000201 0
cpuid.0x80000000 = 0x80000008 0 0 0
cpuid.0x80000001 = 0 0 0x00000001 0x28100800
cpuid.0x80000002 = 0x65746e49 0x2952286c 0x726f4320 0x4d542865
cpuid.0x80000003 = 0x35692029 0x55504320 0x20202020 0x20202020
cpuid.0x80000004 = 0x30353620 0x20402020 0x30322e33 0x007a4847
cpuid.0x80000005 = 0 0 0 0
cpuid.0x80000006 = 0 0 0x01006040 0
cpuid.0x80000007 = 0 0 0 0x00000100
cpuid.0x80000008 = 0x00003024 0 0 0

msr.smi_count = yes
msr.mtrr_variable = 10
msr.mcg_cap = 0x809
msr.platform_id = 1
msr.platform_info = 0x90000001800
msr.turbo_ratio_limit = 0x191a

clock.core_hz = 3466666667 # one step of turbo
clock.tsc_hz = 3200000000
clock.ref_hz = 133333333
clock.apic_hz = 133333333

pmu.version = 3
pmu.general = 4
pmu.general_width = 48
pmu.fixed = 3
pmu.fixed_width = 48
pmu.events_length = 7
pmu.events_unavailable = 0
pmu.anythread = yes
pmu.pin_control = yes
pmu.full_width = no
pmu.has_capabilities = yes
pmu.capabilities = 0x11c3
pmu.misc_enable = 0x850089
pmu.bts = yes
pmu.ds64 = yes
pmu.bts_predicted = yes
pmu.pebs_counters = 0xf
pmu.pebs_format = 1
pmu.pebs_load_latency = yes
pmu.lbr_depth = 16
pmu.lbr_format = 3
pmu.lbr_select = yes
pmu.offcore_rsp = 2
pmu.skid = 20

event.0x3c.0x00 = CPU_CLK_UNHALTED.THREAD_P core-cycle
event.0x3c.0x01 = CPU_CLK_UNHALTED.REF_P ref-cycle
event.0xc0.0x00 = INST_RETIRED.ANY_P insn pebs
event.0xc4.0x00 = BR_INST_RETIRED.ALL_BRANCHES branch pebs
event.0xc5.0x00 = BR_MISP_RETIRED.ALL_BRANCHES mispredict pebs
event.0x2e.0x4f = LONGEST_LAT_CACHE.REFERENCE llc-ref
event.0x2e.0x41 = LONGEST_LAT_CACHE.MISS llc-miss
event.0xc2.0x01 = UOPS_RETIRED.ANY uops pebs
event.0xc4.0x01 = BR_INST_RETIRED.CONDITIONAL branch-cond pebs
event.0xc4.0x02 = BR_INST_RETIRED.NEAR_CALL branch-call pebs
event.0x0b.0x01 = MEM_INST_RETIRED.LOADS load pebs
event.0x0b.0x02 = MEM_INST_RETIRED.STORES store pebs
event.0x0b.0x10 = MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD load pebs latency
event.0xcb.0x01 = MEM_LOAD_RETIRED.L1D_HIT l1-hit pebs
event.0xcb.0x02 = MEM_LOAD_RETIRED.L2_HIT l2-hit pebs
event.0xcb.0x04 = MEM_LOAD_RETIRED.L3_UNSHARED_HIT llc-hit pebs
# Selected to reset the counters (specification update, AAP53): what they count is not told, it should be nothing.
event.0xb5.0x00 = RESET_1 none
event.0xd2.0x00 = RESET_2 none
event.0xb1.0x00 = RESET_3 none
# Known and not counted, from memory of Intel's event list.
event.0x03.0x02 = LOAD_BLOCK.OVERLAP_STORE uncounted
event.0x08.0x01 = DTLB_LOAD_MISSES.ANY uncounted
event.0x0e.0x01 = UOPS_ISSUED.ANY uncounted
event.0x14.0x01 = ARITH.CYCLES_DIV_BUSY uncounted
event.0x49.0x01 = DTLB_MISSES.ANY uncounted
event.0x51.0x01 = L1D.REPL uncounted
event.0x80.0x02 = L1I.MISSES uncounted
event.0x85.0x01 = ITLB_MISSES.ANY uncounted
event.0x87.0x01 = ILD_STALL.LCP uncounted
event.0xa2.0x01 = RESOURCE_STALLS.ANY uncounted
event.0xb7.0x01 = OFF_CORE_RESPONSE_0 uncounted
event.0xbb.0x01 = OFF_CORE_RESPONSE_1 uncounted
event.0xc3.0x04 = MACHINE_CLEARS.SMC uncounted
event.0xe6.0x01 = BACLEAR.CLEAR uncounted
event.0xf1.0x07 = L2_LINES_IN.ANY uncounted

cache.l1i = 32768 4 64 4
cache.l1d = 32768 8 64 4
cache.l2 = 262144 8 64 10
cache.llc = 4194304 16 64 40

uarch.retire_width = 4
# The window, fetch and line fill buffers: Intel's Optimization Reference Manual, in part from memory;
# the streamer's distance and lat_forward: from memory.
uarch.window = 128
uarch.fetch_bytes = 16
uarch.misses = 10
uarch.prefetch = 16
uarch.memory_latency = 190
uarch.mispredict_penalty = 17
uarch.predictor_bits = 12
uarch.lat_mul = 3
uarch.lat_forward = 5
uarch.lat_div = 40
uarch.lat_io = 400
uarch.lat_msr = 100
uarch.lat_tsc = 24 # this and lat_pause: Agner Fog, "Instruction tables"
uarch.lat_pause = 9
uarch.lat_serialize = 100
