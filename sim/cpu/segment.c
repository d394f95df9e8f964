/*
 * Segments: descriptors, loading of segment registers, effective addresses. SDM vol. 3
 * "Protected-Mode Memory Management" and "Protection".
 */
#include "sim/cpu/system.h"
#include "x86/amd.h"

static uint64_t descriptor_base(const uint32_t w[4])
{
    return (w[0] >> 16) | (w[1] & 0xff) << 16 | (w[1] & 0xff000000);
}

/* Granularity applied: 4 KiB units reach to the last byte of the last page. SDM vol. 3 "Segment
 * Descriptors". */
static uint32_t descriptor_limit(const uint32_t w[4])
{
    uint32_t limit = (w[0] & 0xffff) | (w[1] & 0xf0000);
    return w[1] & DESC_G ? limit << 12 | 0xfff : limit;
}

bool descriptor_read(struct cpu *cpu, uint16_t selector, struct descriptor *d, unsigned vector,
                     unsigned ext, struct fault *f)
{
    const struct segment *ldt = &cpu->seg[SEG_LDTR];
    bool local = selector & 4;
    uint32_t offset = selector & ~7u;
    uint32_t error = selector_error(selector) | ext;
    if (local && !(ldt->attr & DESC_P))
        return fault_set(f, vector, error);
    uint64_t base = local ? ldt->base : cpu->gdtr.base;
    uint32_t limit = local ? ldt->limit : cpu->gdtr.limit;
    if (offset + 7 > limit)
        return fault_set(f, vector, error);

    d->linear = base + offset;
    d->word[2] = d->word[3] = 0;
    if (!sys_read(cpu, d->linear, d->word, 8, AS_IMPLICIT, f))
        return false;
    d->attr = d->word[1] & DESC_ATTR;
    d->seg = (struct segment){.selector = selector,
                              .base = descriptor_base(d->word),
                              .limit = descriptor_limit(d->word),
                              .attr = d->attr};
    if (cpu_long_mode(cpu) && !(d->attr & DESC_S)) {
        /* System descriptors are 16 bytes. SDM vol. 3 "System Descriptor Types" (IA-32e mode). */
        if (offset + 15 > limit)
            return fault_set(f, vector, error);
        if (!sys_read(cpu, d->linear + 8, d->word + 2, 8, AS_IMPLICIT, f))
            return false;
        d->seg.base |= (uint64_t)d->word[2] << 32;
    }
    return true;
}

bool descriptor_set_bits(struct cpu *cpu, struct descriptor *d, uint32_t bits, struct fault *f)
{
    if ((d->word[1] & bits) == bits)
        return true;
    d->word[1] |= bits;
    d->attr |= bits;
    d->seg.attr |= bits;
    return sys_write(cpu, d->linear + 4, &d->word[1], 4, AS_IMPLICIT, f);
}

void segment_load_real(struct cpu *cpu, enum seg s, uint16_t selector)
{
    cpu->seg[s].selector = selector;
    cpu->seg[s].base = (uint64_t)selector << 4;
}

/* AMD's before Zen 2 leave it: APM vol. 3 "CPUID", 8000_0021H:EAX.NullSelectClearsBase. */
static bool null_clears_base(const struct cpu *cpu)
{
    return !cpu->profile->amd ||
           cpuid_has(cpu, 0x80000021, 0, CPUID_EAX, CPUID_80000021_EAX_NULL_CLEARS_BASE);
}

static void segment_set_null(struct cpu *cpu, enum seg s, uint16_t selector)
{
    /* Not present marks it unusable; DPL of a null SS is CPL. */
    cpu->seg[s] = (struct segment){.selector = selector,
                                   .base = null_clears_base(cpu) ? 0 : cpu->seg[s].base,
                                   .attr = s == SEG_SS ? cpu->cpl << DESC_DPL_SHIFT : 0};
}

