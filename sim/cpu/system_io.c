/*
 * I/O instructions. SDM vol. 1 "Input/Output": IOPL, the I/O permission bit map, INS and OUTS.
 */
#include "sim/cpu/system.h"
#include "sim/dev/dev.h"

#define TSS_IO_MAP_BASE 102 /* offset of the I/O map base address in 32- and 64-bit TSSs */

/* SDM vol. 1 "I/O Permission Bit Map": all bits of the access must be clear; two bytes are read
 * always, so the map ends with a byte of ones. */
static void check_port(struct cpu *cpu, uint16_t port, unsigned n)
{
    struct fault f;
    uint16_t map, bits;
    const struct segment *tr = &cpu->seg[SEG_TR];
    if (!protected_mode(cpu) || cpu->cpl <= iopl(cpu))
        return;
    unsigned type = desc_type(tr->attr);
    if (!(tr->attr & DESC_P) || (type != SYS_TSS_BUSY && type != SYS_TSS) ||
        TSS_IO_MAP_BASE + 1 > tr->limit)
        cpu_gp0(cpu);
    if (!sys_read(cpu, tr->base + TSS_IO_MAP_BASE, &map, 2, AS_IMPLICIT, &f))
        fault_raise(cpu, &f);
    uint32_t at = map + port / 8u;
    if (at + 1 > tr->limit)
        cpu_gp0(cpu);
    if (!sys_read(cpu, tr->base + at, &bits, 2, AS_IMPLICIT, &f))
        fault_raise(cpu, &f);
    if (bits >> (port & 7) & ((1u << n) - 1))
        cpu_gp0(cpu);
}

static uint32_t port_in(struct cpu *cpu, uint16_t port, unsigned n)
{
    cpu_spend_cycles(cpu, cpu->profile->uarch.lat_io);
    debug_io_access(cpu, port, n);
    return machine_in(cpu, port, n);
}

static void port_out(struct cpu *cpu, uint16_t port, unsigned n, uint32_t value)
{
    cpu_spend_cycles(cpu, cpu->profile->uarch.lat_io);
    debug_io_access(cpu, port, n);
    machine_out(cpu, port, n, value);
}

void op_in_out(struct cpu *cpu, const struct insn *in)
{
    bool out = in->z.mnemonic == ZYDIS_MNEMONIC_OUT;
    const ZydisDecodedOperand *where = &in->op[!out], *data = &in->op[out];
    unsigned n = data->size / 8;
    uint16_t port =
        where->type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? where->imm.value.u & 0xff : cpu->r[RDX];
    check_port(cpu, port, n);
    if (out)
        port_out(cpu, port, n, insn_register(cpu, data->reg.value));
    else
        insn_set_register(cpu, data->reg.value, port_in(cpu, port, n));
}

static uint64_t address_mask(const struct insn *in)
{
    return in->z.address_width == 64 ? ~0ull : ARCH_BIT(in->z.address_width) - 1;
}

static void index_set(struct cpu *cpu, enum reg r, uint64_t value, const struct insn *in)
{
    static const ZydisRegister base[] = {ZYDIS_REGISTER_AX, ZYDIS_REGISTER_EAX, ZYDIS_REGISTER_RAX};
    unsigned w = in->z.address_width;
    insn_set_register(cpu, base[w == 16 ? 0 : w == 32 ? 1 : 2] + r, value);
}

static unsigned string_bytes(ZydisMnemonic m)
{
    switch (m) {
    case ZYDIS_MNEMONIC_INSB:
    case ZYDIS_MNEMONIC_OUTSB:
        return 1;
    case ZYDIS_MNEMONIC_INSW:
    case ZYDIS_MNEMONIC_OUTSW:
        return 2;
    default:
        return 4;
    }
}

/* One element of INS or OUTS at seg:index. */
static void string_element(struct cpu *cpu, const struct insn *in, bool out, unsigned n)
{
    bool user = cpu->cpl == 3;
    uint16_t port = cpu->r[RDX];
    enum reg index = out ? RSI : RDI;
    const ZydisDecodedOperand *op = NULL;
    for (unsigned i = 0; i < in->z.operand_count_visible; i++)
        if (in->op[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
            op = &in->op[i];
    ZydisDecodedOperand implied = {.type = ZYDIS_OPERAND_TYPE_MEMORY};
    if (!op) { /* Zydis hides the operands of string instructions */
        bool fs = in->z.attributes & ZYDIS_ATTRIB_HAS_SEGMENT_FS;
        bool gs = in->z.attributes & ZYDIS_ATTRIB_HAS_SEGMENT_GS;
        unsigned w = in->z.address_width;
        implied.mem.base = (w == 16   ? ZYDIS_REGISTER_AX
                            : w == 32 ? ZYDIS_REGISTER_EAX
                                      : ZYDIS_REGISTER_RAX) +
                           index;
        implied.mem.segment = !out                                             ? ZYDIS_REGISTER_ES
                              : fs                                             ? ZYDIS_REGISTER_FS
                              : gs                                             ? ZYDIS_REGISTER_GS
                              : in->z.attributes & ZYDIS_ATTRIB_HAS_SEGMENT_ES ? ZYDIS_REGISTER_ES
                              : in->z.attributes & ZYDIS_ATTRIB_HAS_SEGMENT_CS ? ZYDIS_REGISTER_CS
                              : in->z.attributes & ZYDIS_ATTRIB_HAS_SEGMENT_SS ? ZYDIS_REGISTER_SS
                                                                               : ZYDIS_REGISTER_DS;
        op = &implied;
    }
    check_port(cpu, port, n);
    if (out) {
        uint64_t linear = insn_linear(cpu, in, op, n, ACCESS_READ);
        port_out(cpu, port, n, mem_read(cpu, linear, n, user));
    } else {
        uint64_t linear = insn_linear(cpu, in, op, n, ACCESS_WRITE);
        /* The store must not fault after the port was read. */
        struct translation t;
        struct fault f;
        uint64_t last = linear + n - 1;
        if (!page_translate(cpu, linear, ACCESS_WRITE, user ? AS_USER : AS_SUPERVISOR, &t, &f) ||
            !page_translate(cpu, last, ACCESS_WRITE, user ? AS_USER : AS_SUPERVISOR, &t, &f))
            fault_raise(cpu, &f);
        mem_write(cpu, linear, n, port_in(cpu, port, n), user);
    }
    int64_t step = cpu_rflags(cpu) & RFLAGS_DF ? -(int64_t)n : n;
    index_set(cpu, index, (cpu->r[index] + step) & address_mask(in), in);
}

/* With REP, interrupts and limits are looked at between elements (SDM vol. 2 "REP"); they and
 * faults leave the registers at the next element, and RIP at the instruction. */
static void string_io(struct cpu *cpu, const struct insn *in, bool out)
{
    unsigned n = string_bytes(in->z.mnemonic);
    if (!(in->z.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPNE))) {
        string_element(cpu, in, out, n);
        return;
    }
    uint64_t mask = address_mask(in);
    while (cpu->r[RCX] & mask) {
        string_element(cpu, in, out, n);
        index_set(cpu, RCX, (cpu->r[RCX] - 1) & mask, in);
        if ((cpu->r[RCX] & mask) && cpu->now >= cpu->deadline) {
            cpu->unfinished = true;
            return;
        }
    }
}

void op_ins(struct cpu *cpu, const struct insn *in)
{
    string_io(cpu, in, false);
}

void op_outs(struct cpu *cpu, const struct insn *in)
{
    string_io(cpu, in, true);
}
