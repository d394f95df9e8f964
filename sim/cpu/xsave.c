/*
 * The XSAVE feature set: XCR0 and IA32_XSS, CPUID leaf 0DH, XSAVE and its kin. SDM vol. 1 "Managing
 * State Using the XSAVE Feature Set", whose section names stand at the rules; vol. 2 for each
 * instruction.
 *
 * The processor may say of a component in its initial configuration that it is in use, and need not
 * track what was modified ("Processor Tracking of XSAVE-Managed State"): here XINUSE is exact for
 * x87, SSE and AVX, is always 1 for the last branch records, and everything counts as modified.
 */
#include "sim/cpu/memory.h"
#include "sim/cpu/system.h"
#include "sim/fpu/image.h"
#include "sim/fpu/x87.h"
#include "sim/pmu/pmu.h"
#include "x86/cpuid.h"

#define ALIGNMENT       64
#define LEGACY_BYTES    512
#define HEADER_BYTES    64
#define EXTENDED        (LEGACY_BYTES + HEADER_BYTES) /* where component 2 and above begin */
#define HEADER_BV       LEGACY_BYTES                  /* XSTATE_BV, then XCOMP_BV */
#define HEADER_COMP_BV  (LEGACY_BYTES + 8)
#define HEADER_RESERVED (LEGACY_BYTES + 16)
#define COMPACTED       ARCH_BIT(63)
#define X87_BYTES       24 /* of its part in front of MXCSR */
#define YMM_HIGH        16 /* bytes of a register */
#define AVX_BYTES       (16 * YMM_HIGH)
#define AREA_MAX        4096

enum { X87, SSE, AVX, LBR = 15, COMPONENTS };
#define BIT(component) (1ull << (component))

/* ---- what there is ---- */

static uint32_t instructions(const struct cpu *cpu)
{
    uint32_t announced = 0;
    for (uint32_t bit = CPUID_D_1_EAX_XSAVEOPT; bit <= CPUID_D_1_EAX_XSAVES; bit <<= 1)
        if (cpuid_has(cpu, 0xd, 1, CPUID_EAX, bit))
            announced |= bit;
    return announced;
}

static uint64_t user_components(const struct cpu *cpu)
{
    if (!cpuid_has(cpu, 1, 0, CPUID_ECX, CPUID_1_ECX_XSAVE))
        return 0;
    return BIT(X87) | BIT(SSE) | (cpuid_has(cpu, 1, 0, CPUID_ECX, CPUID_1_ECX_AVX) ? BIT(AVX) : 0);
}

static uint64_t supervisor_components(const struct cpu *cpu)
{
    return (instructions(cpu) & CPUID_D_1_EAX_XSAVES) &&
                   cpuid_has(cpu, 7, 0, CPUID_EDX, CPUID_7_EDX_ARCH_LBR)
               ? BIT(LBR)
               : 0;
}

static unsigned bytes_of(const struct cpu *cpu, unsigned component)
{
    return component == AVX ? AVX_BYTES : component == LBR ? pmu_lbr_state_bytes(cpu->pmu) : 0;
}

/* "Standard Format of XSAVE Area": AVX is the only component above SSE that has a place there.
 * "Compacted Format": in the order of their numbers, none on a boundary of its own. */
static unsigned offset_of(const struct cpu *cpu, unsigned component, bool compacted, uint64_t comp)
{
    unsigned at = EXTENDED;
    if (compacted)
        for (unsigned i = AVX; i < component; i++)
            if (comp & BIT(i))
                at += bytes_of(cpu, i);
    return at;
}

/* Of an area with these components. */
static unsigned area_bytes(const struct cpu *cpu, bool compacted, uint64_t components)
{
    unsigned end = EXTENDED;
    for (unsigned i = AVX; i < COMPONENTS; i++)
        if (components & BIT(i))
            end = offset_of(cpu, i, compacted, components) + bytes_of(cpu, i);
    return end;
}

