# Ryzen 7 5800X, Vermeer (Zen 3): AMD's extended core counters
#
# Six core counters of 48 bits (8000_0001H:ECX[23]), each with its own enable alone: no register has
# the overflows. Family 19H, model 21H, stepping 2.
# Sources: AMD64 Architecture Programmer's Manual (APM)
# vol. 2 "Performance Monitoring Counters"; the Processor Programming Reference (PPR) of family 19H
# for events, as Linux tools/perf/pmu-events/arch/x86/amdzen3 and
# arch/x86/events/amd/core.c have them; CPUID from the dump 0A20F12 of the InstLatx64 collection;
# caches from 8000_001DH and 8000_0006H; widths and latencies from AMD's Software Optimization Guide
# (56665) as far as it has them; the others (misses, prefetch, IO, MSR, PAUSE, memory), the skid, the
# machine-check banks and the revision of the microcode from memory.
#
# Of the processor's features only those are announced that the simulator executes:
# docs/simulator.md, "What the processors announce", lists what the silicon has besides. The APIC IDs
# and the numbers of cores are filled in for each processor.

name = zen3
description = Ryzen 7 5800X, Zen 3: AMD extended counters
microcode = 0xa20120e

cpuid.0x0 = 0x00000010 0x68747541 0x444d4163 0x69746e65
cpuid.0x1 = 0x00a20f12 0x00000800 0x14f82203 0x078bfbfd
cpuid.0x6 = 0x00000004 0 1 0
cpuid.0x7.0 = 0 0x009807a9 4 0
cpuid.0xb.0 = 0 1 0x00000100 0
cpuid.0xb.1 = 4 8 0x00000201 0
cpuid.0xd.1 = 15 0 0 0
cpuid.0x80000000 = 0x80000023 0x68747541 0x444d4163 0x69746e65
cpuid.0x80000001 = 0x00a20f12 0x20000000 0x00c00529 0x2dd3fbfd
cpuid.0x80000002 = 0x20444d41 0x657a7952 0x2037206e 0x30303835
cpuid.0x80000003 = 0x2d382058 0x65726f43 0x6f725020 0x73736563
cpuid.0x80000004 = 0x2020726f 0x20202020 0x20202020 0x00202020
cpuid.0x80000005 = 0xff40ff40 0xff40ff40 0x20080140 0x20080140
cpuid.0x80000006 = 0x48002200 0x68004200 0x02006140 0x01009140
# P-states, an invariant TSC, read-only MPERF and APERF.
cpuid.0x80000007 = 0 0 0 0x00000580
# The counter of retired instructions; FXSAVE always saves the x87 error pointers.
cpuid.0x80000008 = 0x00003030 0x00000006 0 0
cpuid.0x80000019 = 0xf040f040 0xf0400000 0 0
cpuid.0x8000001a = 6 0 0 0
cpuid.0x8000001b = 0x000003ff 0 0 0
cpuid.0x8000001d.0 = 0x00000121 0x01c0003f 0x0000003f 0
cpuid.0x8000001d.1 = 0x00000122 0x01c0003f 0x0000003f 0
cpuid.0x8000001d.2 = 0x00000143 0x01c0003f 0x000003ff 2
cpuid.0x8000001d.3 = 0x00000163 0x03c0003f 0x00007fff 1
cpuid.0x8000001d.4 = 0 0 0 0
# LFENCE waits for all before it; a null selector clears the base.
cpuid.0x80000021 = 0x00000044 0 0 0

msr.mtrr_variable = 8
msr.mcg_cap = 0x11c
msr.pstate = 0x8000000000000898 # 152 * 200 MHz / 8; the voltage is left out

clock.core_hz = 4700000000 # boost
clock.tsc_hz = 3800000000
clock.ref_hz = 3800000000
clock.apic_hz = 100000000

pmu.version = 0 # of leaf 0AH, which is Intel's
pmu.general = 6
pmu.general_width = 48
pmu.skid = 40

event.0x76.0x00 = LS_NOT_HALTED_CYC core-cycle
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
event.0x43.0x01 = LS_DMND_FILLS_FROM_SYS.LCL_L2 l2-hit
event.0x43.0x02 = LS_DMND_FILLS_FROM_SYS.INT_CACHE llc-hit
event.0x43.0x08 = LS_DMND_FILLS_FROM_SYS.MEM_IO_LOCAL llc-miss
event.0x2c.0x00 = LS_INT_TAKEN interrupt
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

cache.l1i = 32768 8 64 4
cache.l1d = 32768 8 64 4
cache.l2 = 524288 8 64 12
cache.llc = 33554432 16 64 46

uarch.retire_width = 6
uarch.window = 256
uarch.fetch_bytes = 32
uarch.misses = 24
uarch.prefetch = 20
uarch.memory_latency = 370
uarch.mispredict_penalty = 13
uarch.predictor_bits = 12
uarch.lat_mul = 3
uarch.lat_forward = 7
uarch.lat_div = 18
uarch.lat_io = 400
uarch.lat_msr = 100
uarch.lat_tsc = 38
uarch.lat_pause = 64
uarch.lat_serialize = 100
