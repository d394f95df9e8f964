/*
 * Stacks of the system part. Pushes and pops move a copy of the stack pointer; it becomes final
 * with stack_commit, when nothing can fault any more. SDM vol. 1 "Procedure Stack", vol. 3 "Stack
 * Switching".
 */
#include "sim/cpu/system.h"

void stack_of(struct stack *st, const struct segment *ss, uint64_t sp, unsigned cpl, bool flat)
{
    *st = (struct stack){.ss = *ss,
                         .sp = sp,
                         .flat = flat,
                         .mask = flat                     ? ~0ull
                                 : ss->attr & SEG_ATTR_DB ? 0xffffffff
                                                          : 0xffff,
                         .as = cpl == 3 ? AS_USER : AS_SUPERVISOR};
}

void stack_current(struct cpu *cpu, struct stack *st)
{
    stack_of(st, &cpu->seg[SEG_SS], cpu->r[RSP], cpu->cpl, cpu_64bit(cpu));
}

static bool stack_address(struct cpu *cpu, const struct stack *st, uint64_t sp, unsigned n,
                          uint64_t *linear, struct fault *f)
{
    uint64_t offset = sp & st->mask;
    if (st->flat) {
        *linear = offset;
        return (canonical(offset) && canonical(offset + n - 1)) || fault_set(f, VEC_SS, st->error);
    }
    if (protected_mode(cpu) && !(st->ss.attr & DESC_P))
        return fault_set(f, VEC_SS, st->error);
    *linear = (uint32_t)(st->ss.base + offset);
    return segment_limit_ok(&st->ss, offset, n) || fault_set(f, VEC_SS, st->error);
}

bool stack_push(struct cpu *cpu, struct stack *st, unsigned n, uint64_t value, struct fault *f)
{
    uint64_t sp = (st->sp & ~st->mask) | ((st->sp - n) & st->mask), linear;
    if (!stack_address(cpu, st, sp, n, &linear, f) || !sys_write(cpu, linear, &value, n, st->as, f))
        return false;
    st->sp = sp;
    return true;
}

bool stack_pop(struct cpu *cpu, struct stack *st, unsigned n, uint64_t *value, struct fault *f)
{
    uint64_t linear;
    *value = 0;
    if (!stack_address(cpu, st, st->sp, n, &linear, f) ||
        !sys_read(cpu, linear, value, n, st->as, f))
        return false;
    st->sp = (st->sp & ~st->mask) | ((st->sp + n) & st->mask);
    return true;
}

void stack_commit(struct cpu *cpu, const struct stack *st)
{
    cpu->r[RSP] = st->sp;
}
