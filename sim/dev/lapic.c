/*
 * The local APIC of one logical processor. SDM vol. 3 "Advanced Programmable Interrupt Controller
 * (APIC)"; section names below are of that chapter.
 *
 * Interrupts that this machine has no source for (LINT1, thermal sensor, corrected machine
 * checks) have their LVT entries but never fire; there is no SMM. LVT CMCI is
 * absent, as the version register says ("Local Vector Table": CMCI only with machine-check
 * support).
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sim/dev/internal.h"
#include "sim/fault.h"
#include "sim/pmu/pmu.h"
#include "sim/trace.h"
#include "x86/amd.h"
#include "x86/apic.h"
#include "x86/msr.h"
#include "x86/cpuid.h"

/* Version register: integrated APIC, LVT entries 0 to 5, no EOI-broadcast suppression ("Local APIC
 * Version Register"). */
#define VERSION 0x00050015
/* APM vol. 2 "APIC Version Register". */
#define VERSION_AMD      (0x00050010 | APIC_VERSION_EAS)
#define SVR_RESET        0xff
#define SVR_WRITABLE     0x1ff
#define DIVIDE_WRITABLE  0x0b
#define DFR_FLAT         0xf
#define DFR_FIXED        0x0fffffff
#define LOWEST_VECTOR    16 /* "Valid Interrupt Vectors" */
#define XAPIC_BROADCAST  0xff
#define X2APIC_BROADCAST 0xffffffff

/* ICR, "Interrupt Command Register (ICR)" and "Delivery modes". */
#define ICR_WRITABLE        0x000ccfff
#define ICR_X2APIC_RESERVED 0xfff33000
enum { SHORTHAND_NONE, SHORTHAND_SELF, SHORTHAND_ALL, SHORTHAND_OTHERS };
enum {
    MODE_FIXED = 0,
    MODE_LOWEST = 1,
    MODE_SMI = 2,
    MODE_NMI = 4,
    MODE_INIT = 5,
    MODE_STARTUP = 6,
    MODE_EXTINT = 7,
};

enum lvt { LVT_TIMER, LVT_THERMAL, LVT_PERFMON, LVT_LINT0, LVT_LINT1, LVT_ERROR, LVT_N };

/* Bits that software may write, by entry ("Local Vector Table" figure); read-only bits may be
 * written as anything. */
static const struct {
    uint32_t writable, read_only;
} lvt_bits[LVT_N] = {
    [LVT_TIMER] = {APIC_LVT_VECTOR | APIC_LVT_MASK | APIC_LVT_TIMER_MODE, APIC_LVT_PENDING},
    [LVT_THERMAL] = {APIC_LVT_VECTOR | APIC_LVT_DELIVERY | APIC_LVT_MASK, APIC_LVT_PENDING},
    [LVT_PERFMON] = {APIC_LVT_VECTOR | APIC_LVT_DELIVERY | APIC_LVT_MASK, APIC_LVT_PENDING},
    [LVT_LINT0] = {APIC_LVT_VECTOR | APIC_LVT_DELIVERY | APIC_LVT_ACTIVE_LOW |
                       APIC_LVT_TRIGGER_LEVEL | APIC_LVT_MASK,
                   APIC_LVT_PENDING | APIC_LVT_REMOTE_IRR},
    [LVT_LINT1] = {APIC_LVT_VECTOR | APIC_LVT_DELIVERY | APIC_LVT_ACTIVE_LOW |
                       APIC_LVT_TRIGGER_LEVEL | APIC_LVT_MASK,
                   APIC_LVT_PENDING | APIC_LVT_REMOTE_IRR},
    [LVT_ERROR] = {APIC_LVT_VECTOR | APIC_LVT_MASK, APIC_LVT_PENDING},
};

/* APM vol. 2 "Extended APIC Registers": four LVT entries; interrupts can be enabled one by one, a
 * given one can be ended, APIC IDs can have eight bits, as ours have always. */
#define EXTENDED_LVT_N        4
#define EXTENDED_LVT_WRITABLE (APIC_LVT_VECTOR | APIC_LVT_DELIVERY | APIC_LVT_MASK)
#define EXTENDED_LVT_LAST     (APIC_EXT_LVT0 + (EXTENDED_LVT_N - 1) * APIC_EXT_LVT_STRIDE)
#define EXTENDED_CONTROL      (APIC_EXT_CONTROL_IERN | APIC_EXT_CONTROL_SN | APIC_EXT_CONTROL_XAIDN)
#define EXTENDED_FEATURE      (EXTENDED_LVT_N << APIC_EXT_FEATURE_LVT_SHIFT | EXTENDED_CONTROL)

struct lapic {
    struct cpu *cpu;
    uint64_t base; /* IA32_APIC_BASE */
    bool has_x2apic, has_deadline, has_extended;
    uint8_t tpr;
    uint32_t ldr, dfr, svr;
    uint32_t esr, errors; /* as read; collected since the last write of the ESR */
    uint32_t icr_low, icr_high;
    uint32_t lvt[LVT_N];
    uint32_t irr[8], isr[8], tmr[8];
    /* The extended space. */
    uint32_t control, extended_lvt[EXTENDED_LVT_N], ier[8];
    bool lint0;  /* its level */
    bool extint; /* an ExtINT message of the I/O APIC, not yet acknowledged */
    /* "APIC Timer" */
    uint32_t divide, initial;
    uint64_t first;    /* counts from started to the next expiry; 0: stopped */
    uint64_t started;  /* value of cpu->now when counting began */
    uint64_t deadline; /* IA32_TSC_DEADLINE; 0: disarmed */
    struct {
        uint64_t ticks, hz, at;
    } converted; /* the last conversion to slots: what is asked before each turn changes seldom */
};

