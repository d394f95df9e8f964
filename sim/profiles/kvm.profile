# A KVM guest on Skylake: perfmon version 2
#
# What KVM shows a guest of -cpu host: version 2 whatever the host has, hypervisor bit, no PEBS,
# no BTS, no last branch records, no freeze on PMI, full-width writes. Family 6, model 55H,
# stepping 4.
# Sources: Linux arch/x86/kvm/{cpuid,pmu}.c, arch/x86/kvm/vmx/pmu_intel.c,
# Documentation/virt/kvm/x86/cpuid.rst; SDM vol. 3 "Architectural Performance Monitoring Version
# 2".
#
# Of the processor's features only those are announced that the simulator executes:
# docs/simulator.md, "What the processors announce", lists what the silicon has besides. DS, DTES64,
# PDCM and leaf 0AH follow from the pmu fields. The APIC IDs in leaves 1 and 0BH are filled in for
# each processor.

name = kvm
description = A KVM guest on Skylake: perfmon version 2
microcode = 1 # KVM and QEMU say so where nobody sets another

cpuid.0x0 = 0x00000016 0x756e6547 0x6c65746e 0x49656e69
cpuid.0x1 = 0x00050654 0x00010800 0x95fa2203 0x0f8bfbfd
cpuid.0x2 = 0x76036301 0x00f0b5ff 0 0x00c30000
cpuid.0x4.0 = 0x00000121 0x01c0003f 0x0000003f 0x00000000
cpuid.0x4.1 = 0x00000122 0x01c0003f 0x0000003f 0x00000000
cpuid.0x4.2 = 0x00000143 0x03c0003f 0x000003ff 0x00000000
cpuid.0x4.3 = 0x00000163 0x03c0003f 0x00003fff 0x00000000
cpuid.0x4.4 = 0 0 0 0
cpuid.0x6 = 0x00000004 0 0 0
cpuid.0x7.0 = 0 0x009827ab 0 0
cpuid.0xb.0 = 0 1 0x00000100 0
cpuid.0xb.1 = 4 8 0x00000201 0
cpuid.0xd.1 = 15 0 0 0
cpuid.0x15 = 0 0 0 0
cpuid.0x16 = 2100 3700 100 0
# "KVMKVMKVM"
cpuid.0x40000000 = 0x40000001 0x4b4d564b 0x564b4d56 0x0000004d
cpuid.0x40000001 = 0 0 0 0
cpuid.0x80000000 = 0x80000008 0 0 0
cpuid.0x80000001 = 0 0 0x00000121 0x2c100800
cpuid.0x80000002 = 0x65746e49 0x2952286c 0x6f655820 0x2952286e
cpuid.0x80000003 = 0x6c6f4720 0x31362064 0x43203033 0x40205550
cpuid.0x80000004 = 0x312e3220 0x7a484730 0x00000000 0x00000000
cpuid.0x80000005 = 0 0 0 0
cpuid.0x80000006 = 0 0 0x04008040 0
cpuid.0x80000007 = 0 0 0 0x00000100
cpuid.0x80000008 = 0x0000302e 0 0 0

msr.smi_count = yes
msr.mtrr_variable = 8
msr.mcg_cap = 0x100010a

clock.core_hz = 2800000000
clock.tsc_hz = 2100000000
clock.ref_hz = 25000000
clock.apic_hz = 1000000000

pmu.version = 2
pmu.general = 4
pmu.general_width = 48
pmu.fixed = 3
pmu.fixed_width = 48
pmu.events_length = 7
pmu.events_unavailable = 0
pmu.anythread = no
pmu.pin_control = no
pmu.full_width = yes
pmu.has_capabilities = yes
pmu.capabilities = 0x2000
pmu.misc_enable = 0x1
pmu.bts = no
pmu.ds64 = no
pmu.bts_predicted = no
pmu.pebs_counters = 0
pmu.pebs_format = 0
pmu.pebs_load_latency = no
pmu.lbr_depth = 0
pmu.lbr_format = 0
pmu.lbr_select = no
pmu.offcore_rsp = 0
pmu.skid = 20
pmu.no_freeze = yes

event.0x3c.0x00 = CPU_CLK_UNHALTED.THREAD_P core-cycle
event.0x3c.0x01 = CPU_CLK_UNHALTED.REF_P ref-cycle
event.0xc0.0x00 = INST_RETIRED.ANY_P insn
event.0xc4.0x00 = BR_INST_RETIRED.ALL_BRANCHES branch
event.0xc5.0x00 = BR_MISP_RETIRED.ALL_BRANCHES mispredict
event.0x2e.0x4f = LONGEST_LAT_CACHE.REFERENCE llc-ref
event.0x2e.0x41 = LONGEST_LAT_CACHE.MISS llc-miss
# Linux's topdown-*. What is issued is what retires: the model issues nothing in vain.
event.0x0e.0x01 = UOPS_ISSUED.ANY slots-retiring
event.0xc2.0x02 = UOPS_RETIRED.RETIRE_SLOTS slots-retiring
event.0x9c.0x01 = IDQ_UOPS_NOT_DELIVERED.CORE slots-frontend
event.0x0d.0x01 = INT_MISC.RECOVERY_CYCLES recovery-cycle

cache.l1i = 32768 8 64 4
cache.l1d = 32768 8 64 4
cache.l2 = 1048576 16 64 14
cache.llc = 16777216 16 64 50

uarch.retire_width = 4
# The window, fetch and line fill buffers: Intel's Optimization Reference Manual, in part from memory;
# the streamer's distance and lat_forward: from memory.
uarch.window = 224
uarch.fetch_bytes = 32
uarch.misses = 10
uarch.prefetch = 20
uarch.memory_latency = 250
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
