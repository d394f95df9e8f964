/*
 * x87 instructions: which of sim/fpu/x87.h's each one is, its operand in memory, the faults before
 * it (#NM, #MF), and the pointers to the last one. SDM vol. 1 "Programming with the x87 FPU"; vol.
 * 2 "x87 FPU Floating-Point Exceptions", appendix A "Escape Opcode Instructions".
 *
 * A numeric exception that is unmasked is taken at the next instruction that waits, as #MF. With
 * CR0.NE = 0 the processor would say so on the pin FERR# and wait for interrupt 13, which no
 * machine with a local APIC wires any more: the run ends there, and says so.
 */
#include "sim/cpu/ops.h"
#include "sim/cpu/system.h"
#include "sim/fpu/x87.h"
#include "x86/cpuid.h"

/* In op: d the opcode's low three bits, cc field reg of ModRM, s the ModRM byte; size 1 for the
 * environment's 16-bit formats; t: what of the pointers is kept. */
#define REG(op) ((op)->cc)
#define STI(op) ((op)->s & 7)
enum { DATA_POINTER_ALWAYS = 1, SEGMENTS = 2 };

/* ---- before and after ---- */

static void check_available(struct cpu *cpu, const struct op *op)
{
    cpu->op = op;
    if (unlikely(cpu->cr0 & (CR0_EM | CR0_TS)))
        cpu_fault(cpu, VEC_NM, 0);
}
void x87_check_pending(struct cpu *cpu)
{
    if (likely(!x87_pending(&cpu->fpu)))
        return;
    if (!(cpu->cr0 & CR0_NE))
        cpu_unsupported(cpu, "an x87 exception by FERR# and interrupt 13 (CR0.NE = 0)");
    cpu_fault(cpu, VEC_MF, 0);
}
static void wait(struct cpu *cpu, const struct op *op)
{
    check_available(cpu, op);
    x87_check_pending(cpu);
}

/* The pointers to the last instruction that was no control instruction. FOP is that of the last
 * unmasked exception, and so is the data pointer where CPUID says so (SDM vol. 1 "Fopcode
 * Compatibility Sub-mode", "x87 FPU Instruction and Data (Operand) Pointers"). Processors that
 * deprecate the selectors save zeros for them (vol. 2 "CPUID", leaf 7). */
static void done(struct cpu *cpu, const struct op *op)
{
    struct fpu *f = &cpu->fpu;
    f->instruction_pointer = op->rip;
    f->code_segment = op->t & SEGMENTS ? cpu->seg[SEG_CS].selector : 0;
    if (unlikely(x87_pending(f)))
        f->opcode = op->d << 8 | op->s;
}
static void done_memory(struct cpu *cpu, const struct op *op, u64 offset)
{
    done(cpu, op);
    if (!(op->t & DATA_POINTER_ALWAYS) && !x87_pending(&cpu->fpu))
        return;
    cpu->fpu.data_pointer = offset;
    cpu->fpu.data_segment = op->t & SEGMENTS ? cpu->seg[op->seg].selector : 0;
}

/* ---- memory ---- */

#define STATE_MAX 108

/* Eight bytes at a time, then four, then two: as decode.c counts them. */
static unsigned piece(unsigned left)
{
    return left >= 8 ? 8 : left >= 4 ? 4 : 2;
}
static u64 next_piece(struct cpu *cpu, u64 linear, unsigned n)
{
    return (exec_of(cpu)->mode & MODE_CODE) == MODE_64 ? linear + n : (u32)(linear + n);
}
static void read_operand(struct cpu *cpu, const struct op *op, void *to, unsigned n)
{
    u64 linear = ea(cpu, op, n, ACCESS_READ);
    for (u8 *p = to; n;) {
        unsigned k = piece(n);
        u64 v = load(cpu, op, linear, k);
        memcpy(p, &v, k);
        linear = next_piece(cpu, linear, k);
        p += k;
        n -= k;
    }
}
/* Faults as a store of n bytes would. */
static void check_write(struct cpu *cpu, const struct op *op, unsigned n)
{
    struct span all;
    span_open(cpu, &all, op, ea(cpu, op, n, ACCESS_WRITE), n, ACCESS_WRITE, cpu->cpl == 3);
}
static void write_operand(struct cpu *cpu, const struct op *op, const void *from, unsigned n)
{
    u64 linear = ea(cpu, op, n, ACCESS_WRITE);
    if (n > 8) /* nothing is written unless all can be */
        check_write(cpu, op, n);
    for (const u8 *p = from; n;) {
        unsigned k = piece(n);
        u64 v = 0;
        memcpy(&v, p, k);
        store(cpu, op, linear, k, v);
        linear = next_piece(cpu, linear, k);
        p += k;
        n -= k;
    }
}

