# A virtual machine that hides the PMU (perfmon version 0)
#
# What most clouds and QEMU's TCG show: an Intel family 6 processor with the hypervisor bit and
# CPUID leaf 0AH all zero. No DS, no last branch records. Family, model and stepping are those of
# a Skylake (06_5EH, 3).
# Sources: SDM vol. 2 "CPUID", vol. 3 "Performance Monitoring".
#
# Of the processor's features only those are announced that the simulator executes:
# docs/simulator.md, "What the processors announce", lists what the silicon has besides. DS, DTES64,
# PDCM and leaf 0AH follow from the pmu fields. The APIC IDs in leaves 1 and 0BH are filled in for
# each processor.

name = none
description = A virtual machine that hides the PMU (perfmon version 0)
microcode = 1

cpuid.0x0 = 0x0000000d 0x756e6547 0x6c65746e 0x49656e69
cpuid.0x1 = 0x000506e3 0x00010800 0x95fa2203 0x0f8bfbfd
cpuid.0x2 = 0x76036301 0x00f0b5ff 0 0x00c30000
cpuid.0x4.0 = 0x00000121 0x01c0003f 0x0000003f 0x00000000
cpuid.0x4.1 = 0x00000122 0x01c0003f 0x0000003f 0x00000000
cpuid.0x4.2 = 0x00000143 0x00c0003f 0x000003ff 0x00000000
cpuid.0x4.3 = 0x00000163 0x03c0003f 0x00001fff 0x00000000
cpuid.0x4.4 = 0 0 0 0
cpuid.0x6 = 0x00000004 0 0 0
cpuid.0x7.0 = 0 0x009827ab 0 0
cpuid.0xb.0 = 0 1 0x00000100 0
cpuid.0xb.1 = 4 8 0x00000201 0
cpuid.0xd.1 = 15 0 0 0
cpuid.0x80000000 = 0x80000008 0 0 0
cpuid.0x80000001 = 0 0 0x00000121 0x2c100800
cpuid.0x80000002 = 0x74726956 0x206c6175 0x636f7250 0x6f737365
cpuid.0x80000003 = 0x69772072 0x756f6874 0x20612074 0x00554d50
cpuid.0x80000004 = 0x00000000 0x00000000 0x00000000 0x00000000
cpuid.0x80000005 = 0 0 0 0
cpuid.0x80000006 = 0 0 0x01006040 0
cpuid.0x80000007 = 0 0 0 0x00000100
cpuid.0x80000008 = 0x00003027 0 0 0

msr.mtrr_variable = 8
msr.mcg_cap = 0x100010a

clock.core_hz = 3000000000
clock.tsc_hz = 3000000000
clock.ref_hz = 100000000
clock.apic_hz = 1000000000

pmu.version = 0
pmu.misc_enable = 0x1

cache.l1i = 32768 8 64 4
cache.l1d = 32768 8 64 4
cache.l2 = 262144 4 64 12
cache.llc = 8388608 16 64 42

uarch.retire_width = 4
# The window, fetch and line fill buffers: Intel's Optimization Reference Manual, in part from memory;
# the streamer's distance and lat_forward: from memory.
uarch.window = 168
uarch.fetch_bytes = 32
uarch.misses = 10
uarch.prefetch = 20
uarch.memory_latency = 200
uarch.mispredict_penalty = 16
uarch.predictor_bits = 12
uarch.lat_mul = 3
uarch.lat_forward = 5
uarch.lat_div = 26
uarch.lat_io = 400
uarch.lat_msr = 100
uarch.lat_tsc = 25 # this and lat_pause: Agner Fog, "Instruction tables"
uarch.lat_pause = 140
uarch.lat_serialize = 100