static void lint0_interrupt(struct lapic *l);
static uint64_t timer_expiry(struct lapic *l);
static void timer_settle(struct lapic *l);

static bool profile_has(const struct profile *p, uint32_t leaf, uint32_t ecx_bit)
{
    for (unsigned i = 0; i < p->n_cpuid; i++)
        if (p->cpuid[i].leaf == leaf)
            return p->cpuid[i].ecx & ecx_bit;
    return false;
}

static bool enabled(const struct lapic *l)
{
    return l->base & APIC_BASE_EN;
}

static bool x2apic(const struct lapic *l)
{
    return (l->base & (APIC_BASE_EN | APIC_BASE_EXTD)) == (APIC_BASE_EN | APIC_BASE_EXTD);
}

static bool software_enabled(const struct lapic *l)
{
    return enabled(l) && (l->svr & APIC_SVR_ENABLE);
}

/* ---- IRR, ISR, priorities ("Handling Interrupts") ---- */

static int highest(const uint32_t bits[8])
{
    for (int i = 7; i >= 0; i--)
        if (bits[i])
            return 32 * i + 31 - __builtin_clz(bits[i]);
    return -1;
}

static void set_bit(uint32_t bits[8], unsigned vector)
{
    bits[vector / 32] |= 1u << vector % 32;
}

static void clear_bit(uint32_t bits[8], unsigned vector)
{
    bits[vector / 32] &= ~(1u << vector % 32);
}

/* "Task and Processor Priorities": PPR is the higher of TPR and the class in service. */
static uint8_t processor_priority(const struct lapic *l)
{
    int in_service = highest(l->isr);
    uint8_t isrv = in_service < 0 ? 0 : in_service & 0xf0;

    return (l->tpr & 0xf0) >= isrv ? l->tpr : isrv;
}

/* APM vol. 2 "Interrupt Enable Registers": once IERN is set, a requested vector whose bit is 0 is
 * not taken. */
static int highest_requested(const struct lapic *l)
{
    uint32_t requested[8];

    if (!(l->control & APIC_EXT_CONTROL_IERN))
        return highest(l->irr);
    for (unsigned i = 0; i < 8; i++)
        requested[i] = l->irr[i] & l->ier[i];
    return highest(requested);
}

/* The highest vector that may be delivered; -1: none. */
static int deliverable(const struct lapic *l)
{
    int vector = enabled(l) ? highest_requested(l) : -1;

    return vector >= 0 && (vector & 0xf0) > (processor_priority(l) & 0xf0) ? vector : -1;
}

static unsigned delivery_mode(uint32_t lvt)
{
    return (lvt & APIC_LVT_DELIVERY) >> 8;
}

/* Does LINT0 interrupt the processor with a vector of the 8259s? "Enabling or Disabling the Local
 * APIC": without one, LINT0 is the INTR pin. "Local Vector Table": ExtINT, "as though the interrupt
 * originated in an externally connected (8259A-compatible) interrupt controller": its priority is
 * not the local APIC's. */
static bool lint0_is_intr(const struct lapic *l)
{
    uint32_t lvt = l->lvt[LVT_LINT0];

    if (l->cpu->index != 0)
        return false;
    return !enabled(l) || (!(lvt & APIC_LVT_MASK) && delivery_mode(lvt) == MODE_EXTINT);
}

static bool external(const struct lapic *l)
{
    return l->extint || (l->lint0 && lint0_is_intr(l));
}

bool lapic_pending(struct lapic *l)
{
    return external(l) || deliverable(l) >= 0;
}

/* Keeps ATTN_INTR true to its meaning; to be called after each change of IRR, ISR or TPR. */
static void update(struct lapic *l)
{
    if (!lapic_pending(l))
        l->cpu->attention &= ~ATTN_INTR;
    else if (!(l->cpu->attention & ATTN_INTR))
        cpu_attend(l->cpu, ATTN_INTR);
    cpu_interrupts_changed(l->cpu);
}

/* Of an external interrupt and one of its own, the manual gives no order; the pin comes first. */
uint8_t lapic_ack(struct lapic *l)
{
    int vector = deliverable(l);

    if (external(l)) {
        l->extint = false;
        return pic_acknowledge(l->cpu);
    }
    /* "Spurious Interrupt": nothing is above the processor priority any more. No ISR bit. */
    if (vector < 0)
        return l->svr & APIC_LVT_VECTOR;
    clear_bit(l->irr, vector);
    set_bit(l->isr, vector);
    update(l);
    return vector;
}

/* vector: negative for none. */
static void end_of(struct lapic *l, int vector)
{
    if (vector < 0 || !(l->isr[vector / 32] >> vector % 32 & 1))
        return;
    clear_bit(l->isr, vector);
    update(l);
    if (!(l->tmr[vector / 32] >> vector % 32 & 1))
        return;
    /* "Signaling Interrupt Servicing Completion": of a level, to all I/O APICs. */
    if ((l->lvt[LVT_LINT0] & (APIC_LVT_REMOTE_IRR | APIC_LVT_VECTOR)) ==
        (APIC_LVT_REMOTE_IRR | (uint32_t)vector)) {
        l->lvt[LVT_LINT0] &= ~(uint32_t)APIC_LVT_REMOTE_IRR;
        lint0_interrupt(l);
    }
    ioapic_eoi(l->cpu, vector);
}

static void end_of_interrupt(struct lapic *l)
{
    end_of(l, highest(l->isr));
}

/* APM vol. 2 "Specific End of Interrupt Register": of this vector, whatever else is in service. */
static void specific_end_of_interrupt(struct lapic *l, uint32_t value)
{
    if (l->control & APIC_EXT_CONTROL_SN)
        end_of(l, value & APIC_LVT_VECTOR);
}

