/*
 * String instructions. One with a REP prefix is a block of its own and does its own accounting:
 * each iteration costs a slot and counts its loads and stores, the last one also counts the
 * instruction. Between iterations it can be interrupted: then RIP is still at the instruction (SDM
 * vol. 2 "REP/REPE/REPZ/REPNE/REPNZ").
 */
#include "sim/cpu/ops.h"
#include "sim/cpu/window.h"

struct string_kind {
    uint8_t loads, stores;
    bool source, destination, compares;
};
static const struct string_kind kinds[] = {
    [STRING_MOVS] = {1, 1, true, true, false},  [STRING_STOS] = {0, 1, false, true, false},
    [STRING_LODS] = {1, 0, true, false, false}, [STRING_SCAS] = {1, 0, false, true, true},
    [STRING_CMPS] = {2, 0, true, true, true},
};

static u64 string_linear(struct cpu *cpu, unsigned seg, u64 offset, unsigned n, enum access access)
{
    uint32_t mode = exec_of(cpu)->mode;
    bool is64 = (mode & MODE_CODE) == MODE_64;
    bool base = seg == SEG_FS || seg == SEG_GS;
    if (!(mode & MODE_ALIGN) && !base && (is64 || ((mode & MODE_FLAT_DATA) && seg != SEG_CS)))
        return offset;
    return segment_linear(cpu, seg, offset, n, access);
}

static void compare(struct cpu *cpu, u64 a, u64 b, unsigned size)
{
    u64 r = (a - b) & size_mask(size);
    u64 borrows = (~a & b) | ((~a | b) & r);
    cpu->lazy.result = sign_extend(r, size);
    cpu->lazy.carry = borrows << (64 - (8u << size));
    cpu->lazy.aux = borrows & LAZY_AF;
}

/* One iteration; registers move only when no access can fault any more. */
static void iterate(struct cpu *cpu, const struct op *op)
{
    unsigned size = op->size, n = 1u << size;
    u64 mask = size_mask(op->from);
    u64 si = cpu->r[RSI] & mask, di = cpu->r[RDI] & mask;
    u64 step = cpu->rflags & RFLAGS_DF ? -(u64)n : n;
    const struct string_kind *k = &kinds[op->cc];
    cpu->op = op;
    switch (op->cc) {
    case STRING_MOVS: {
        u64 v = load(cpu, op, string_linear(cpu, op->seg, si, n, ACCESS_READ), n);
        store(cpu, op, string_linear(cpu, SEG_ES, di, n, ACCESS_WRITE), n, v);
        break;
    }
    case STRING_STOS:
        store(cpu, op, string_linear(cpu, SEG_ES, di, n, ACCESS_WRITE), n, cpu->r[RAX]);
        break;
    case STRING_LODS:
        reg_put(cpu, OFF(RAX), size,
                load(cpu, op, string_linear(cpu, op->seg, si, n, ACCESS_READ), n));
        break;
    case STRING_SCAS: {
        u64 v = load(cpu, op, string_linear(cpu, SEG_ES, di, n, ACCESS_READ), n);
        compare(cpu, reg_get(cpu, OFF(RAX), size), v, size);
        break;
    }
    default: {
        u64 a = load(cpu, op, string_linear(cpu, op->seg, si, n, ACCESS_READ), n);
        u64 b = load(cpu, op, string_linear(cpu, SEG_ES, di, n, ACCESS_READ), n);
        compare(cpu, a, b, size);
        break;
    }
    }
    if (k->source)
        reg_put(cpu, OFF(RSI), op->from, (si + step) & mask);
    if (k->destination)
        reg_put(cpu, OFF(RDI), op->from, (di + step) & mask);
}

HANDLER(op_string)
{
    iterate(cpu, op);
    NEXT;
}

static void spend(struct cpu *cpu, unsigned insns, unsigned loads, unsigned stores)
{
    uint64_t *total = cpu->total[cpu->cpl != 0];
    cpu->now++;
    total[EV_SLOTS]++;
    total[EV_SLOTS_HEAVY]++;
    total[EV_INSN] += insns;
    total[EV_UOPS] += 1 + stores;
    total[EV_LOAD] += loads;
    total[EV_STORE] += stores;
}

HANDLER(op_rep)
{
    struct exec *x = exec_of(cpu);
    const struct string_kind *k = &kinds[op->cc];
    u64 bound = x->running->bound;
    cpu->op = op;
    cpu->rip = op->rip;
    window_drain(cpu);
    for (;;) {
        u64 count = reg_get(cpu, OFF(RCX), op->from);
        if (count == 0) {
            cpu->rip = op[1].rip;
            spend(cpu, 1, 0, 0);
            return;
        }
        iterate(cpu, op);
        reg_put(cpu, OFF(RCX), op->from, --count);
        bool last = count == 0 || (k->compares && flag_zf(cpu) != (op->t == REP_E));
        spend(cpu, last, k->loads, k->stores);
        if (last) {
            cpu->rip = op[1].rip;
            return;
        }
        if (x->careful || x->running->dead || cpu->now + bound >= cpu->deadline)
            return;
    }
}
