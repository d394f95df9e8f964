# Core 2 T7200, Merom: an early one that announces perfmon version 1
#
# 2 x 40-bit general counters and nothing else of the architectural PMU: no fixed counters, no
# global registers. BTS, and 4 last branch records at the Core 2 addresses. Family 6, model 0FH,
# stepping 2.
# Sources: SDM vol. 3 "Architectural Performance Monitoring Version 1", "... Intel Core 2 Duo";
# SDM vol. 4, MSRs of this family and model; Linux arch/x86/events/intel/{core,ds,lbr}.c; cache
# and latency figures from Intel's optimization reference manual, rounded. The silicon has global
# registers and PEBS under model-specific names; a machine that announces version 1 is shown
# without them, as software that goes by CPUID must take it.
#
# Of the processor's features only those are announced that the simulator executes:
# docs/simulator.md, "What the processors announce", lists what the silicon has besides. DS, DTES64,
# PDCM and leaf 0AH follow from the pmu fields. The APIC IDs in leaves 1 and 0BH are filled in for
# each processor.

name = merom
description = Core 2 T7200, Merom: an early one that announces perfmon version 1

cpuid.0x0 = 0x0000000a 0x756e6547 0x6c65746e 0x49656e69
cpuid.0x1 = 0x000006f2 0x00010800 0x00002211 0x0f8bfbfd
cpuid.0x2 = 0x05b0b101 0x005657f0 0 0x2cb43049
cpuid.0x4.0 = 0x00000121 0x01c0003f 0x0000003f 0x00000000
cpuid.0x4.1 = 0x00000122 0x01c0003f 0x0000003f 0x00000000
cpuid.0x4.2 = 0x00000143 0x03c0003f 0x00000fff 0x00000000
cpuid.0x4.3 = 0 0 0 0
cpuid.0x6 = 0 0 1 0
cpuid.0x80000000 = 0x80000008 0 0 0
cpuid.0x80000001 = 0 0 0x00000001 0x20100800
cpuid.0x80000002 = 0x65746e49 0x2952286c 0x726f4320 0x4d542865
cpuid.0x80000003 = 0x43203229 0x20205550 0x20202020 0x54202020
cpuid.0x80000004 = 0x30303237 0x20402020 0x30302e32 0x007a4847
cpuid.0x80000005 = 0 0 0 0
cpuid.0x80000006 = 0 0 0x10008040 0
cpuid.0x80000007 = 0 0 0 0
cpuid.0x80000008 = 0x00003024 0 0 0

msr.mtrr_variable = 8
msr.mcg_cap = 0x806
msr.platform_id = 5

clock.core_hz = 2000000000
clock.tsc_hz = 2000000000
clock.ref_hz = 166666667
clock.apic_hz = 166666667

pmu.version = 1
pmu.general = 2
pmu.general_width = 40
pmu.fixed = 0
pmu.fixed_width = 40
pmu.events_length = 7
pmu.events_unavailable = 0
pmu.anythread = no
pmu.pin_control = yes
pmu.full_width = no
pmu.has_capabilities = yes
pmu.capabilities = 0xc1
pmu.misc_enable = 0x850089
pmu.bts = yes
pmu.ds64 = yes
pmu.bts_predicted = no
pmu.pebs_counters = 0
pmu.pebs_format = 0
pmu.pebs_load_latency = no
pmu.lbr_depth = 4
pmu.lbr_format = 1
pmu.lbr_select = no
pmu.offcore_rsp = 0
pmu.skid = 20
pmu.lbr_core2_addresses = yes

event.0x3c.0x00 = CPU_CLK_UNHALTED.CORE_P core-cycle
event.0x3c.0x01 = CPU_CLK_UNHALTED.BUS ref-cycle
event.0xc0.0x00 = INST_RETIRED.ANY_P insn
event.0xc0.0x01 = INST_RETIRED.LOADS load
event.0xc0.0x02 = INST_RETIRED.STORES store
event.0xc2.0x0f = UOPS_RETIRED.ANY uops
event.0xc4.0x00 = BR_INST_RETIRED.ANY branch
event.0xc4.0x0c = BR_INST_RETIRED.TAKEN branch-taken
event.0xc5.0x00 = BR_INST_RETIRED.MISPRED mispredict
event.0x2e.0x4f = L2_RQSTS.SELF.DEMAND.MESI llc-ref
event.0x2e.0x41 = L2_RQSTS.SELF.DEMAND.I_STATE llc-miss
event.0xcb.0x01 = MEM_LOAD_RETIRED.L1D_MISS l1-miss
event.0xcb.0x04 = MEM_LOAD_RETIRED.L2_MISS l2-miss
# Known and not counted, from memory of Intel's event list.
event.0x03.0x02 = LOAD_BLOCK.STA uncounted
event.0x08.0x01 = DTLB_MISSES.ANY uncounted
event.0x13.0x00 = DIV uncounted
event.0x12.0x00 = MUL uncounted
event.0x80.0x00 = L1I_READS uncounted
event.0x81.0x00 = L1I_MISSES uncounted
event.0x82.0x12 = ITLB.MISSES uncounted
event.0x87.0x00 = ILD_STALL uncounted
event.0xc3.0x01 = MACHINE_NUKES.SMC uncounted
event.0xdc.0x1f = RESOURCE_STALLS.ANY uncounted
event.0xe6.0x00 = BACLEARS uncounted

cache.l1i = 32768 8 64 3
cache.l1d = 32768 8 64 3
cache.l2 = 4194304 16 64 14
cache.llc = 0 0 0 0

uarch.retire_width = 4
# The window, fetch and line fill buffers: Intel's Optimization Reference Manual, in part from memory;
# the streamer's distance and lat_forward: from memory.
uarch.window = 96
uarch.fetch_bytes = 16
uarch.misses = 8
uarch.prefetch = 8
uarch.memory_latency = 170
uarch.mispredict_penalty = 15
uarch.predictor_bits = 12
uarch.lat_mul = 3
uarch.lat_forward = 5
uarch.lat_div = 40
uarch.lat_io = 400
uarch.lat_msr = 100
uarch.lat_tsc = 64 # this and lat_pause: Agner Fog, "Instruction tables"
uarch.lat_pause = 8
uarch.lat_serialize = 100