/* "Interrupt Acceptance for Fixed Interrupts": TMR says whether it is a level. */
static void accept(struct lapic *l, unsigned vector, bool level)
{
    set_bit(l->irr, vector);
    (level ? set_bit : clear_bit)(l->tmr, vector);
    update(l);
}

/* "Error Handling": collects an error and interrupts through LVT error. An illegal vector in that
 * entry is itself only collected. */
static void error(struct lapic *l, uint32_t bit)
{
    uint32_t lvt = l->lvt[LVT_ERROR];

    l->errors |= bit;
    if (lvt & APIC_LVT_MASK)
        return;
    if ((lvt & APIC_LVT_VECTOR) < LOWEST_VECTOR)
        l->errors |= APIC_ESR_RECEIVE_ILLEGAL;
    else
        accept(l, lvt & APIC_LVT_VECTOR, false);
}

/* A fixed interrupt arrives. "Local APIC State After It Has Been Software Disabled": then only
 * INIT, NMI, SMI and SIPI are answered. */
static bool receive_fixed(struct lapic *l, unsigned vector, bool level)
{
    if (!software_enabled(l))
        return false;
    if (vector < LOWEST_VECTOR)
        error(l, APIC_ESR_RECEIVE_ILLEGAL);
    else
        accept(l, vector, level);
    return true;
}

/* ---- LVT ---- */

/* "Local Vector Table" figure: "When a performance monitoring counters interrupt is generated, the
 * mask bit for its associated LVT entry is set." */
static void mask_perfmon(struct lapic *l)
{
    if (pmu_masks_lvt(l->cpu->pmu) && !fault_hypervisor(l->cpu, FAULT_HV_LVT_OPEN))
        l->lvt[LVT_PERFMON] |= APIC_LVT_MASK;
}

bool lapic_pmi_raise(struct lapic *l)
{
    uint32_t lvt = l->lvt[LVT_PERFMON];
    unsigned vector = lvt & APIC_LVT_VECTOR;
    char what[64];

    if (!enabled(l) || (lvt & APIC_LVT_MASK)) {
        if (l->cpu->trace & TRACE_PMI)
            trace_pmi(l->cpu, "dropped: LVT perfmon is masked");
        return false;
    }
    l->cpu->stats.pmis++;
    switch (delivery_mode(lvt)) {
    case MODE_FIXED:
        snprintf(what, sizeof(what), "LVT perfmon: fixed, vector %02XH; mask set", vector);
        mask_perfmon(l);
        receive_fixed(l, vector, false);
        break;
    case MODE_NMI:
        snprintf(what, sizeof(what), "LVT perfmon: NMI; mask set");
        mask_perfmon(l);
        cpu_attend(l->cpu, ATTN_NMI);
        break;
    case MODE_SMI: /* there is no system-management code to run */
        snprintf(what, sizeof(what), "LVT perfmon: SMI (lost: no SMM); mask set");
        mask_perfmon(l);
        break;
    default: /* INIT and ExtINT are not supported for this entry ("Local Vector Table") */
        snprintf(what, sizeof(what), "lost: LVT perfmon has an unsupported delivery mode");
        break;
    }
    if (l->cpu->trace & TRACE_PMI)
        trace_pmi(l->cpu, what);
    return true;
}

void lapic_pmi(struct lapic *l)
{
    if (fault_pmi(l->cpu) > 0)
        lapic_pmi_raise(l);
    else if (l->cpu->trace & TRACE_PMI)
        trace_pmi(l->cpu, "lost: --fault pmi=lost");
}

/* APM vol. 2 "Extended Local Vector Table Registers": a source of the processor's, for IBS the one
 * that IbsCtl names. Nothing sets the mask. */
void lapic_extended(struct lapic *l, unsigned entry)
{
    uint32_t lvt = entry < EXTENDED_LVT_N ? l->extended_lvt[entry] : APIC_LVT_MASK;
    char what[64];

    if (!l->has_extended || !enabled(l) || (lvt & APIC_LVT_MASK)) {
        if (l->cpu->trace & TRACE_PMI)
            trace_pmi(l->cpu, "dropped: the extended LVT entry is masked");
        return;
    }
    snprintf(what, sizeof(what), "extended LVT entry %u: %03XH", entry, lvt);
    if (l->cpu->trace & TRACE_PMI)
        trace_pmi(l->cpu, what);
    if (delivery_mode(lvt) == MODE_NMI)
        cpu_attend(l->cpu, ATTN_NMI);
    else if (delivery_mode(lvt) == MODE_FIXED)
        receive_fixed(l, lvt & APIC_LVT_VECTOR, false);
}

/* LINT0 as a source of this local APIC's own: an edge, or a level that lasts ("Local Vector
 * Table": Remote IRR). */
static void lint0_interrupt(struct lapic *l)
{
    uint32_t lvt = l->lvt[LVT_LINT0];
    bool level = lvt & APIC_LVT_TRIGGER_LEVEL;

    if (!l->lint0 || !enabled(l) || (lvt & (APIC_LVT_MASK | APIC_LVT_REMOTE_IRR)))
        return;
    switch (delivery_mode(lvt)) {
    case MODE_FIXED:
        if (receive_fixed(l, lvt & APIC_LVT_VECTOR, level) && level)
            l->lvt[LVT_LINT0] |= APIC_LVT_REMOTE_IRR;
        break;
    case MODE_NMI:
        cpu_attend(l->cpu, ATTN_NMI);
        break;
    default: /* ExtINT: lint0_is_intr() */
        break;
    }
}

