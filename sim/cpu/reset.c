/*
 * Power-on, INIT and SIPI. SDM vol. 3 "Processor State After Reset", table "IA-32 and Intel 64
 * Processor States Following Power-up, Reset, or INIT", and "Multiple-Processor (MP)
 * Initialization".
 */
#include <string.h>

#include "sim/cpu/system.h"
#include "sim/cpu/uarch.h"
#include "sim/dev/dev.h"
#include "sim/pmu/pmu.h"

#define RESET_CS      0xf000
#define RESET_CS_BASE 0xffff0000u
#define RESET_IP      0xfff0
#define RESET_CR0     (CR0_CD | CR0_NW | CR0_ET)
#define RESET_PAT     0x0007040600070406ull
#define RESET_DR7     DR7_FIXED1
#define REAL_LIMIT    0xffff
#define DATA_ATTR     (DESC_P | DESC_S | DESC_RW | DESC_ACCESSED)
#define CODE_ATTR     (DATA_ATTR | DESC_CODE)

static void reset_segments(struct cpu *cpu)
{
    for (unsigned s = 0; s < SEG_N; s++)
        cpu->seg[s] = (struct segment){.limit = REAL_LIMIT, .attr = DATA_ATTR};
    cpu->seg[SEG_CS] = (struct segment){
        .selector = RESET_CS, .base = RESET_CS_BASE, .limit = REAL_LIMIT, .attr = CODE_ATTR};
    cpu->seg[SEG_LDTR].attr = DESC_P | SYS_LDT << 8;
    cpu->seg[SEG_TR].attr = DESC_P | SYS_TSS_BUSY << 8;
    cpu->gdtr.base = cpu->idtr.base = 0;
    cpu->gdtr.limit = cpu->idtr.limit = REAL_LIMIT;
}

/* INIT leaves the TSC, the MTRRs and most MSRs; power-up clears them. */
static void reset_msrs(struct cpu *cpu)
{
    struct system_state *s = cpu->system;
    cpu->tsc_offset = 0;
    cpu->sysenter_cs = cpu->sysenter_esp = cpu->sysenter_eip = 0;
    cpu->star = cpu->lstar = cpu->cstar = cpu->fmask = 0;
    cpu->kernel_gs_base = cpu->tsc_aux = 0;
    cpu->pat = RESET_PAT;
    memset(s, 0, sizeof *s);
    s->feature_control = 1; /* locked by the firmware, VMX off */
    s->xcr0 = 1;
    mtrr_firmware(cpu);
    if (cpu->profile->amd)
        amd_firmware(cpu);
}

void cpu_reset(struct cpu *cpu, bool init)
{
    uint32_t signature[4];
    cpu_cpuid(cpu, 1, 0, signature);
    memset(cpu->r, 0, sizeof cpu->r);
    cpu->r[RDX] = signature[0]; /* EDX: family, model, stepping */
    cpu->rip = RESET_IP;
    reset_segments(cpu);
    cpu->cpl = 0;
    /* INIT keeps CD and NW. */
    cpu->cr0 = init ? (cpu->cr0 & (CR0_CD | CR0_NW)) | CR0_ET : RESET_CR0;
    cpu->cr2 = cpu->cr3 = cpu->cr4 = cpu->cr8 = 0;
    cpu->efer = 0;
    memset(cpu->dr, 0, sizeof cpu->dr);
    cpu->dr[6] = DR6_FIXED1;
    cpu->dr[7] = RESET_DR7;
    if (!init) {
        reset_msrs(cpu);
        /* INIT leaves x87 and SSE as they are. */
        cpu->fpu = (struct fpu){.mxcsr = MXCSR_RESET, .control = X87_CONTROL_RESET, .valid = 0xff};
        cpu->now = cpu->halted = cpu->smi_count = 0;
        memset(cpu->total, 0, sizeof cpu->total);
        uarch_reset(cpu->uarch);
    }
    window_drain(cpu);
    struct system_state *s = cpu->system;
    s->shadow_ss = s->shadow_ends = s->step_armed = s->rf_armed = false;
    s->debug_hits = 0;
    cpu->nmi_blocked = cpu->shadow = false;
    cpu->attention &= ATTN_STOP | ATTN_CAREFUL | ATTN_SIPI; /* a SIPI may have come close behind */
    /* The bootstrap processor starts at the reset vector, the others wait for SIPI. */
    cpu->state = cpu->index == 0 ? CPU_RUNNING : CPU_WAIT_SIPI;
    cpu_set_rflags(cpu, RFLAGS_FIXED1);
    debug_update(cpu);
    tlb_flush(cpu, true);
    pmu_reset(cpu->pmu, init);
    lapic_reset(cpu->lapic, init);
    cpu_reschedule(cpu);
    exec_mode_changed(cpu);
}