/* SDM vol. 2 "CPUID", leaf 0DH. The profile says which instructions there are. */
void xsave_cpuid(const struct cpu *cpu, uint32_t subleaf, uint32_t out[4])
{
    uint64_t user = user_components(cpu), supervisor = supervisor_components(cpu);
    const struct system_state *s = cpu->system;
    memset(out, 0, 4 * sizeof *out);
    if (!user)
        return;
    if (subleaf == 0) {
        out[0] = (uint32_t)user;
        out[1] = area_bytes(cpu, false, s->xcr0);
        out[2] = area_bytes(cpu, false, user);
    } else if (subleaf == 1) {
        out[0] = instructions(cpu);
        if (out[0] & (CPUID_D_1_EAX_XSAVEC | CPUID_D_1_EAX_XSAVES))
            out[1] = area_bytes(cpu, true, s->xcr0 | s->xss);
        out[2] = (uint32_t)supervisor;
    } else if (subleaf < COMPONENTS && ((user | supervisor) & BIT(subleaf))) {
        out[0] = bytes_of(cpu, subleaf);
        if (supervisor & BIT(subleaf))
            out[2] = CPUID_D_ECX_SUPERVISOR;
        else
            out[1] = offset_of(cpu, subleaf, false, 0);
    }
}

/* ---- XCR0, IA32_XSS ---- */

static void require_osxsave(struct cpu *cpu)
{
    if (!(cpu->cr4 & CR4_OSXSAVE))
        cpu_fault(cpu, VEC_UD, 0);
}

/* FNINIT leaves the registers' contents, the initial configuration does not. */
static void initialize_x87(struct fpu *f)
{
    x87_init(f);
    memset(f->r, 0, sizeof f->r);
}
static bool x87_in_use(const struct fpu *f)
{
    struct fpu initial;
    initialize_x87(&initial);
    bool use = f->control != initial.control || f->status != initial.status ||
               f->top != initial.top || f->valid != initial.valid || f->opcode != initial.opcode ||
               f->code_segment != initial.code_segment || f->data_segment != initial.data_segment ||
               f->instruction_pointer != initial.instruction_pointer ||
               f->data_pointer != initial.data_pointer;
    for (unsigned i = 0; i < 8; i++)
        use |= f->r[i].mantissa || f->r[i].sign_exponent;
    return use;
}

/* "Processor Tracking of XSAVE-Managed State". MXCSR is not of SSE's initial configuration, but
 * what makes an exception for it may as well be in use. */
static uint64_t in_use(const struct cpu *cpu)
{
    const struct fpu *f = &cpu->fpu;
    static const union vector zero;
    uint64_t use = BIT(LBR) | (x87_in_use(f) ? BIT(X87) : 0);
    if (f->mxcsr != MXCSR_RESET)
        use |= BIT(SSE);
    for (unsigned i = 0; i < 16; i++) {
        if (memcmp(&f->ymm[i], &zero, YMM_HIGH) != 0)
            use |= BIT(SSE);
        if (memcmp(f->ymm[i].u8 + YMM_HIGH, &zero, YMM_HIGH) != 0)
            use |= BIT(AVX);
    }
    return use;
}

/* ECX = 1: the components of XCR0 that are in use. */
void op_xgetbv(struct cpu *cpu, const struct insn *in)
{
    (void)in;
    require_osxsave(cpu);
    uint32_t n = cpu->r[RCX];
    if (n > 1 || (n == 1 && !(instructions(cpu) & CPUID_D_1_EAX_XGETBV_1)))
        cpu_gp0(cpu);
    uint64_t value = cpu->system->xcr0 & (n ? in_use(cpu) : ~0ull);
    cpu->r[RAX] = (uint32_t)value;
    cpu->r[RDX] = value >> 32;
}

/* "Enabling the XSAVE Feature Set and XSAVE-Enabled Features": x87 always, AVX with SSE alone. */
void op_xsetbv(struct cpu *cpu, const struct insn *in)
{
    (void)in;
    require_osxsave(cpu);
    require_cpl0(cpu);
    uint64_t value = cpu->r[RDX] << 32 | (uint32_t)cpu->r[RAX];
    if ((uint32_t)cpu->r[RCX] != 0 || (value & ~user_components(cpu)) || !(value & BIT(X87)) ||
        ((value & BIT(AVX)) && !(value & BIT(SSE))))
        cpu_gp0(cpu);
    cpu->system->xcr0 = value;
}

bool has_xss(const struct cpu *cpu)
{
    return instructions(cpu) & CPUID_D_1_EAX_XSAVES;
}

bool xss_write(struct cpu *cpu, uint64_t value)
{
    if (value & ~supervisor_components(cpu))
        return false;
    cpu->system->xss = value;
    return true;
}

/* ---- the area ---- */

struct area {
    uint8_t byte[AREA_MAX];
    struct span span;
    unsigned registers; /* XMM and YMM: 8, 16 in 64-bit mode */
    bool wide;          /* REX.W */
};