void lapic_lint0(struct cpu *from, bool level)
{
    struct cpu *cpu = from->machine->cpus[0];
    struct lapic *l = cpu->lapic;
    bool rises = level && !l->lint0, pended = lapic_pending(l) || (cpu->attention & ATTN_NMI);

    l->lint0 = level;
    if (rises)
        lint0_interrupt(l);
    update(l);
    if (!pended && (cpu->attention & (ATTN_INTR | ATTN_NMI)))
        machine_reach(from, cpu);
}

bool lapic_hears_devices(const struct lapic *l)
{
    return lint0_is_intr(l) || ioapic_open(l->cpu) ||
           (l->cpu->index == 0 && enabled(l) && !(l->lvt[LVT_LINT0] & APIC_LVT_MASK));
}

static void write_lvt(struct lapic *l, enum lvt n, uint32_t value)
{
    uint32_t mode_changed;

    timer_settle(l);
    value &= lvt_bits[n].writable;
    if (value & APIC_LVT_TRIGGER_LEVEL)
        value |= l->lvt[n] & APIC_LVT_REMOTE_IRR;
    if (n == LVT_TIMER && !l->has_deadline)
        value &= ~APIC_LVT_TIMER_TSC_DEADLINE;
    /* Software disabled: mask bits stay set. */
    if (!(l->svr & APIC_SVR_ENABLE))
        value |= APIC_LVT_MASK;
    mode_changed = (value ^ l->lvt[n]) & APIC_LVT_TIMER_TSC_DEADLINE;
    l->lvt[n] = value;
    if (n == LVT_TIMER) {
        /* "TSC-Deadline Mode": changing to or from it disarms the timer. */
        if (mode_changed)
            l->first = l->deadline = 0;
        cpu_reschedule(l->cpu);
    } else if (n == LVT_LINT0) {
        if (value & APIC_LVT_TRIGGER_LEVEL)
            lint0_interrupt(l);
        update(l);
    }
}

static void write_svr(struct lapic *l, uint32_t value)
{
    timer_settle(l);
    l->svr = value & SVR_WRITABLE;
    if (!(l->svr & APIC_SVR_ENABLE))
        for (unsigned i = 0; i < LVT_N; i++)
            l->lvt[i] |= APIC_LVT_MASK;
    for (unsigned i = 0; i < EXTENDED_LVT_N && !(l->svr & APIC_SVR_ENABLE); i++)
        l->extended_lvt[i] |= APIC_LVT_MASK;
    update(l);
    cpu_reschedule(l->cpu);
}

static void write_extended_lvt(struct lapic *l, unsigned n, uint32_t value)
{
    l->extended_lvt[n] = value & EXTENDED_LVT_WRITABLE;
    if (!(l->svr & APIC_SVR_ENABLE))
        l->extended_lvt[n] |= APIC_LVT_MASK;
}

/* ---- Timer ("APIC Timer", "TSC-Deadline Mode") ---- */

static bool deadline_mode(const struct lapic *l)
{
    return l->lvt[LVT_TIMER] & APIC_LVT_TIMER_TSC_DEADLINE;
}

static bool periodic(const struct lapic *l)
{
    return (l->lvt[LVT_TIMER] & APIC_LVT_TIMER_MODE) == APIC_LVT_TIMER_PERIODIC;
}

/* Divide configuration: bits 3, 1, 0; 111 is 1, else 2 to the power of the value plus one. */
static uint64_t divisor(const struct lapic *l)
{
    unsigned code = (l->divide & 3) | (l->divide & 8) >> 1;

    return code == 7 ? 1 : 2u << code;
}

/* Timer counts done since started. */
static uint64_t counted(const struct lapic *l)
{
    const struct profile *p = l->cpu->profile;

    return slots_to_hz(p, l->cpu->now - l->started, p->apic_hz) / divisor(l);
}

static uint64_t slots_of(struct lapic *l, uint64_t ticks, uint64_t hz)
{
    if (l->converted.ticks != ticks || l->converted.hz != hz) {
        l->converted.ticks = ticks;
        l->converted.hz = hz;
        l->converted.at = hz_to_slots(l->cpu->profile, ticks, hz);
    }
    return l->converted.at;
}

static uint64_t timer_expiry(struct lapic *l)
{
    const struct profile *p = l->cpu->profile;

    if (deadline_mode(l)) {
        if (!l->deadline)
            return UINT64_MAX;
        /* The time-stamp counter is the time since power-on plus an offset that may be negative. */
        uint64_t ticks = l->deadline - l->cpu->tsc_offset;
        uint64_t at = slots_of(l, ticks, p->tsc_hz);
        bool before_power_on = ticks >> 63 && l->deadline <= cpu_tsc(l->cpu);
        return before_power_on || at < l->cpu->now ? l->cpu->now : at;
    }
    if (!l->first)
        return UINT64_MAX;
    return l->started + slots_of(l, l->first * divisor(l), p->apic_hz);
}

/* Passes every expiry up to now without an interrupt. */
static void timer_skip(struct lapic *l)
{
    uint64_t n, later;

    if (timer_expiry(l) > l->cpu->now)
        return;
    if (deadline_mode(l)) {
        l->deadline = 0; /* "the timer generates one interrupt and disarms itself" */
    } else if (!periodic(l) || !l->initial) {
        l->first = 0;
    } else {
        /* Go on counting from started, so that no rounding accumulates. */
        n = counted(l) - l->first;
        later = l->first + (n / l->initial + 1) * l->initial;
        l->first = later;
    }
}

static uint64_t timer_deadline(struct lapic *l)
{
    /* A masked expiry changes nothing that cannot be worked out when it is looked at. */
    if (!software_enabled(l) || (l->lvt[LVT_TIMER] & APIC_LVT_MASK))
        return UINT64_MAX;
    return timer_expiry(l);
}

/* Before a register is read or changed: what expired up to now has interrupted, also when that was
 * in the instruction that does it, after the last look at the deadline. */
