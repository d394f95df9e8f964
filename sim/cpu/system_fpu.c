/* FXSAVE, FXRSTOR. SDM vol. 2, and vol. 1 "FXSAVE and FXRSTOR Instructions". */
#include "sim/cpu/memory.h"
#include "sim/cpu/system.h"
#include "sim/fpu/image.h"

#define IMAGE_ALIGNMENT 16

static unsigned xmm_registers(struct cpu *cpu)
{
    return cpu_64bit(cpu) ? 16 : 8;
}
static bool is_wide(const struct insn *in)
{
    return in->z.mnemonic == ZYDIS_MNEMONIC_FXSAVE64 || in->z.mnemonic == ZYDIS_MNEMONIC_FXRSTOR64;
}

/* All checks, of the whole area; nothing has been touched when one fails. The span is of the first
 * n bytes. */
static void open_image(struct cpu *cpu, const struct insn *in, enum access access, unsigned n,
                       struct span *sp)
{
    if (!instruction_announced(cpu, &in->z))
        cpu_fault(cpu, VEC_UD, 0);
    if (cpu->cr0 & (CR0_EM | CR0_TS))
        cpu_fault(cpu, VEC_NM, 0);
    uint64_t linear = insn_linear(cpu, in, &in->op[0], IMAGE_BYTES, access);
    if (linear & (IMAGE_ALIGNMENT - 1))
        cpu_gp0(cpu);
    span_open(cpu, sp, NULL, linear, IMAGE_BYTES, access, cpu->cpl == 3);
    span_open(cpu, sp, NULL, linear, n, access, cpu->cpl == 3);
}

/* Whether XMM registers are saved and restored without CR4.OSFXSR the manual leaves to the
 * implementation; here they are not. MXCSR is in any case. */
void op_fxsave(struct cpu *cpu, const struct insn *in)
{
    struct span sp;
    uint8_t image[IMAGE_BYTES] = {0};
    bool sse = cpu->cr4 & CR4_OSFXSR;
    open_image(cpu, in, ACCESS_WRITE, IMAGE_XMM + (sse ? 16 * xmm_registers(cpu) : 0), &sp);
    image_put_x87(&cpu->fpu, image, is_wide(in));
    image_put_mxcsr(&cpu->fpu, image);
    if (sse)
        image_put_sse(&cpu->fpu, image, xmm_registers(cpu));
    span_write_bytes(cpu, &sp, image);
    cpu_event(cpu, EV_STORE, 1);
}

void op_fxrstor(struct cpu *cpu, const struct insn *in)
{
    struct span sp;
    uint8_t image[IMAGE_BYTES];
    open_image(cpu, in, ACCESS_READ, IMAGE_BYTES, &sp);
    span_read_bytes(cpu, &sp, image);
    if (image_mxcsr(image) & ~(uint32_t)MXCSR_MASK)
        cpu_gp0(cpu);
    image_get_x87(&cpu->fpu, image, is_wide(in));
    cpu->fpu.mxcsr = image_mxcsr(image);
    if (cpu->cr4 & CR4_OSFXSR)
        image_get_sse(&cpu->fpu, image, xmm_registers(cpu));
    cpu_event(cpu, EV_LOAD, 1);
}