/* ---- numeric instructions ---- */

static HANDLER(arith_memory)
{
    u8 operand[8];
    enum x87_format format = op->d >> 1;
    wait(cpu, op);
    u64 offset = ea_offset(cpu, op);
    read_operand(cpu, op, operand, x87_bytes[format]);
    x87_arith_memory(&cpu->fpu, REG(op), format, operand);
    done_memory(cpu, op, offset);
    NEXT;
}
static HANDLER(arith_register) /* D8, DC, DE */
{
    wait(cpu, op);
    if (REG(op) == X87_COM || REG(op) == X87_COMP)
        x87_compare(&cpu->fpu, STI(op), false, (REG(op) == X87_COMP) + (op->d == 6));
    else
        x87_arith_register(&cpu->fpu, REG(op), STI(op), op->d != 0, op->d == 6);
    done(cpu, op);
    NEXT;
}
static HANDLER(compare_unordered) /* FUCOM, FUCOMP, FUCOMPP */
{
    wait(cpu, op);
    x87_compare(&cpu->fpu, STI(op), true, op->d == 2 ? 2 : REG(op) & 1);
    done(cpu, op);
    NEXT;
}
static HANDLER(compare_flags) /* FUCOMI (5), FCOMI (6), and with a pop (DF) */
{
    uint16_t codes;
    wait(cpu, op);
    if (x87_compare_flags(&cpu->fpu, STI(op), REG(op) == 5, op->d == 7, &codes))
        flags_set_all(cpu, (codes & X87_C3 ? RFLAGS_ZF : 0) | (codes & X87_C2 ? RFLAGS_PF : 0) |
                               (codes & X87_C0 ? RFLAGS_CF : 0));
    done(cpu, op);
    NEXT;
}
static HANDLER(move_if) /* FCMOVcc; DA, and DB with the condition inverted */
{
    static const u8 conditions[4] = {2, 4, 6, 10}; /* B, E, BE, U (which is P) */
    wait(cpu, op);
    x87_move_if(&cpu->fpu, STI(op), flags_condition(cpu, conditions[REG(op)] | (op->d & 1)));
    done(cpu, op);
    NEXT;
}
static HANDLER(function) /* D9 E0 to FF */
{
    struct fpu *f = &cpu->fpu;
    wait(cpu, op);
    switch (op->s) {
    case 0xe0:
    case 0xe1:
        x87_sign(f, op->s & 1);
        break;
    case 0xe5:
        x87_examine(f);
        break;
    case 0xf6:
    case 0xf7:
        x87_rotate(f, op->s & 1 ? 1 : -1);
        break;
    default:
        if (REG(op) == 5)
            x87_constant(f, op->s & 7);
        else
            x87_function(f, op->s);
        break;
    }
    done(cpu, op);
    NEXT;
}
static HANDLER(load_register)
{
    wait(cpu, op);
    x87_load_register(&cpu->fpu, STI(op));
    done(cpu, op);
    NEXT;
}
static HANDLER(exchange)
{
    wait(cpu, op);
    x87_exchange(&cpu->fpu, STI(op));
    done(cpu, op);
    NEXT;
}
static HANDLER(store_register) /* FST (DD /2), FSTP and its other encodings */
{
    wait(cpu, op);
    x87_store_register(&cpu->fpu, STI(op), !(op->d == 5 && REG(op) == 2));
    done(cpu, op);
    NEXT;
}
static HANDLER(free_register) /* FFREE, FFREEP */
{
    wait(cpu, op);
    x87_free(&cpu->fpu, STI(op), op->d == 7);
    done(cpu, op);
    NEXT;
}
static HANDLER(no_operation) /* FNOP */
{
    wait(cpu, op);
    done(cpu, op);
    NEXT;
}
/* FENI and FDISI of the 8087, FSETPM of the 80287: nothing, and no state is affected. SDM vol. 1
 * "Unsupported x87 FPU Instructions". */