static void timer_settle(struct lapic *l)
{
    bool due = timer_deadline(l) <= l->cpu->now;

    timer_skip(l);
    if (due)
        receive_fixed(l, l->lvt[LVT_TIMER] & APIC_LVT_VECTOR, false);
}

static uint32_t current_count(struct lapic *l)
{
    timer_settle(l);
    if (deadline_mode(l) || !l->first)
        return 0;
    return l->first - counted(l);
}

uint64_t lapic_deadline(struct lapic *l)
{
    uint64_t timer = timer_deadline(l), fault = fault_deadline(l->cpu);
    return timer < fault ? timer : fault;
}

void lapic_tick(struct lapic *l)
{
    if (fault_deadline(l->cpu) <= l->cpu->now)
        fault_tick(l->cpu);
    timer_settle(l);
}

bool lapic_timer_wakes(struct lapic *l)
{
    unsigned vector = l->lvt[LVT_TIMER] & APIC_LVT_VECTOR;

    return timer_deadline(l) != UINT64_MAX && vector >= LOWEST_VECTOR &&
           (vector & 0xf0) > (processor_priority(l) & 0xf0);
}

static void write_initial(struct lapic *l, uint32_t value)
{
    if (deadline_mode(l)) /* "writes to the initial-count register are ignored" */
        return;
    timer_settle(l);
    l->initial = l->first = value;
    l->started = l->cpu->now;
    cpu_reschedule(l->cpu);
}

static void write_divide(struct lapic *l, uint32_t value)
{
    uint32_t left = current_count(l);

    l->divide = value & DIVIDE_WRITABLE;
    if (left) {
        l->first = left;
        l->started = l->cpu->now;
    }
    cpu_reschedule(l->cpu);
}

/* ---- Interprocessor interrupts ("Issuing Interprocessor Interrupts") ---- */

/* In x2APIC mode the logical ID follows from the x2APIC ID ("Deriving Logical x2APIC ID from the
 * Local x2APIC ID"). */
static uint32_t logical_id(const struct lapic *l)
{
    uint32_t id = l->cpu->index;

    return x2apic(l) ? (id >> 4) << 16 | 1u << (id & 15) : l->ldr;
}

/* "Logical Destination Mode", "Physical Destination Mode": each APIC decides for itself. dest is
 * FFFFFFFFH for a broadcast in either mode. */
static bool addressed(const struct lapic *l, bool logical, uint32_t dest)
{
    uint32_t id = logical_id(l);

    if (!enabled(l))
        return false;
    if (dest == X2APIC_BROADCAST)
        return true;
    if (!logical)
        return dest == l->cpu->index;
    if (x2apic(l))
        return dest >> 16 == id >> 16 && (dest & id & 0xffff);
    id >>= 24;
    if (l->dfr >> 28 == DFR_FLAT)
        return dest & id;
    return dest >> 4 == id >> 4 && (dest & id & 0xf); /* cluster model */
}

/* False: it was not accepted. */
static bool receive(struct lapic *l, unsigned mode, unsigned vector, bool level)
{
    switch (mode) {
    case MODE_FIXED:
    case MODE_LOWEST:
        return receive_fixed(l, vector, level);
    case MODE_EXTINT:
        l->extint = true;
        update(l);
        break;
    case MODE_NMI:
        cpu_attend(l->cpu, ATTN_NMI);
        break;
    case MODE_INIT:
        cpu_attend(l->cpu, ATTN_INIT);
        break;
    case MODE_STARTUP:
        /* Only a processor that waits for it takes a SIPI ("MP Initialization Protocol"). */
        if (!fault_no_startup(l->cpu) &&
            (l->cpu->state == CPU_WAIT_SIPI || (l->cpu->attention & ATTN_INIT))) {
            l->cpu->sipi_vector = vector;
            cpu_attend(l->cpu, ATTN_SIPI);
        }
        break;
    default: /* SMI: there is no SMM */
        break;
    }
    return true;
}

/* "Lowest Priority Delivery Mode": of those addressed the one with the lowest processor priority;
 * of several, where the manual leaves it open, the first. */
static bool lower_before(struct machine *m, unsigned i, bool logical, uint32_t dest)
{
    struct lapic *l = m->cpus[i]->lapic;

    for (unsigned k = 0; k < m->n_cpus; k++) {
        struct lapic *other = m->cpus[k]->lapic;
        unsigned here = processor_priority(l), there = processor_priority(other);
        if (k != i && software_enabled(other) && addressed(other, logical, dest) &&
            (there < here || (there == here && k < i)))
            return true;
    }
    return false;
}

bool lapic_message(struct cpu *from, unsigned mode, uint8_t vector, bool logical, uint8_t to,
                   bool level)
{
    struct machine *m = from->machine;
    uint32_t dest = to == XAPIC_BROADCAST ? X2APIC_BROADCAST : to;
    bool accepted = false;

    for (unsigned i = 0; i < m->n_cpus; i++) {
        if (!addressed(m->cpus[i]->lapic, logical, dest) ||
            (mode == MODE_LOWEST && lower_before(m, i, logical, dest)))
            continue;
        machine_reach(from, m->cpus[i]);
        accepted |= receive(m->cpus[i]->lapic, mode, vector, level);
    }
    return accepted;
}