bool segment_check_ss(struct cpu *cpu, uint16_t selector, unsigned cpl, unsigned bad_vector,
                      unsigned ext, struct segment *out, struct fault *f)
{
    uint32_t error = selector_error(selector) | ext;
    struct descriptor d;
    if (selector_null(selector))
        return fault_set(f, bad_vector, ext);
    if (!descriptor_read(cpu, selector, &d, bad_vector, ext, f))
        return false;
    if ((selector & 3u) != cpl || desc_dpl(d.attr) != cpl || !desc_is_writable_data(d.attr))
        return fault_set(f, bad_vector, error);
    if (!(d.attr & DESC_P))
        return fault_set(f, VEC_SS, error);
    if (!descriptor_set_bits(cpu, &d, DESC_ACCESSED, f))
        return false;
    *out = d.seg;
    return true;
}

/* SDM vol. 2 "MOV—Move", protected-mode pseudo-code; vol. 3 "Privilege Level Checking When
 * Accessing Data Segments". */
bool segment_load(struct cpu *cpu, enum seg s, uint16_t selector, struct fault *f)
{
    if (!protected_mode(cpu)) {
        segment_load_real(cpu, s, selector);
        return true;
    }
    unsigned rpl = selector & 3;
    if (s == SEG_SS) {
        /* SDM vol. 3 "NULL Segment Checking": allowed in 64-bit mode at CPL 0-2 with RPL = CPL. */
        if (selector_null(selector)) {
            if (!cpu_64bit(cpu) || cpu->cpl == 3 || rpl != cpu->cpl)
                return fault_set(f, VEC_GP, 0);
            segment_set_null(cpu, s, selector);
            return true;
        }
        struct segment ss;
        if (!segment_check_ss(cpu, selector, cpu->cpl, VEC_GP, 0, &ss, f))
            return false;
        cpu->seg[s] = ss;
        return true;
    }
    if (selector_null(selector)) {
        segment_set_null(cpu, s, selector);
        return true;
    }
    struct descriptor d;
    if (!descriptor_read(cpu, selector, &d, VEC_GP, 0, f))
        return false;
    bool code = desc_is_code(d.attr);
    if (!(d.attr & DESC_S) || (code && !(d.attr & DESC_RW)))
        return fault_set(f, VEC_GP, selector_error(selector));
    unsigned dpl = desc_dpl(d.attr);
    if (!(code && (d.attr & DESC_CONFORM)) && (rpl > dpl || cpu->cpl > dpl))
        return fault_set(f, VEC_GP, selector_error(selector));
    if (!(d.attr & DESC_P))
        return fault_set(f, VEC_NP, selector_error(selector));
    if (!descriptor_set_bits(cpu, &d, DESC_ACCESSED, f))
        return false;
    cpu->seg[s] = d.seg;
    return true;
}

/* SDM vol. 2 "IRET", RETURN-TO-OUTER-PRIVILEGE-LEVEL: data and non-conforming code segments with
 * DPL < CPL become null. */
void segment_drop_privileged(struct cpu *cpu)
{
    static const enum seg data[] = {SEG_ES, SEG_FS, SEG_GS, SEG_DS};
    for (unsigned i = 0; i < sizeof data / sizeof *data; i++) {
        struct segment *s = &cpu->seg[data[i]];
        bool conforming = desc_is_code(s->attr) && (s->attr & DESC_CONFORM);
        if ((s->attr & DESC_P) && !conforming && desc_dpl(s->attr) < cpu->cpl) {
            s->selector = 0;
            s->attr = 0;
        }
    }
}

/* SDM vol. 3 "Limit Checking". */
bool segment_limit_ok(const struct segment *s, uint64_t offset, unsigned n)
{
    uint64_t last = offset + n - 1;
    bool expand_down = (s->attr & (DESC_S | DESC_CODE | DESC_EXPAND)) == (DESC_S | DESC_EXPAND);
    if (!expand_down)
        return last <= s->limit;
    uint64_t top = s->attr & SEG_ATTR_DB ? 0xffffffff : 0xffff;
    return offset > s->limit && last <= top;
}

/* ---- operands ---- */

