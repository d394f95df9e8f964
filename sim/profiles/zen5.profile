# Ryzen 7 9700X, Granite Ridge (Zen 5): AMD's PerfMonV2, with the freeze
#
# Six core counters of 48 bits with global control and status, and DebugCtl's freeze (8000_0022H:EAX[0],
# EAX[2]). Family 1AH, model 44H, stepping 0.
# Sources: AMD64 Architecture Programmer's Manual (APM)
# vol. 2 "Performance Monitoring Counters"; the Processor Programming Reference (PPR) of family 1AH
# for events, as Linux tools/perf/pmu-events/arch/x86/amdzen5 and
# arch/x86/events/amd/core.c have them; CPUID from the dump 0B40F40 of the InstLatx64 collection;
# caches from 8000_001DH and 8000_0006H; widths and latencies from AMD's Software Optimization Guide
# (58455) as far as it has them; the others (misses, prefetch, IO, MSR, PAUSE, memory), the skid, the
# machine-check banks and the revision of the microcode from memory.
#
# Of the processor's features only those are announced that the simulator executes:
# docs/simulator.md, "What the processors announce", lists what the silicon has besides. The APIC IDs
# and the numbers of cores are filled in for each processor.

name = zen5
description = Ryzen 7 9700X, Zen 5: AMD PerfMonV2 with freeze
microcode = 0xb404023

cpuid.0x0 = 0x00000010 0x68747541 0x444d4163 0x69746e65
cpuid.0x1 = 0x00b40f40 0x00000800 0x14d82203 0x078bfbfd
cpuid.0x6 = 0x00000004 0 1 0
cpuid.0x7.0 = 0 0x009807ab 4 0
cpuid.0xb.0 = 0 1 0x00000100 0
cpuid.0xb.1 = 4 8 0x00000201 0
cpuid.0xd.1 = 15 0 0 0
cpuid.0x80000000 = 0x80000028 0x68747541 0x444d4163 0x69746e65
cpuid.0x80000001 = 0x00b40f40 0 0x00c00529 0x2dd3fbfd
cpuid.0x80000002 = 0x20444d41 0x657a7952 0x2037206e 0x30303739
cpuid.0x80000003 = 0x2d382058 0x65726f43 0x6f725020 0x73736563
cpuid.0x80000004 = 0x2020726f 0x20202020 0x20202020 0x00202020
cpuid.0x80000005 = 0xff60ff40 0xff60ff40 0x300c0140 0x20080140
cpuid.0x80000006 = 0x40802040 0x60804040 0x04008140 0x01009140
# P-states, an invariant TSC, read-only MPERF and APERF.
cpuid.0x80000007 = 0 0 0 0x00000580
# The counter of retired instructions; FXSAVE always saves the x87 error pointers.
cpuid.0x80000008 = 0x00003030 0x00000006 0 0
cpuid.0x80000019 = 0xf060f040 0x40200000 0 0
cpuid.0x8000001a = 0x0000000a 0 0 0
# IBS without what came with Zen 5: the filters of latency, the DTLB page size.
cpuid.0x8000001b = 0x00000bff 0 0 0
cpuid.0x8000001d.0 = 0x00000121 0x02c0003f 0x0000003f 0
cpuid.0x8000001d.1 = 0x00000122 0x01c0003f 0x0000003f 0
cpuid.0x8000001d.2 = 0x00000143 0x03c0003f 0x000003ff 2
cpuid.0x8000001d.3 = 0x00000163 0x03c0003f 0x00007fff 1
cpuid.0x8000001d.4 = 0 0 0 0
# LFENCE waits for all before it; a null selector clears the base; there is no MSR SMM_CTL.
cpuid.0x80000021 = 0x00000244 0 0 0
# PerfMonV2 of six core counters, LbrExtV2 with 16 records, and the freeze of both.
cpuid.0x80000022 = 0x00000007 0x106 0 0

msr.mtrr_variable = 8
msr.mcg_cap = 0x11c
msr.pstate = 0x80000000000002f8 # 760 * 5 MHz (PPR of family 1AH; from memory); the voltage is left out

clock.core_hz = 5500000000 # boost
clock.tsc_hz = 3800000000
clock.ref_hz = 3800000000
clock.apic_hz = 100000000

pmu.version = 0 # of leaf 0AH, which is Intel's
pmu.general = 6
pmu.general_width = 48
pmu.skid = 40