static uint64_t get(const struct area *a, unsigned at)
{
    uint64_t v;
    memcpy(&v, a->byte + at, sizeof v);
    return v;
}
static void put(struct area *a, unsigned at, uint64_t v)
{
    memcpy(a->byte + at, &v, sizeof v);
}

/* All checks, and what is there: XSAVE reads the header too, and leaves parts of the area as they
 * are. */
static uint64_t open_area(struct cpu *cpu, const struct insn *in, struct area *a,
                          enum access access, unsigned bytes)
{
    uint64_t linear = insn_linear(cpu, in, &in->op[0], bytes, access);
    if (linear & (ALIGNMENT - 1))
        cpu_gp0(cpu);
    span_open(cpu, &a->span, NULL, linear, bytes, access, cpu->cpl == 3);
    span_read_bytes(cpu, &a->span, a->byte);
    a->registers = cpu_64bit(cpu) ? 16 : 8;
    a->wide = in->z.attributes & ZYDIS_ATTRIB_HAS_REX ? in->z.raw.rex.W : false;
    return linear;
}

/* The exceptions of all, in the order of vol. 2, and the requested-feature bitmap. */
static uint64_t requested(struct cpu *cpu, const struct insn *in, bool supervisor)
{
    if (!instruction_announced(cpu, &in->z))
        cpu_fault(cpu, VEC_UD, 0);
    require_osxsave(cpu);
    if (cpu->cr0 & CR0_TS)
        cpu_fault(cpu, VEC_NM, 0);
    if (supervisor)
        require_cpl0(cpu);
    uint64_t enabled = cpu->system->xcr0 | (supervisor ? cpu->system->xss : 0);
    return (cpu->r[RDX] << 32 | (uint32_t)cpu->r[RAX]) & enabled;
}

static void save_x87(struct cpu *cpu, struct area *a)
{
    uint8_t image[IMAGE_BYTES];
    memcpy(image, a->byte, sizeof image);
    image_put_x87(&cpu->fpu, image, a->wide);
    memcpy(a->byte, image, X87_BYTES);
    memcpy(a->byte + IMAGE_ST, image + IMAGE_ST, IMAGE_XMM - IMAGE_ST);
}

static void save(struct cpu *cpu, struct area *a, uint64_t components, bool compacted,
                 uint64_t comp)
{
    if (components & BIT(X87))
        save_x87(cpu, a);
    if (components & BIT(SSE))
        image_put_sse(&cpu->fpu, a->byte, a->registers);
    if (components & BIT(AVX))
        for (unsigned i = 0, at = offset_of(cpu, AVX, compacted, comp); i < a->registers; i++)
            memcpy(a->byte + at + i * YMM_HIGH, cpu->fpu.ymm[i].u8 + YMM_HIGH, YMM_HIGH);
    if (components & BIT(LBR))
        pmu_lbr_save(cpu->pmu, a->byte + offset_of(cpu, LBR, compacted, comp));
}

/* "Operation of XSAVE", "… of XSAVEOPT": what is asked for, or of that what is in use; MXCSR with
 * SSE and with AVX. */
void op_xsave(struct cpu *cpu, const struct insn *in)
{
    struct area a;
    bool all = in->z.mnemonic == ZYDIS_MNEMONIC_XSAVE || in->z.mnemonic == ZYDIS_MNEMONIC_XSAVE64;
    uint64_t rfbm = requested(cpu, in, false), use = in_use(cpu);
    open_area(cpu, in, &a, ACCESS_WRITE, area_bytes(cpu, false, rfbm));
    save(cpu, &a, rfbm & (all ? ~0ull : use), false, 0);
    if (rfbm & (BIT(SSE) | BIT(AVX)))
        image_put_mxcsr(&cpu->fpu, a.byte);
    put(&a, HEADER_BV, (get(&a, HEADER_BV) & ~rfbm) | (use & rfbm));
    span_write_bytes(cpu, &a.span, a.byte);
    cpu_event(cpu, EV_STORE, 1);
}

