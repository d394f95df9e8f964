/*
 * What happens between two instructions: INIT, SIPI, NMI, external interrupts. SDM vol. 3
 * "Prioritization of Concurrent Events"; traps of the instruction before have been taken in
 * system_after_insn already.
 */
#include "sim/cpu/system.h"
#include "sim/dev/dev.h"

/* SDM vol. 3 "Typical AP Initialization Sequence": CS = vector << 8, IP = 0. */
static void start_up(struct cpu *cpu)
{
    cpu->attention &= ~ATTN_SIPI;
    segment_load_real(cpu, SEG_CS, (uint16_t)(cpu->sipi_vector << 8));
    cpu->rip = 0;
    cpu->state = CPU_RUNNING;
    exec_mode_changed(cpu);
}

static void condition_set(struct cpu *cpu, struct slot_condition *c, enum cpu_event e, bool holds)
{
    if (holds == c->holds)
        return;
    for (unsigned class = 0; class < 2; class ++) {
        cpu->total[class][e] = cpu_total(cpu, class, e);
        c->began[class] = cpu->total[class][EV_SLOTS];
    }
    c->holds = holds;
}

void cpu_interrupts_changed(struct cpu *cpu)
{
    bool masked = !(cpu->rflags & RFLAGS_IF);
    condition_set(cpu, &cpu->masked, EV_SLOTS_MASKED, masked);
    condition_set(cpu, &cpu->waiting, EV_SLOTS_WAITING, masked && (cpu->attention & ATTN_INTR));
}

static bool take_nmi(struct cpu *cpu)
{
    if (!(cpu->attention & ATTN_NMI) || cpu->nmi_blocked || (cpu->shadow && cpu->system->shadow_ss))
        return false;
    cpu->attention &= ~ATTN_NMI;
    cpu->state = CPU_RUNNING;
    cpu->nmi_blocked = true; /* until IRET. SDM vol. 3 "Handling Multiple NMIs" */
    deliver(cpu, EVENT_NMI, VEC_NMI, false, 0, cpu->rip);
    return true;
}

static bool take_interrupt(struct cpu *cpu)
{
    bool shadow = cpu->shadow && cpu->state == CPU_RUNNING;
    if (!(cpu->attention & ATTN_INTR) || shadow || !(cpu_rflags(cpu) & RFLAGS_IF))
        return false;
    uint8_t vector = lapic_ack(cpu->lapic);
    if (!lapic_pending(cpu->lapic))
        cpu->attention &= ~ATTN_INTR;
    cpu->state = CPU_RUNNING;
    cpu_event(cpu, EV_INTERRUPT, 1);
    deliver(cpu, EVENT_INTERRUPT, vector, false, 0, cpu->rip);
    return true;
}

bool system_events(struct cpu *cpu)
{
    if (cpu->attention & ATTN_INIT) {
        cpu_reset(cpu, true);
        return true;
    }
    if (cpu->attention & ATTN_SIPI) {
        if (cpu->state == CPU_WAIT_SIPI) {
            start_up(cpu);
            return true;
        }
        cpu->attention &= ~ATTN_SIPI; /* ignored elsewhere */
    }
    if (cpu->state == CPU_WAIT_SIPI || cpu->state == CPU_SHUTDOWN)
        return false;
    /* "During #VE handling, the TDX module ensures that all interrupts (including NMIs) are
     * blocked." Linux, Documentation/arch/x86/tdx.rst. */
    if (cpu->system->ve_reason)
        return false;
    return take_nmi(cpu) || take_interrupt(cpu);
}
