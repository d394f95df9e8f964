/* The debug registers. */
#include "kernel/debugreg.h"

#include <stddef.h>

#include "x86/regs.h"
#include "kernel/trap.h"

/* R/W0 and LEN0 are 0: execution, one byte. GE is "recommended" (SDM vol. 3 "Debug Control Register
 * (DR7)"). */
#define DR7_G0 (1 << 1)
#define DR7_GE (1 << 9)

static void write_dr7(uint64_t value)
{
    __asm__ volatile("movq %0, %%dr7" ::"r"(value | DR7_FIXED1) : "memory");
}

void debug_break_on(const char *address)
{
    __asm__ volatile("movq %0, %%dr0" ::"r"(address) : "memory");
    write_dr7(DR7_G0 | DR7_GE);
}

uint64_t debug_status(void)
{
    uint64_t value;
    __asm__ volatile("movq %%dr6, %0" : "=r"(value));
    return value;
}

void debug_status_clear(void)
{
    __asm__ volatile("movq %0, %%dr6" ::"r"(DR6_FIXED1) : "memory");
}

void debug_reset(void)
{
    write_dr7(0);
    debug_status_clear();
    trap_set_handler(VEC_DB, NULL);
    trap_set_entry(VEC_DB, NULL);
}