static void send(struct lapic *l, uint32_t low, uint32_t dest)
{
    struct machine *m = l->cpu->machine;
    unsigned vector = low & APIC_LVT_VECTOR, mode = low >> 8 & 7;
    unsigned shorthand = low >> APIC_ICR_SHORTHAND_SHIFT & 3;

    /* INIT level de-assert does nothing since the Pentium 4 ("Delivery Mode", INIT Level
     * De-assert). */
    if (mode == MODE_INIT && (low & APIC_ICR_TRIGGER_LEVEL) && !(low & APIC_ICR_LEVEL_ASSERT))
        return;
    /* "Error Handling": lowest-priority IPIs are not supported; that error comes first. */
    if (mode == MODE_LOWEST) {
        error(l, APIC_ESR_REDIRECTIBLE_IPI);
        return;
    }
    if (mode == MODE_FIXED && vector < LOWEST_VECTOR) {
        error(l, APIC_ESR_SEND_ILLEGAL);
        return;
    }
    /* "Valid Combinations for the ... Local xAPIC Interrupt Command Register": self and all
     * including self are for fixed interrupts alone. */
    if (mode != MODE_FIXED && (shorthand == SHORTHAND_SELF || shorthand == SHORTHAND_ALL))
        return;
    for (unsigned i = 0; i < m->n_cpus; i++) {
        struct cpu *to = m->cpus[i];
        bool self = to == l->cpu;

        if (shorthand == SHORTHAND_NONE     ? !addressed(to->lapic, low & APIC_ICR_LOGICAL, dest)
            : shorthand == SHORTHAND_SELF   ? !self
            : shorthand == SHORTHAND_OTHERS ? self
                                            : false)
            continue;
        machine_reach(l->cpu, to);
        receive(to->lapic, mode, vector, false);
    }
}

/* ---- Registers: one table for both modes ("Local APIC Register Address Map") ---- */

enum { R = 1, W = 2, RW = R | W };

/* By offset / 16: access rights, bits that are not reserved (for x2APIC's #GP). */
static const struct {
    uint8_t xapic, x2apic;
    uint32_t bits;
} registers[(EXTENDED_LVT_LAST >> 4) + 1] = {
    [APIC_ID >> 4] = {R, R, 0},
    [APIC_VERSION >> 4] = {R, R, 0},
    [APIC_TPR >> 4] = {RW, RW, 0xff},
    [0x90 >> 4] = {R, 0, 0}, /* arbitration priority */
    [APIC_PPR >> 4] = {R, R, 0},
    [APIC_EOI >> 4] = {W, W, 0}, /* x2APIC: a non-zero value faults */
    [0xc0 >> 4] = {R, 0, 0},     /* remote read */
    [APIC_LDR >> 4] = {RW, R, 0},
    [APIC_DFR >> 4] = {RW, 0, 0},
    [APIC_SVR >> 4] = {RW, RW, SVR_WRITABLE},
    [APIC_ISR >> 4] = {R, R, 0},
    [0x11] = {R, R, 0},
    [0x12] = {R, R, 0},
    [0x13] = {R, R, 0},
    [0x14] = {R, R, 0},
    [0x15] = {R, R, 0},
    [0x16] = {R, R, 0},
    [0x17] = {R, R, 0},
    [APIC_TMR >> 4] = {R, R, 0},
    [0x19] = {R, R, 0},
    [0x1a] = {R, R, 0},
    [0x1b] = {R, R, 0},
    [0x1c] = {R, R, 0},
    [0x1d] = {R, R, 0},
    [0x1e] = {R, R, 0},
    [0x1f] = {R, R, 0},
    [APIC_IRR >> 4] = {R, R, 0},
    [0x21] = {R, R, 0},
    [0x22] = {R, R, 0},
    [0x23] = {R, R, 0},
    [0x24] = {R, R, 0},
    [0x25] = {R, R, 0},
    [0x26] = {R, R, 0},
    [0x27] = {R, R, 0},
    [APIC_ESR >> 4] = {RW, RW, 0}, /* x2APIC: a non-zero value faults */
    [APIC_ICR >> 4] = {RW, RW, (uint32_t)~ICR_X2APIC_RESERVED},
    [APIC_ICR_HIGH >> 4] = {RW, 0, 0},
    [APIC_LVT_TIMER >> 4] = {RW, RW, 0}, /* LVT: lvt_bits */
    [APIC_LVT_THERMAL >> 4] = {RW, RW, 0},
    [APIC_LVT_PERFMON >> 4] = {RW, RW, 0},
    [APIC_LVT_LINT0 >> 4] = {RW, RW, 0},
    [APIC_LVT_LINT1 >> 4] = {RW, RW, 0},
    [APIC_LVT_ERROR >> 4] = {RW, RW, 0},
    [APIC_TIMER_INITIAL >> 4] = {RW, RW, 0xffffffff},
    [APIC_TIMER_CURRENT >> 4] = {R, R, 0},
    [APIC_TIMER_DIVIDE >> 4] = {RW, RW, DIVIDE_WRITABLE},
    [APIC_SELF_IPI >> 4] = {0, W, 0xff},
    [APIC_EXT_FEATURE >> 4] = {R, R, 0},
    [APIC_EXT_CONTROL >> 4] = {RW, RW, EXTENDED_CONTROL},
    [APIC_EXT_SEOI >> 4] = {RW, RW, APIC_LVT_VECTOR},
    [APIC_EXT_IER >> 4] = {RW, RW, 0xffffffff},
    [0x49] = {RW, RW, 0xffffffff},
    [0x4a] = {RW, RW, 0xffffffff},
    [0x4b] = {RW, RW, 0xffffffff},
    [0x4c] = {RW, RW, 0xffffffff},
    [0x4d] = {RW, RW, 0xffffffff},
    [0x4e] = {RW, RW, 0xffffffff},
    [0x4f] = {RW, RW, 0xffffffff},
    [APIC_EXT_LVT0 >> 4] = {RW, RW, EXTENDED_LVT_WRITABLE | APIC_LVT_PENDING},
    [0x51] = {RW, RW, EXTENDED_LVT_WRITABLE | APIC_LVT_PENDING},
    [0x52] = {RW, RW, EXTENDED_LVT_WRITABLE | APIC_LVT_PENDING},
    [0x53] = {RW, RW, EXTENDED_LVT_WRITABLE | APIC_LVT_PENDING},
};