event.0x76.0x00 = LS_NOT_HALTED_CYC core-cycle
event.0x120.0x01 = LS_NOT_HALTED_P0_CYC.P0_FREQ_CYC tsc-cycle
event.0xc0.0x00 = EX_RET_INSTR insn
event.0xc1.0x00 = EX_RET_OPS uops
# Interrupts and exceptions are branches here, taken and far.
event.0xc2.0x00 = EX_RET_BRN branch-delivered
event.0xc3.0x00 = EX_RET_BRN_MISP mispredict
event.0xc4.0x00 = EX_RET_BRN_TKN taken-delivered
event.0xc6.0x00 = EX_RET_BRN_FAR branch-far
event.0xc8.0x00 = EX_RET_NEAR_RET branch-ret
event.0xd1.0x00 = EX_RET_COND branch-cond
# Of the lines that loads wait for; the silicon counts those of stores too.
event.0x43.0x01 = LS_DMND_FILLS_FROM_SYS.LOCAL_L2 l2-hit
event.0x43.0x02 = LS_DMND_FILLS_FROM_SYS.LOCAL_CCX llc-hit
event.0x43.0x08 = LS_DMND_FILLS_FROM_SYS.DRAM_IO_NEAR llc-miss
event.0x2c.0x00 = LS_INT_TAKEN interrupt
event.0x1a0.0x01 = DE_NO_DISPATCH_PER_SLOT.NO_OPS_FROM_FRONTEND slots-frontend
event.0x1a0.0x1e = DE_NO_DISPATCH_PER_SLOT.BACKEND_STALLS slots-backend
# 24-5 selects it: nothing has a name there, so it should count nothing.
event.0x1c0.0x00 = EVENT_1C0 none
# Known and not counted, from the same lists.
event.0xc5.0x00 = EX_RET_BRN_TKN_MISP uncounted
event.0xc9.0x00 = EX_RET_NEAR_RET_MISPRED uncounted
event.0xca.0x00 = EX_RET_BRN_IND_MISP uncounted
event.0x29.0x01 = LS_DISPATCH.LD_DISPATCH uncounted
event.0x29.0x02 = LS_DISPATCH.STORE_DISPATCH uncounted
event.0x29.0x04 = LS_DISPATCH.LD_ST_DISPATCH uncounted
event.0x29.0x07 = LS_DISPATCH.ALL uncounted
event.0x60.0xff = L2_REQUEST_G1.ALL uncounted
event.0x64.0x09 = L2_CACHE_REQ_STAT.IC_DC_MISS_IN_L2 uncounted
event.0x85.0x00 = BP_L1_TLB_MISS_L2_TLB_MISS uncounted
event.0xd3.0x00 = EX_DIV_BUSY uncounted
event.0xd4.0x00 = EX_DIV_COUNT uncounted
event.0x1cf.0x01 = EX_TAGGED_IBS_OPS.IBS_TAGGED_OPS uncounted
event.0x1cf.0x02 = EX_TAGGED_IBS_OPS.IBS_TAGGED_OPS_RET uncounted
event.0x1d0.0x00 = EX_RET_FUSED_INSTR uncounted
# The odd half of two merged counters: the model merges none.
event.0xfff.0x00 = MERGE uncounted
event.0x1c1.0x00 = EX_RET_UCODE_INSTR uncounted
event.0x1c2.0x00 = EX_RET_UCODE_OPS uncounted
event.0x1c7.0x00 = EX_RET_MSPRD_BRNCH_INSTR_DIR_MSMTCH uncounted
event.0x1c9.0x00 = EX_RET_UNCOND_BRNCH_INSTR uncounted

cache.l1i = 32768 8 64 4
cache.l1d = 49152 12 64 4
cache.l2 = 1048576 16 64 14
cache.llc = 33554432 16 64 50

uarch.retire_width = 8
uarch.window = 448
uarch.fetch_bytes = 64
uarch.misses = 24
uarch.prefetch = 20
uarch.memory_latency = 440
uarch.mispredict_penalty = 15
uarch.predictor_bits = 12
uarch.lat_mul = 3
uarch.lat_forward = 7
uarch.lat_div = 18
uarch.lat_io = 400
uarch.lat_msr = 100
uarch.lat_tsc = 38
uarch.lat_pause = 64
uarch.lat_serialize = 100