/* Where a general-purpose register's value stands: number, width, and whether it is AH to BH. */
struct gpr {
    unsigned index, bytes;
    bool high;
};
static struct gpr gpr_of(ZydisRegister r)
{
    if (r >= ZYDIS_REGISTER_RAX && r <= ZYDIS_REGISTER_R15)
        return (struct gpr){r - ZYDIS_REGISTER_RAX, 8, false};
    if (r >= ZYDIS_REGISTER_EAX && r <= ZYDIS_REGISTER_R15D)
        return (struct gpr){r - ZYDIS_REGISTER_EAX, 4, false};
    if (r >= ZYDIS_REGISTER_AX && r <= ZYDIS_REGISTER_R15W)
        return (struct gpr){r - ZYDIS_REGISTER_AX, 2, false};
    if (r >= ZYDIS_REGISTER_SPL && r <= ZYDIS_REGISTER_R15B)
        return (struct gpr){r - ZYDIS_REGISTER_SPL + RSP, 1, false};
    if (r >= ZYDIS_REGISTER_AH && r <= ZYDIS_REGISTER_BH)
        return (struct gpr){r - ZYDIS_REGISTER_AH, 1, true};
    return (struct gpr){r - ZYDIS_REGISTER_AL, 1, false};
}

uint64_t insn_register(struct cpu *cpu, ZydisRegister r)
{
    if (r == ZYDIS_REGISTER_NONE)
        return 0;
    if (r == ZYDIS_REGISTER_RIP || r == ZYDIS_REGISTER_EIP || r == ZYDIS_REGISTER_IP)
        return cpu->rip;
    struct gpr g = gpr_of(r);
    uint64_t v = cpu->r[g.index] >> (g.high ? 8 : 0);
    return g.bytes == 8 ? v : v & (ARCH_BIT(g.bytes * 8) - 1);
}

/* Writing 32 bits clears the upper half. SDM vol. 1 "General-Purpose Registers in 64-Bit Mode". */
void insn_set_register(struct cpu *cpu, ZydisRegister r, uint64_t value)
{
    struct gpr g = gpr_of(r);
    if (g.bytes >= 4) {
        cpu->r[g.index] = g.bytes == 4 ? (uint32_t)value : value;
        return;
    }
    unsigned shift = g.high ? 8 : 0;
    uint64_t mask = (ARCH_BIT(g.bytes * 8) - 1) << shift;
    cpu->r[g.index] = (cpu->r[g.index] & ~mask) | (value << shift & mask);
}

uint64_t insn_linear(struct cpu *cpu, const struct insn *in, const ZydisDecodedOperand *op,
                     unsigned bytes, enum access access)
{
    enum seg s = op->mem.segment == ZYDIS_REGISTER_NONE
                     ? SEG_DS
                     : (enum seg)(op->mem.segment - ZYDIS_REGISTER_ES);
    const struct segment *seg = &cpu->seg[s];
    uint64_t ea = insn_register(cpu, op->mem.base) +
                  insn_register(cpu, op->mem.index) * op->mem.scale +
                  (op->mem.disp.has_displacement ? (uint64_t)op->mem.disp.value : 0);
    if (in->z.address_width < 64)
        ea &= ARCH_BIT(in->z.address_width) - 1;
    unsigned vector = s == SEG_SS ? VEC_SS : VEC_GP;
    if (cpu_64bit(cpu)) {
        /* SDM vol. 1 "Segmentation in 64-Bit Mode": only FS and GS have a base. */
        uint64_t linear = ea + (s == SEG_FS || s == SEG_GS ? seg->base : 0);
        if (!canonical(linear) || !canonical(linear + bytes - 1))
            cpu_fault(cpu, vector, 0);
        return linear;
    }
    if (protected_mode(cpu)) {
        /* SDM vol. 3 "Type Checking". */
        bool code = seg->attr & DESC_CODE, rw = seg->attr & DESC_RW;
        if (!(seg->attr & DESC_P) || (access == ACCESS_WRITE && (code || !rw)) ||
            (access == ACCESS_READ && code && !rw))
            cpu_fault(cpu, vector, 0);
    }
    if (!segment_limit_ok(seg, ea, bytes))
        cpu_fault(cpu, vector, 0);
    return (uint32_t)(seg->base + ea);
}
