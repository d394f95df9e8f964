# Celeron J3455, Goldmont (Apollo Lake): perfmon version 4
#
# 4 x 48-bit general counters, 3 fixed, AnyThread, 32 last branch records whose To registers have the
# cycles in their upper bits (LBR_FMT 6), PEBS format 3 on IA32_PMC0 alone and without load latency.
# Two levels of cache. Family 6, model 5CH, stepping 9.
# Sources: SDM vol. 3 "Intel Atom Processors Based on the Goldmont Microarchitecture" of the chapter
# on performance monitoring (PEBS on IA32_PMC0, the table of precise events, the record); vol. 4, MSRs
# of this family and model (MSR_LASTBRANCH_x_TO_IP); Intel's perfmon event list for Goldmont, V13;
# Linux arch/x86/events/intel/{core,ds,lbr}.c; CPUID leaf 0AH from the dumps of the InstLatx64
# collection, 15H and the revision of the microcode from memory, the others composed; cache and
# latency figures from Intel's optimization reference manual, rounded. IA32_PERF_CAPABILITIES is
# composed, and LBR_FMT in it from the layout of the records. PEBS on
# IA32_PMC0 takes all events, precise or not.
#
# Of the processor's features only those are announced that the simulator executes:
# docs/simulator.md, "What the processors announce", lists what the silicon has besides. DS, DTES64,
# PDCM and leaf 0AH follow from the pmu fields. The APIC IDs in leaves 1 and 0BH are filled in for
# each processor.

name = goldmont
description = Celeron J3455, Goldmont (Apollo Lake): perfmon version 4
microcode = 0x48

cpuid.0x0 = 0x00000015 0x756e6547 0x6c65746e 0x49656e69
cpuid.0x1 = 0x000506c9 0x00010800 0x05f82213 0x0f8bfbfd
cpuid.0x2 = 0x00feff01 0x000000f0 0 0
cpuid.0x4.0 = 0x00000121 0x0140003f 0x0000003f 0x00000000
cpuid.0x4.1 = 0x00000122 0x01c0003f 0x0000003f 0x00000000
cpuid.0x4.2 = 0x00000143 0x03c0003f 0x000003ff 0x00000000
cpuid.0x4.3 = 0 0 0 0
cpuid.0x6 = 0x00000004 0 1 0
cpuid.0x7.0 = 0 0x00902283 0 0
cpuid.0xb.0 = 0 1 0x00000100 0
cpuid.0xb.1 = 4 8 0x00000201 0
cpuid.0xd.1 = 15 0 0 0
# TSC = crystal * 234 / 3; the crystal (ECX) is 0: 19.2 MHz by model.
cpuid.0x15 = 3 234 0 0
cpuid.0x80000000 = 0x80000008 0 0 0
cpuid.0x80000001 = 0 0 0x00000101 0x2c100800
cpuid.0x80000002 = 0x65746e49 0x2952286c 0x6c654320 0x6e6f7265
cpuid.0x80000003 = 0x20295228 0x20555043 0x3534334a 0x20402035
cpuid.0x80000004 = 0x30352e31 0x007a4847 0x00000000 0x00000000
cpuid.0x80000005 = 0 0 0 0
cpuid.0x80000006 = 0 0 0x04008040 0
cpuid.0x80000007 = 0 0 0 0x00000100
cpuid.0x80000008 = 0x00003027 0 0 0

msr.smi_count = yes
msr.mtrr_variable = 10
msr.mcg_cap = 0x807
msr.platform_info = 0x80000000f00
msr.turbo_ratio_limit = 0x17171717

clock.core_hz = 2300000000 # burst
clock.tsc_hz = 1497600000
clock.ref_hz = 1497600000
clock.apic_hz = 19200000

pmu.version = 4
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
pmu.capabilities = 0x33c6
pmu.misc_enable = 0x850089
pmu.bts = yes
pmu.ds64 = yes
pmu.bts_predicted = yes
pmu.pebs_counters = 1
pmu.pebs_format = 3
pmu.pebs_load_latency = no
pmu.lbr_depth = 32
pmu.lbr_format = 6
pmu.lbr_select = yes
pmu.lbr_callstack = yes
pmu.lbr_info = no
pmu.offcore_rsp = 2
pmu.skid = 20

