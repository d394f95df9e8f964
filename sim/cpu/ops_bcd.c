/* The instructions that 64-bit mode lacks: decimal adjust, BOUND; and what the simulator does not
 * have: x87, MMX, SSE, AVX. */
#include "sim/cpu/ops.h"

/* SDM vol. 2 "AAA", "AAS", "DAA", "DAS", "AAM", "AAD". */
HANDLER(op_bcd)
{
    u8 al = get_u8(cpu, OFF(RAX)), ah = get_u8(cpu, OFF(RAX) + 1), old = al;
    bool cf = flag_cf(cpu), af = flag_af(cpu), low = (al & 15) > 9 || af;
    u64 base = (u64)op->imm & 0xff;
    cpu->op = op;
    switch (op->cc) {
    case BCD_AAA:
    case BCD_AAS: {
        u16 ax = get_u16(cpu, OFF(RAX));
        if (low)
            ax = op->cc == BCD_AAA ? ax + 0x106 : ax - 0x106;
        put_u16(cpu, OFF(RAX), ax & 0xff0f);
        flags_logic(cpu, ax & 0x0f, 0);
        flags_set_all(cpu, (flags_get_all(cpu) & ~(u64)(RFLAGS_AF | RFLAGS_CF)) |
                               (low ? RFLAGS_AF | RFLAGS_CF : 0));
        NEXT;
    }
    case BCD_DAA:
    case BCD_DAS: {
        bool high = old > 0x99 || cf;
        bool carry = high;
        u8 fix = (low ? 6 : 0) + (high ? 0x60 : 0);
        if (op->cc == BCD_DAS && low && old < 6)
            carry = true;
        al = op->cc == BCD_DAA ? al + fix : al - fix;
        put_u8(cpu, OFF(RAX), al);
        flags_logic(cpu, al, 0);
        flags_set_all(cpu, flags_get_all(cpu) | (low ? RFLAGS_AF : 0) | (carry ? RFLAGS_CF : 0));
        NEXT;
    }
    case BCD_AAM:
        if (base != 0) {
            ah = al / base;
            al %= base;
        } else {
            cpu_fault(cpu, VEC_DE, 0);
        }
        break;
    default:
        al = (u8)(al + ah * base);
        ah = 0;
        break;
    }
    put_u16(cpu, OFF(RAX), (u16)(ah << 8 | al));
    flags_logic(cpu, al, 0);
    NEXT;
}

HANDLER(op_bound)
{
    unsigned n = 1u << op->size;
    s64 index = (s64)sign_extend(reg_get(cpu, op->d, op->size), op->size);
    u64 a = ea(cpu, op, 2 * n, ACCESS_READ);
    s64 lower = (s64)sign_extend(load(cpu, op, a, n), op->size);
    s64 upper = (s64)sign_extend(load(cpu, op, a + n, n), op->size);
    if (index < lower || index > upper)
        cpu_fault(cpu, VEC_BR, 0);
    NEXT;
}