/* What lies behind the page's first part is there where CPUID says so. */
static bool is_there(const struct lapic *l, uint32_t offset)
{
    return offset <= (l->has_extended ? EXTENDED_LVT_LAST : APIC_SELF_IPI);
}

static bool is_ier(uint32_t offset)
{
    return offset >= APIC_EXT_IER && offset < APIC_EXT_LVT0;
}

static bool is_lvt(uint32_t offset)
{
    return offset >= APIC_LVT_TIMER && offset <= APIC_LVT_ERROR;
}

static uint32_t read_register(struct lapic *l, uint32_t offset)
{
    if (offset >= APIC_ISR && offset < APIC_ESR) {
        unsigned i = offset >> 4 & 7;
        return offset < APIC_TMR ? l->isr[i] : offset < APIC_IRR ? l->tmr[i] : l->irr[i];
    }
    if (is_lvt(offset))
        return l->lvt[(offset - APIC_LVT_TIMER) >> 4];
    if (is_ier(offset))
        return l->ier[offset >> 4 & 7];
    if (offset >= APIC_EXT_LVT0)
        return l->extended_lvt[offset >> 4 & 3];
    switch (offset) {
    case APIC_ID:
        return x2apic(l) ? l->cpu->index : l->cpu->index << 24;
    case APIC_VERSION:
        return l->has_extended ? VERSION_AMD : VERSION;
    case APIC_TPR:
        return l->tpr;
    case APIC_PPR:
        return processor_priority(l);
    case APIC_LDR:
        return logical_id(l);
    case APIC_DFR:
        return l->dfr;
    case APIC_SVR:
        return l->svr;
    case APIC_ESR:
        return l->esr;
    case APIC_ICR:
        return l->icr_low;
    case APIC_ICR_HIGH:
        return l->icr_high;
    case APIC_TIMER_INITIAL:
        return l->initial;
    case APIC_TIMER_CURRENT:
        return current_count(l);
    case APIC_TIMER_DIVIDE:
        return l->divide;
    case APIC_EXT_FEATURE:
        return EXTENDED_FEATURE;
    case APIC_EXT_CONTROL:
        return l->control;
    default:
        return 0;
    }
}

static void write_register(struct lapic *l, uint32_t offset, uint32_t value)
{
    if (is_lvt(offset)) {
        write_lvt(l, (offset - APIC_LVT_TIMER) >> 4, value);
        return;
    }
    if (is_ier(offset)) {
        l->ier[offset >> 4 & 7] = value;
        update(l);
        return;
    }
    if (offset >= APIC_EXT_LVT0) {
        write_extended_lvt(l, offset >> 4 & 3, value);
        return;
    }
    switch (offset) {
    case APIC_TPR:
        lapic_set_tpr(l, value);
        break;
    case APIC_EOI:
        end_of_interrupt(l);
        break;
    case APIC_LDR:
        l->ldr = value & 0xff000000;
        break;
    case APIC_DFR:
        l->dfr = value | DFR_FIXED;
        break;
    case APIC_SVR:
        write_svr(l, value);
        break;
    case APIC_ESR: /* "Error Handling": a write shows what was collected since the last one */
        l->esr = l->errors;
        l->errors = 0;
        break;
    case APIC_ICR:
        l->icr_low = value & ICR_WRITABLE;
        if (x2apic(l))
            send(l, l->icr_low, l->icr_high);
        else
            send(l, l->icr_low,
                 l->icr_high >> 24 == XAPIC_BROADCAST ? X2APIC_BROADCAST : l->icr_high >> 24);
        break;
    case APIC_ICR_HIGH:
        l->icr_high = value & 0xff000000;
        break;
    case APIC_TIMER_INITIAL:
        write_initial(l, value);
        break;
    case APIC_TIMER_DIVIDE:
        write_divide(l, value);
        break;
    case APIC_SELF_IPI:
        send(l, SHORTHAND_SELF << APIC_ICR_SHORTHAND_SHIFT | (value & APIC_LVT_VECTOR), 0);
        break;
    case APIC_EXT_CONTROL:
        l->control = value & EXTENDED_CONTROL;
        update(l);
        break;
    case APIC_EXT_SEOI:
        specific_end_of_interrupt(l, value);
        break;
    default:
        break;
    }
}

/* ---- xAPIC: the page ("Local APIC Registers": aligned 32-bit accesses only) ---- */

bool lapic_mmio_hit(const struct lapic *l, uint64_t physical)
{
    return enabled(l) && !x2apic(l) && (physical ^ l->base) >> 12 == 0;
}

uint64_t lapic_mmio_read(struct lapic *l, uint32_t offset, unsigned bytes)
{
    /* "Accesses that are not aligned or of another size: undefined"; here they read as 0. */
    if ((offset & 15) || bytes != 4)
        return 0;
    if (!is_there(l, offset) || !registers[offset >> 4].xapic) {
        error(l, APIC_ESR_ILLEGAL_REGISTER);
        return 0;
    }
    return registers[offset >> 4].xapic & R ? read_register(l, offset) : 0;
}

void lapic_mmio_write(struct lapic *l, uint32_t offset, unsigned bytes, uint64_t value)
{
    if ((offset & 15) || bytes != 4)
        return;
    if (!is_there(l, offset) || !registers[offset >> 4].xapic) {
        error(l, APIC_ESR_ILLEGAL_REGISTER);
        return;
    }
    if (registers[offset >> 4].xapic & W)
        write_register(l, offset, value);
}