static HANDLER(obsolete)
{
    check_available(cpu, op);
    NEXT;
}

/* ---- loads and stores; the format is in from ---- */

static HANDLER(load_memory)
{
    u8 operand[10];
    wait(cpu, op);
    u64 offset = ea_offset(cpu, op);
    read_operand(cpu, op, operand, x87_bytes[op->from]);
    x87_load(&cpu->fpu, op->from, operand);
    done_memory(cpu, op, offset);
    NEXT;
}
static void store_memory(struct cpu *cpu, const struct op *op, bool truncate, bool pops)
{
    wait(cpu, op);
    struct x87_store s = x87_store(&cpu->fpu, op->from, truncate, pops);
    u64 offset = ea_offset(cpu, op);
    if (s.write)
        write_operand(cpu, op, s.bytes, x87_bytes[op->from]);
    else
        check_write(cpu, op, x87_bytes[op->from]);
    x87_stored(&cpu->fpu, &s);
    done_memory(cpu, op, offset);
}
static HANDLER(store_keep)
{
    store_memory(cpu, op, false, false);
    NEXT;
}
static HANDLER(store_pop)
{
    store_memory(cpu, op, false, true);
    NEXT;
}
static HANDLER(store_truncated)
{
    store_memory(cpu, op, true, true);
    NEXT;
}

/* ---- control ---- */

HANDLER(op_fwait)
{
    cpu->op = op;
    if ((cpu->cr0 & (CR0_MP | CR0_TS)) == (CR0_MP | CR0_TS))
        cpu_fault(cpu, VEC_NM, 0);
    x87_check_pending(cpu);
    NEXT;
}
static HANDLER(init_or_clear) /* DB E2, E3 */
{
    check_available(cpu, op);
    if (op->s & 1)
        x87_init(&cpu->fpu);
    else
        x87_clear_exceptions(&cpu->fpu);
    NEXT;
}
static HANDLER(load_control)
{
    u8 word[2];
    wait(cpu, op);
    read_operand(cpu, op, word, 2);
    x87_set_control(&cpu->fpu, word[0] | word[1] << 8);
    NEXT;
}
static HANDLER(store_control)
{
    check_available(cpu, op);
    write_operand(cpu, op, &cpu->fpu.control, 2);
    NEXT;
}
static HANDLER(store_status)
{
    check_available(cpu, op);
    u16 status = x87_status(&cpu->fpu);
    write_operand(cpu, op, &status, 2);
    NEXT;
}
static HANDLER(store_status_ax)
{
    check_available(cpu, op);
    put_u16(cpu, OFF(RAX), x87_status(&cpu->fpu));
    NEXT;
}

/* ---- environment and state ---- */

/* The seven words of the environment, in 16 or 32 bits. SDM vol. 1, figures "Protected Mode x87 FPU
 * State Image in Memory, 32-Bit Format" and the three that follow. */
enum { ENV_CONTROL, ENV_STATUS, ENV_TAGS, ENV_IP, ENV_CS, ENV_DP, ENV_DS, ENV_WORDS };

static unsigned env_bytes(const struct op *op)
{
    return ENV_WORDS << op->size;
}

