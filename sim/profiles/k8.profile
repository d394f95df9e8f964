# Athlon 64 X2 3800+, Manchester (K8): AMD's four counters of old
#
# Four counters of 48 bits at C001_0000H, events of eight bits, each with its own enable alone: no
# register has the overflows. Family 0FH, model 2BH, stepping 1.
# Sources: AMD64 Architecture Programmer's Manual (APM) vol. 2 "Performance Monitoring Counters";
# the BIOS and Kernel Developer's Guide for the AMD Athlon 64 and Opteron (26094) for events, from
# memory, as Linux arch/x86/events/amd/core.c and libpfm4's events of the K8 have them; that an
# interrupt counts as an instruction as CodeAnalyst's text of the Athlon has it; CPUID from the dump
# 0020FB1 of the InstLatx64 collection but for 8000_0005H to 8000_0008H, which are from memory, as are
# the widths and latencies of the Software Optimization Guide (25112) and the machine-check banks.
#
# Of the processor's features only those are announced that the simulator executes:
# docs/simulator.md, "What the processors announce", lists what the silicon has besides. The APIC IDs
# and the numbers of cores are filled in for each processor.

name = k8
description = Athlon 64 X2 3800+, K8: AMD's four counters of old

cpuid.0x0 = 0x00000001 0x68747541 0x444d4163 0x69746e65
cpuid.0x1 = 0x00020fb1 0x00000800 0x00000001 0x078bfbfd
cpuid.0x80000000 = 0x80000018 0x68747541 0x444d4163 0x69746e65
cpuid.0x80000001 = 0x00020fb1 0x00000150 0x00000001 0x21d3fbfd
cpuid.0x80000002 = 0x20444d41 0x6c687441 0x74286e6f 0x3620296d
cpuid.0x80000003 = 0x32582034 0x61754420 0x6f43206c 0x50206572
cpuid.0x80000004 = 0x65636f72 0x726f7373 0x30383320 0x00202b30
cpuid.0x80000005 = 0xff08ff08 0xff20ff20 0x40020140 0x40020140
cpuid.0x80000006 = 0 0x42004200 0x02008140 0
cpuid.0x80000007 = 0 0 0 0
cpuid.0x80000008 = 0x00003028 0 0 0

msr.mtrr_variable = 8
msr.mcg_cap = 0x105

clock.core_hz = 2000000000
clock.tsc_hz = 2000000000
clock.ref_hz = 2000000000
clock.apic_hz = 200000000

pmu.version = 0 # of leaf 0AH, which is Intel's
pmu.general = 4
pmu.general_width = 48
pmu.pin_control = yes
pmu.skid = 20

event.0x76.0x00 = CPU_CLK_UNHALTED core-cycle
# Interrupts and exceptions are instructions and branches here.
event.0xc0.0x00 = RETIRED_INSTRUCTIONS insn-delivered
event.0xc1.0x00 = RETIRED_UOPS uops
event.0xc2.0x00 = RETIRED_BRANCH_INSTRUCTIONS branch-delivered
event.0xc3.0x00 = RETIRED_MISPREDICTED_BRANCH_INSTRUCTIONS mispredict
event.0xc4.0x00 = RETIRED_TAKEN_BRANCH_INSTRUCTIONS taken-delivered
event.0xc6.0x00 = RETIRED_FAR_CONTROL_TRANSFERS branch-far
event.0xc8.0x00 = RETIRED_NEAR_RETURNS branch-ret
event.0xcf.0x00 = INTERRUPTS_TAKEN interrupt
# Known and not counted, from the same list; the cycles with masked interrupts count in HLT too.
event.0x40.0x00 = DATA_CACHE_ACCESSES uncounted
event.0x41.0x00 = DATA_CACHE_MISSES uncounted
event.0x45.0x00 = L1_DTLB_MISS_AND_L2_DTLB_HIT uncounted
event.0x46.0x00 = L1_DTLB_AND_L2_DTLB_MISS uncounted
event.0x7d.0x07 = REQUESTS_TO_L2 uncounted
event.0x7e.0x07 = L2_CACHE_MISS uncounted
event.0x80.0x00 = INSTRUCTION_CACHE_FETCHES uncounted
event.0x81.0x00 = INSTRUCTION_CACHE_MISSES uncounted
event.0xc5.0x00 = RETIRED_TAKEN_BRANCH_INSTRUCTIONS_MISPREDICTED uncounted
event.0xc7.0x00 = RETIRED_BRANCH_RESYNCS uncounted
event.0xc9.0x00 = RETIRED_NEAR_RETURNS_MISPREDICTED uncounted
event.0xca.0x00 = RETIRED_INDIRECT_BRANCHES_MISPREDICTED uncounted
event.0xcd.0x00 = INTERRUPTS_MASKED_CYCLES uncounted
event.0xce.0x00 = INTERRUPTS_MASKED_CYCLES_WITH_INTERRUPT_PENDING uncounted
event.0xd0.0x00 = DECODER_EMPTY uncounted
event.0xd1.0x00 = DISPATCH_STALLS uncounted

cache.l1i = 65536 2 64 3
cache.l1d = 65536 2 64 3
cache.l2 = 524288 16 64 12
cache.llc = 0 0 0 0
uarch.retire_width = 3
uarch.window = 72
uarch.fetch_bytes = 16
uarch.misses = 8
uarch.prefetch = 0
uarch.memory_latency = 110
uarch.mispredict_penalty = 11
uarch.predictor_bits = 12
uarch.lat_mul = 3
uarch.lat_forward = 3
uarch.lat_div = 40
uarch.lat_io = 400
uarch.lat_msr = 60
uarch.lat_tsc = 7
uarch.lat_pause = 2
uarch.lat_serialize = 50