/* ---- MSRs ---- */

/* "x2APIC State Transitions": from disabled only to xAPIC, from x2APIC only to disabled. "Local
 * APIC Status and Location": the base is an address of MAXPHYADDR bits; what is above is reserved.
 */
static bool write_base(struct lapic *l, uint64_t value)
{
    const uint64_t mode = APIC_BASE_EN | APIC_BASE_EXTD;
    uint64_t address = (ARCH_BIT(max_physical_bits(l->cpu)) - 1) & ~0xfffull;
    uint64_t known = APIC_BASE_BSP | APIC_BASE_EN | address;
    uint64_t from = l->base & mode, to = value & mode;

    if (l->has_x2apic)
        known |= APIC_BASE_EXTD;
    if (value & ~known)
        return false;
    if (to == APIC_BASE_EXTD || (from == 0 && to == mode) || (from == mode && to == APIC_BASE_EN))
        return false;
    l->base = value;
    if (from && !to) {
        /* "Enabling or Disabling the Local APIC": enabled again, it is as after power-up. */
        lapic_reset(l, true);
    } else if (from == APIC_BASE_EN && to == mode) {
        l->icr_high = 0;
    }
    update(l);
    cpu_reschedule(l->cpu);
    return true;
}

bool lapic_rdmsr(struct lapic *l, uint32_t msr, uint64_t *value)
{
    uint32_t offset;

    if (msr == MSR_IA32_APIC_BASE) {
        *value = l->base;
        return true;
    }
    if (msr == MSR_IA32_TSC_DEADLINE) {
        if (!l->has_deadline)
            return false;
        timer_settle(l);
        *value = deadline_mode(l) ? l->deadline : 0;
        return true;
    }
    offset = (msr - MSR_X2APIC_BASE) << 4;
    if (!x2apic(l) || msr < MSR_X2APIC_BASE || msr > MSR_X2APIC_LAST || !is_there(l, offset) ||
        !(registers[offset >> 4].x2apic & R))
        return false;
    *value = read_register(l, offset);
    if (offset == APIC_ICR)
        *value |= (uint64_t)l->icr_high << 32;
    return true;
}

bool lapic_wrmsr(struct lapic *l, uint32_t msr, uint64_t value)
{
    uint32_t offset, bits;

    if (msr == MSR_IA32_APIC_BASE)
        return write_base(l, value);
    if (msr == MSR_IA32_TSC_DEADLINE) {
        if (!l->has_deadline)
            return false;
        timer_settle(l);
        /* "In other timer modes, a write to the MSR is ignored." */
        if (deadline_mode(l)) {
            l->deadline = value;
            cpu_reschedule(l->cpu);
        }
        return true;
    }
    offset = (msr - MSR_X2APIC_BASE) << 4;
    if (!x2apic(l) || msr < MSR_X2APIC_BASE || msr > MSR_X2APIC_LAST || !is_there(l, offset) ||
        !(registers[offset >> 4].x2apic & W))
        return false;
    /* "x2APIC Reserved Bit Checking" */
    bits = registers[offset >> 4].bits;
    if (is_lvt(offset)) {
        enum lvt n = (offset - APIC_LVT_TIMER) >> 4;
        bits = lvt_bits[n].writable | lvt_bits[n].read_only;
        if (n == LVT_TIMER && !l->has_deadline)
            bits &= ~(uint32_t)APIC_LVT_TIMER_TSC_DEADLINE;
    }
    if ((uint32_t)value & ~bits)
        return false;
    if (offset == APIC_ICR)
        l->icr_high = value >> 32;
    else if (value >> 32)
        return false;
    write_register(l, offset, value);
    return true;
}

/* ---- Task priority, life ---- */

void lapic_set_tpr(struct lapic *l, uint8_t tpr)
{
    l->tpr = tpr;
    update(l);
}

uint8_t lapic_get_tpr(const struct lapic *l)
{
    return l->tpr;
}

/* "Local APIC State After Power-Up or Reset"; "After It Receives an INIT-Deassert IPI": an INIT
 * keeps the APIC ID and IA32_APIC_BASE ("x2APIC State Transitions": and so the mode). */
void lapic_reset(struct lapic *l, bool init)
{
    struct cpu *cpu = l->cpu;
    uint64_t base = l->base;
    bool lint0 = l->lint0;

    memset(l, 0, sizeof(*l));
    l->cpu = cpu;
    l->lint0 = lint0;
    l->has_x2apic = profile_has(cpu->profile, 1, CPUID_1_ECX_X2APIC);
    l->has_deadline = profile_has(cpu->profile, 1, CPUID_1_ECX_TSC_DEADLINE);
    l->has_extended = profile_has(cpu->profile, 0x80000001, CPUID_80000001_ECX_EXTAPIC);
    l->base = init ? base : APIC_DEFAULT_BASE | APIC_BASE_EN | (cpu->index ? 0 : APIC_BASE_BSP);
    l->dfr = UINT32_MAX;
    l->svr = SVR_RESET;
    for (unsigned i = 0; i < LVT_N; i++)
        l->lvt[i] = APIC_LVT_MASK;
    memset(l->ier, 0xff, sizeof l->ier);
    cpu->attention &= ~ATTN_INTR;
    cpu_interrupts_changed(cpu);
}

struct lapic *lapic_new(struct cpu *cpu)
{
    struct lapic *l = calloc(1, sizeof(*l));

    if (!l)
        return NULL;
    l->cpu = cpu;
    lapic_reset(l, false);
    return l;
}

void *lapic_state(struct lapic *l, size_t *size)
{
    *size = sizeof(*l) - offsetof(struct lapic, base);
    return &l->base;
}

void lapic_free(struct lapic *l)
{
    free(l);
}