event.0x3c.0x00 = CPU_CLK_UNHALTED.CORE_P core-cycle pebs
event.0x3c.0x01 = CPU_CLK_UNHALTED.REF ref-cycle pebs
event.0xc0.0x00 = INST_RETIRED.ANY_P insn pebs
event.0xc4.0x00 = BR_INST_RETIRED.ALL_BRANCHES branch pebs
event.0xc5.0x00 = BR_MISP_RETIRED.ALL_BRANCHES mispredict pebs
event.0x2e.0x4f = LONGEST_LAT_CACHE.REFERENCE llc-ref pebs
event.0x2e.0x41 = LONGEST_LAT_CACHE.MISS llc-miss pebs
event.0xc4.0x7e = BR_INST_RETIRED.JCC branch-cond pebs
event.0xc4.0xf9 = BR_INST_RETIRED.CALL branch-call pebs
event.0xc4.0xf7 = BR_INST_RETIRED.RETURN branch-ret pebs
event.0xc4.0xbf = BR_INST_RETIRED.FAR_BRANCH branch-far pebs
event.0xc4.0x80 = BR_INST_RETIRED.ALL_TAKEN_BRANCHES branch-taken pebs
event.0xd0.0x81 = MEM_UOPS_RETIRED.ALL_LOADS load pebs
event.0xd0.0x82 = MEM_UOPS_RETIRED.ALL_STORES store pebs
event.0xd1.0x01 = MEM_LOAD_UOPS_RETIRED.L1_HIT l1-hit pebs
event.0xd1.0x02 = MEM_LOAD_UOPS_RETIRED.L2_HIT l2-hit pebs
event.0xd1.0x08 = MEM_LOAD_UOPS_RETIRED.L1_MISS l1-miss pebs
event.0xd1.0x10 = MEM_LOAD_UOPS_RETIRED.L2_MISS l2-miss pebs
event.0xcb.0x01 = HW_INTERRUPTS.RECEIVED interrupt pebs
event.0xcb.0x02 = HW_INTERRUPTS.MASKED masked-cycle pebs
event.0xcb.0x04 = HW_INTERRUPTS.PENDING_AND_MASKED waiting-cycle pebs
# Linux's topdown-*: to it, a micro-operation is a slot. What is issued is what retires: the model issues nothing in vain.
event.0x0e.0x00 = UOPS_ISSUED.ANY slots-retiring pebs
event.0xc2.0x00 = UOPS_RETIRED.ANY slots-retiring pebs
event.0x9c.0x00 = UOPS_NOT_DELIVERED.ANY slots-frontend pebs
event.0xca.0x02 = ISSUE_SLOTS_NOT_CONSUMED.RECOVERY slots-bad-spec pebs
# Known and not counted, from memory of Intel's event list.
event.0x03.0x02 = LD_BLOCKS.STORE_FORWARD uncounted
event.0x80.0x02 = ICACHE.MISSES uncounted
event.0x81.0x04 = ITLB.MISS uncounted
event.0xb7.0x01 = OFFCORE_RESPONSE uncounted
event.0xc3.0x01 = MACHINE_CLEARS.SMC uncounted
event.0xcd.0x00 = CYCLES_DIV_BUSY.ALL uncounted
event.0xe6.0x01 = BACLEARS.ALL uncounted

cache.l1i = 32768 8 64 3
cache.l1d = 24576 6 64 3
cache.l2 = 1048576 16 64 17
cache.llc = 0 0 0 0

uarch.retire_width = 3
# The window, fetch and line fill buffers: Intel's Optimization Reference Manual, in part from memory;
# the streamer's distance and lat_forward: from memory.
uarch.window = 78
uarch.fetch_bytes = 16
uarch.misses = 8
uarch.prefetch = 8
uarch.memory_latency = 200
uarch.mispredict_penalty = 13
uarch.predictor_bits = 14
uarch.lat_mul = 3
uarch.lat_forward = 5
uarch.lat_div = 30
uarch.lat_io = 400
uarch.lat_msr = 100
uarch.lat_tsc = 25 # this and lat_pause: from memory
uarch.lat_pause = 24
uarch.lat_serialize = 100
