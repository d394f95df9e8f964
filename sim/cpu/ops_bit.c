/* Bits: BT family, scans and counts, BMI1, BMI2, ADX, CRC32. */
#include "sim/cpu/ops.h"

/* A register bit offset may reach outside the memory operand (SDM vol. 2 "BT"): the operand at the
 * address moved by whole operands is accessed. Only CF changes. */
HANDLER(op_bit)
{
    unsigned size = op->size, bits = 8u << size, n = 1u << size;
    bool memory = op->form == FORM_MR || op->form == FORM_MI;
    bool by_register = op->form == FORM_MR || op->form == FORM_RR;
    u64 offset = by_register ? sign_extend(reg_get(cpu, op->s, size), size) : op->imm;
    unsigned bit = offset & (bits - 1);
    struct rmw m = {0};
    u64 a, v;
    enum access access = op->cc == BIT_TEST ? ACCESS_READ : ACCESS_WRITE;
    if (memory) {
        u64 at = ea_offset(cpu, op);
        if (op->form == FORM_MR)
            at = (at + (u64)((s64)offset >> (3 + size)) * n) & op->mask;
        cpu->op = op;
        if (op->complex)
            at = segment_linear(cpu, op->seg, at, n, access);
        a = access == ACCESS_READ ? load(cpu, op, at, n) : rmw_begin(cpu, op, at, n, &m);
    } else {
        a = reg_get(cpu, op->d, size);
    }
    flags_set_cf(cpu, a >> bit & 1);
    switch (op->cc) {
    case BIT_SET:
        v = a | 1ULL << bit;
        break;
    case BIT_RESET:
        v = a & ~(1ULL << bit);
        break;
    case BIT_COMPLEMENT:
        v = a ^ 1ULL << bit;
        break;
    default:
        NEXT;
    }
    if (memory)
        rmw_end(cpu, &m, n, v);
    else
        reg_put(cpu, op->d, size, v);
    NEXT;
}

/* A zero source leaves the destination unchanged (SDM: undefined content; AMD64 and all processors:
 * unchanged). The other flags are undefined: unchanged. */
HANDLER(op_bsf)
{
    u64 v = source(cpu, op, op->size);
    if (v)
        reg_put(cpu, op->d, op->size, (unsigned)__builtin_ctzll(v));
    flags_set_zf(cpu, v == 0);
    NEXT;
}
HANDLER(op_bsr)
{
    u64 v = source(cpu, op, op->size);
    if (v)
        reg_put(cpu, op->d, op->size, 63u - (unsigned)__builtin_clzll(v));
    flags_set_zf(cpu, v == 0);
    NEXT;
}
static void flags_count(struct cpu *cpu, u64 src, u64 r)
{
    u64 f = flags_get_all(cpu) & ~(u64)(RFLAGS_CF | RFLAGS_ZF);
    flags_set_all(cpu, f | (src == 0 ? RFLAGS_CF : 0) | (r == 0 ? RFLAGS_ZF : 0));
}
HANDLER(op_tzcnt)
{
    u64 v = source(cpu, op, op->size);
    u64 r = v ? (unsigned)__builtin_ctzll(v) : 8u << op->size;
    reg_put(cpu, op->d, op->size, r);
    flags_count(cpu, v, r);
    NEXT;
}
HANDLER(op_lzcnt)
{
    u64 v = source(cpu, op, op->size);
    unsigned bits = 8u << op->size;
    u64 r = v ? (unsigned)__builtin_clzll(v) - (64 - bits) : bits;
    reg_put(cpu, op->d, op->size, r);
    flags_count(cpu, v, r);
    NEXT;
}
HANDLER(op_popcnt)
{
    u64 v = source(cpu, op, op->size);
    reg_put(cpu, op->d, op->size, (unsigned)__builtin_popcountll(v));
    flags_set_all(cpu, v == 0 ? RFLAGS_ZF : 0);
    NEXT;
}

/* VEX-encoded ones: d destination; s the register source that ModRM.rm gives (or memory); t the
 * register that VEX.vvvv gives. */