/* Reserved fields of the 32-bit format are ones, as processors write them. */
static void env_build(struct cpu *cpu, const struct op *op, u8 *to)
{
    const struct fpu *f = &cpu->fpu;
    bool wide = op->size == 2, real = !protected_mode(cpu);
    u32 ones = wide ? 0xffff0000 : 0;
    u32 word[ENV_WORDS] = {
        [ENV_CONTROL] = f->control | ones,
        [ENV_STATUS] = x87_status(f) | ones,
        [ENV_TAGS] = x87_tags(f) | ones,
        [ENV_IP] = f->instruction_pointer,
        [ENV_CS] = f->code_segment | (wide ? f->opcode << 16 : 0),
        [ENV_DP] = f->data_pointer,
        [ENV_DS] = f->data_segment | ones,
    };
    if (real) { /* linear addresses */
        u32 ip = f->instruction_pointer + (f->code_segment << 4);
        u32 dp = f->data_pointer + (f->data_segment << 4);
        word[ENV_IP] = (ip & 0xffff) | ones;
        word[ENV_CS] = (ip >> 16 << 12) | f->opcode;
        word[ENV_DP] = (dp & 0xffff) | ones;
        word[ENV_DS] = dp >> 16 << 12;
    }
    for (unsigned i = 0; i < ENV_WORDS; i++)
        memcpy(to + (i << op->size), &word[i], 1u << op->size);
}
static void env_take(struct cpu *cpu, const struct op *op, const u8 *from)
{
    struct fpu *f = &cpu->fpu;
    bool wide = op->size == 2;
    u32 word[ENV_WORDS] = {0};
    for (unsigned i = 0; i < ENV_WORDS; i++)
        memcpy(&word[i], from + (i << op->size), 1u << op->size);
    x87_set_control(f, word[ENV_CONTROL]);
    x87_set_status(f, word[ENV_STATUS]);
    x87_set_tags(f, word[ENV_TAGS]);
    if (!protected_mode(cpu)) {
        f->instruction_pointer = (word[ENV_IP] & 0xffff) | (word[ENV_CS] >> 12 << 16);
        f->data_pointer = (word[ENV_DP] & 0xffff) | (word[ENV_DS] >> 12 << 16);
        f->opcode = word[ENV_CS] & 0x7ff;
        f->code_segment = f->data_segment = 0;
        return;
    }
    f->instruction_pointer = word[ENV_IP];
    f->data_pointer = word[ENV_DP];
    f->code_segment = op->t & SEGMENTS ? word[ENV_CS] : 0;
    f->data_segment = op->t & SEGMENTS ? word[ENV_DS] : 0;
    if (wide)
        f->opcode = word[ENV_CS] >> 16 & 0x7ff;
}

static HANDLER(store_environment)
{
    u8 image[STATE_MAX];
    check_available(cpu, op);
    env_build(cpu, op, image);
    write_operand(cpu, op, image, env_bytes(op));
    x87_set_control(&cpu->fpu, cpu->fpu.control | X87_EXCEPTIONS);
    NEXT;
}
static HANDLER(load_environment)
{
    u8 image[STATE_MAX];
    wait(cpu, op);
    read_operand(cpu, op, image, env_bytes(op));
    env_take(cpu, op, image);
    NEXT;
}
/* The registers follow, ST(0) first. */
static HANDLER(save_state)
{
    u8 image[STATE_MAX];
    unsigned n = env_bytes(op);
    check_available(cpu, op);
    env_build(cpu, op, image);
    for (unsigned i = 0; i < 8; i++, n += 10) {
        memcpy(image + n, &x87_st(&cpu->fpu, i)->mantissa, 8);
        memcpy(image + n + 8, &x87_st(&cpu->fpu, i)->sign_exponent, 2);
    }
    write_operand(cpu, op, image, n);
    x87_init(&cpu->fpu);
    NEXT;
}
static HANDLER(restore_state)
{
    u8 image[STATE_MAX];
    unsigned n = env_bytes(op);
    wait(cpu, op);
    read_operand(cpu, op, image, n + 80);
    env_take(cpu, op, image);
    for (unsigned i = 0; i < 8; i++, n += 10) {
        memcpy(&x87_st(&cpu->fpu, i)->mantissa, image + n, 8);
        memcpy(&x87_st(&cpu->fpu, i)->sign_exponent, image + n + 8, 2);
    }
    NEXT;
}