/* "Operation of XSAVEC", "… of XSAVES": compacted, what is in use; MXCSR with SSE alone. */
void op_xsavec(struct cpu *cpu, const struct insn *in)
{
    struct area a;
    bool supervisor =
        in->z.mnemonic == ZYDIS_MNEMONIC_XSAVES || in->z.mnemonic == ZYDIS_MNEMONIC_XSAVES64;
    uint64_t rfbm = requested(cpu, in, supervisor), saved = rfbm & in_use(cpu);
    open_area(cpu, in, &a, ACCESS_WRITE, area_bytes(cpu, true, rfbm));
    save(cpu, &a, saved, true, rfbm);
    if (saved & BIT(SSE))
        image_put_mxcsr(&cpu->fpu, a.byte);
    put(&a, HEADER_BV, saved);
    put(&a, HEADER_COMP_BV, rfbm | COMPACTED);
    span_write_bytes(cpu, &a.span, a.byte);
    cpu_event(cpu, EV_STORE, 1);
}

/* "Operation of XRSTOR", "… of XRSTORS": what of the header is #GP. */
static void check_header(struct cpu *cpu, const struct area *a, bool supervisor)
{
    uint64_t bv = get(a, HEADER_BV), comp = get(a, HEADER_COMP_BV);
    uint64_t enabled = cpu->system->xcr0 | (supervisor ? cpu->system->xss : 0);
    bool compacted = comp & COMPACTED;
    bool ok = compacted ? !(comp & ~COMPACTED & ~enabled) && !(bv & ~comp) && !(bv & COMPACTED)
                        : !comp && !(bv & ~enabled);
    if (compacted && !(instructions(cpu) & CPUID_D_1_EAX_XSAVEC))
        ok = false;
    if (supervisor && !compacted)
        ok = false;
    /* Of the standard format bytes 23:8 are looked at, of the compacted one 63:16. */
    for (unsigned i = HEADER_RESERVED; i < (compacted ? EXTENDED : HEADER_RESERVED + 8u); i++)
        ok &= a->byte[i] == 0;
    if (!ok)
        cpu_gp0(cpu);
}

static void restore_avx(struct cpu *cpu, const struct area *a, const uint8_t *from)
{
    for (unsigned i = 0; i < a->registers; i++) {
        if (from)
            memcpy(cpu->fpu.ymm[i].u8 + YMM_HIGH, from + i * YMM_HIGH, YMM_HIGH);
        else
            memset(cpu->fpu.ymm[i].u8 + YMM_HIGH, 0, YMM_HIGH);
    }
}

void op_xrstor(struct cpu *cpu, const struct insn *in)
{
    struct area a;
    struct fpu *f = &cpu->fpu;
    bool supervisor =
        in->z.mnemonic == ZYDIS_MNEMONIC_XRSTORS || in->z.mnemonic == ZYDIS_MNEMONIC_XRSTORS64;
    uint64_t rfbm = requested(cpu, in, supervisor);
    open_area(cpu, in, &a, ACCESS_READ, EXTENDED);
    check_header(cpu, &a, supervisor);
    uint64_t bv = get(&a, HEADER_BV), comp = get(&a, HEADER_COMP_BV), load = rfbm & bv;
    bool compacted = comp & COMPACTED;
    open_area(cpu, in, &a, ACCESS_READ, area_bytes(cpu, compacted, compacted ? comp : load));
    /* "MXCSR": the standard format has it with SSE and with AVX, whatever XSTATE_BV says; the
     * compacted one with SSE alone, and initializes it with it. */
    bool mxcsr = compacted ? load & BIT(SSE) : rfbm & (BIT(SSE) | BIT(AVX));
    if (mxcsr && (image_mxcsr(a.byte) & ~(uint32_t)MXCSR_MASK))
        cpu_gp0(cpu);
    if ((rfbm & BIT(LBR)) &&
        !pmu_lbr_restore(cpu->pmu,
                         load & BIT(LBR) ? a.byte + offset_of(cpu, LBR, true, comp) : NULL))
        cpu_gp0(cpu);
    if (load & BIT(X87))
        image_get_x87(f, a.byte, a.wide);
    else if (rfbm & BIT(X87))
        initialize_x87(f);
    if (mxcsr)
        f->mxcsr = image_mxcsr(a.byte);
    else if (compacted && (rfbm & BIT(SSE)))
        f->mxcsr = MXCSR_RESET;
    if (load & BIT(SSE))
        image_get_sse(f, a.byte, a.registers);
    else if (rfbm & BIT(SSE))
        for (unsigned i = 0; i < a.registers; i++)
            memset(&f->ymm[i], 0, YMM_HIGH);
    if (rfbm & BIT(AVX))
        restore_avx(cpu, &a,
                    load & BIT(AVX) ? a.byte + offset_of(cpu, AVX, compacted, comp) : NULL);
    cpu_event(cpu, EV_LOAD, 1);
}