HANDLER(op_andn)
{
    u64 r = ~reg_get(cpu, op->t, op->size) & source(cpu, op, op->size);
    reg_put(cpu, op->d, op->size, r);
    flags_logic(cpu, r, op->size);
    NEXT;
}
HANDLER(op_bextr)
{
    u64 control = reg_get(cpu, op->t, op->size), v = source(cpu, op, op->size);
    unsigned start = control & 0xff, length = control >> 8 & 0xff, bits = 8u << op->size;
    u64 r = start < bits ? v >> start : 0;
    if (length < bits)
        r &= (1ULL << length) - 1;
    reg_put(cpu, op->d, op->size, r);
    flags_set_all(cpu, r == 0 ? RFLAGS_ZF : 0);
    NEXT;
}
HANDLER(op_bls)
{
    u64 v = source(cpu, op, op->size), r;
    bool cf = v == 0;
    switch (op->cc) {
    case BLS_R:
        r = v & (v - 1);
        break;
    case BLS_MSK:
        r = v ^ (v - 1);
        break;
    default:
        r = v & -v;
        cf = v != 0;
        break;
    }
    r &= size_mask(op->size);
    reg_put(cpu, op->d, op->size, r);
    flags_logic(cpu, r, op->size);
    flags_set_cf_of(cpu, cf, false);
    NEXT;
}
HANDLER(op_bzhi)
{
    u64 v = source(cpu, op, op->size);
    unsigned n = reg_get(cpu, op->t, op->size) & 0xff, bits = 8u << op->size;
    if (n < bits)
        v &= (1ULL << n) - 1;
    reg_put(cpu, op->d, op->size, v);
    flags_logic(cpu, v, op->size);
    flags_set_cf_of(cpu, n >= bits, false);
    NEXT;
}
HANDLER(op_pdep)
{
    u64 v = reg_get(cpu, op->t, op->size), mask = source(cpu, op, op->size), r = 0;
    for (; mask; mask &= mask - 1, v >>= 1)
        if (v & 1)
            r |= mask & -mask;
    reg_put(cpu, op->d, op->size, r);
    NEXT;
}
HANDLER(op_pext)
{
    u64 v = reg_get(cpu, op->t, op->size), mask = source(cpu, op, op->size), r = 0;
    for (unsigned i = 0; mask; mask &= mask - 1, i++)
        if (v & mask & -mask)
            r |= 1ULL << i;
    reg_put(cpu, op->d, op->size, r);
    NEXT;
}
HANDLER(op_rorx)
{
    unsigned bits = 8u << op->size, n = op->imm & (bits - 1);
    u64 v = source(cpu, op, op->size);
    reg_put(cpu, op->d, op->size, n ? (v >> n | v << (bits - n)) & size_mask(op->size) : v);
    NEXT;
}
HANDLER(op_shiftx)
{
    unsigned bits = 8u << op->size, n = reg_get(cpu, op->t, op->size) & (bits - 1);
    u64 v = source(cpu, op, op->size);
    if (op->cc == SHIFT_SHL)
        v = v << n & size_mask(op->size);
    else if (op->cc == SHIFT_SHR)
        v >>= n;
    else
        v = (u64)((s64)sign_extend(v, op->size) >> n) & size_mask(op->size);
    reg_put(cpu, op->d, op->size, v);
    NEXT;
}
/* d takes the high half, t the low half; when they are one register, it holds the high half. */
HANDLER(op_mulx)
{
    unsigned __int128 v =
        (unsigned __int128)source(cpu, op, op->size) * reg_get(cpu, OFF(RDX), op->size);
    reg_put(cpu, op->t, op->size, (u64)v & size_mask(op->size));
    reg_put(cpu, op->d, op->size, (u64)(v >> (8u << op->size)));
    NEXT;
}
/* ADCX uses and sets CF alone, ADOX OF (op->cc: which). */
HANDLER(op_adx)
{
    bool by_of = op->cc;
    u64 a = reg_get(cpu, op->d, op->size), b = source(cpu, op, op->size);
    unsigned __int128 sum = (unsigned __int128)a + b + (by_of ? flag_of(cpu) : flag_cf(cpu));
    bool carry = sum >> (8u << op->size) & 1;
    reg_put(cpu, op->d, op->size, (u64)sum & size_mask(op->size));
    if (by_of)
        flags_set_cf_of(cpu, flag_cf(cpu), carry);
    else
        flags_set_cf(cpu, carry);
    NEXT;
}
/* The polynomial 11EDC6F41H, reflected. from: size of the source. */
HANDLER(op_crc32)
{
    u64 v = source(cpu, op, op->from);
    u32 crc = get_u32(cpu, op->d);
    for (unsigned i = 0; i < 1u << op->from; i++) {
        crc ^= (u8)(v >> (8 * i));
        for (unsigned k = 0; k < 8; k++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
    }
    put_u32(cpu, op->d, crc);
    NEXT;
}