/* ---- decoding ---- */

struct x87_recipe {
    op_fn fn;
    uint8_t format;
};
// clang-format off
#define LD(f) {load_memory, X87_##f}
#define ST(f) {store_keep, X87_##f}
#define SP(f) {store_pop, X87_##f}
#define TT(f) {store_truncated, X87_##f}
/* With an operand in memory, by opcode and reg; D8, DA, DC and DE are arithmetic. */
static const struct x87_recipe memory_forms[4][8] = {
    /* D9 */ {LD(M32), {0}, ST(M32), SP(M32), {load_environment, 0}, {load_control, 0},
              {store_environment, 0}, {store_control, 0}},
    /* DB */ {LD(I32), TT(I32), ST(I32), SP(I32), {0}, LD(M80), {0}, SP(M80)},
    /* DD */ {LD(M64), TT(I64), ST(M64), SP(M64), {restore_state, 0}, {0}, {save_state, 0},
              {store_status, 0}},
    /* DF */ {LD(I16), TT(I16), ST(I16), SP(I16), LD(BCD), LD(I64), SP(BCD), SP(I64)},
};
/* Without, by opcode and reg. */
static const op_fn register_forms[8][8] = {
    /* D8 */ {arith_register, arith_register, arith_register, arith_register, arith_register,
              arith_register, arith_register, arith_register},
    /* D9 */ {load_register, exchange, no_operation, store_register, function, function, function,
              function},
    /* DA */ {move_if, move_if, move_if, move_if, NULL, compare_unordered, NULL, NULL},
    /* DB */ {move_if, move_if, move_if, move_if, obsolete, compare_flags, compare_flags, NULL},
    /* DC */ {arith_register, arith_register, arith_register, arith_register, arith_register,
              arith_register, arith_register, arith_register},
    /* DD */ {free_register, exchange, store_register, store_register, compare_unordered,
              compare_unordered, NULL, NULL},
    /* DE */ {arith_register, arith_register, arith_register, arith_register, arith_register,
              arith_register, arith_register, arith_register},
    /* DF */ {free_register, exchange, store_register, store_register, store_status_ax,
              compare_flags, compare_flags, NULL},
};
// clang-format on

op_fn x87_decode(struct cpu *cpu, struct op *op, uint8_t opcode, uint8_t modrm, bool environment16)
{
    op->d = opcode & 7;
    op->s = modrm;
    op->cc = modrm >> 3 & 7;
    op->size = environment16 ? 1 : 2;
    /* Without selectors the image of real mode still has its linear addresses. */
    if (!cpuid_has(cpu, 7, 0, CPUID_EBX, CPUID_7_EBX_FDP_EXCPTN_ONLY))
        op->t |= DATA_POINTER_ALWAYS;
    if (!cpuid_has(cpu, 7, 0, CPUID_EBX, CPUID_7_EBX_NO_FCS_FDS) ||
        (exec_of(cpu)->mode & MODE_REAL))
        op->t |= SEGMENTS;
    if (modrm >= 0xc0) {
        if (op->d == 3 && (modrm == 0xe2 || modrm == 0xe3))
            return init_or_clear;
        return register_forms[op->d][op->cc];
    }
    if (!(op->d & 1))
        return arith_memory;
    const struct x87_recipe *r = &memory_forms[op->d >> 1][op->cc];
    op->from = r->format;
    /* FISTTP came with SSE3. */
    if (r->fn == store_truncated && !cpuid_has(cpu, 1, 0, CPUID_ECX, CPUID_1_ECX_SSE3))
        return NULL;
    return r->fn;
}
