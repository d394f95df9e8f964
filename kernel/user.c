/* Ring 3: the user's pages, the MSRs of the fast system calls, and what runs there. */
#include "kernel/user.h"

#include "x86/cpuid.h"
#include "x86/maker.h"
#include "x86/msr.h"
#include "x86/regs.h"
#include "kernel/cpuid.h"
#include "kernel/msr.h"
#include "kernel/paging.h"
#include "kernel/panic.h"
#include "kernel/percpu.h"
#include "kernel/string.h"
#include "kernel/trap.h"

/* One region for each processor: the text page, a page that is not there, the stack. */
#define USER_BASE       0x0000008000000000ULL
#define USER_REGION     0x10000
#define USER_STACK      0x2000
#define USER_STACK_SIZE 8192

/* What SYSCALL clears: interrupts stay off until the kernel has its stack back (SDM vol. 2
 * "SYSCALL"). */
#define SYSCALL_FMASK (RFLAGS_TF | RFLAGS_IF | RFLAGS_DF | RFLAGS_IOPL | RFLAGS_NT | RFLAGS_AC)

static uint8_t user_text[MAX_CPUS][PAGE_SIZE] __attribute__((aligned(PAGE_SIZE)));
static uint8_t user_stack[MAX_CPUS][USER_STACK_SIZE] __attribute__((aligned(PAGE_SIZE)));
static struct {
    bool mapped, syscall, sysenter; /* is there, and its registers took what they were given */
} ready[MAX_CPUS];

/* The ways back: the instruction, and the UD2 that nobody should reach. */
static const char *const exits[] = {
    [USER_SYSCALL] = user_exit_syscall,
    [USER_SYSENTER] = user_exit_sysenter,
    [USER_INTERRUPT] = user_exit_interrupt,
};
#define EXIT_SIZE (USER_EXIT_SIZE + 2)
_Static_assert(USER_CODE_MAX + EXIT_SIZE == PAGE_SIZE, "USER_CODE_MAX");

static bool has_syscall(void)
{
    return cpuid(0x80000001, 0).edx & CPUID_80000001_EDX_SYSCALL;
}

static bool has_sysenter(void)
{
    return cpuid(1, 0).edx & CPUID_1_EDX_SEP;
}

static bool sysenter_is_legacy_only(void)
{
    struct cpu_ident ident;
    cpu_identify(&ident);
    return !maker_has_sysenter64(ident.vendor);
}

const char *user_return_missing(enum user_return how)
{
    unsigned index = this_cpu()->index;
    if (how == USER_SYSCALL && !has_syscall())
        return "no SYSCALL: CPUID.80000001H:EDX[11] = 0";
    if (how == USER_SYSENTER && !has_sysenter())
        return "no SYSENTER: CPUID.1:EDX[11] = 0";
    if (how == USER_SYSENTER && sysenter_is_legacy_only())
        return "no SYSENTER in 64-bit mode on this vendor's processors";
    if ((how == USER_SYSCALL && !ready[index].syscall) ||
        (how == USER_SYSENTER && !ready[index].sysenter))
        return "an MSR of SYSCALL or SYSENTER raises #GP";
    return NULL;
}

uint64_t user_code_address(void)
{
    return USER_BASE + this_cpu()->index * USER_REGION;
}

static bool map_pages(unsigned index)
{
    uint64_t region = USER_BASE + index * USER_REGION;
    if (!paging_map(region, (uint64_t)user_text[index], PTE_US))
        return false;
    for (uint64_t offset = 0; offset < USER_STACK_SIZE; offset += PAGE_SIZE)
        if (!paging_map(region + USER_STACK + offset, (uint64_t)user_stack[index] + offset,
                        PTE_US | PTE_RW | PTE_XD))
            return false;
    return true;
}

/* SDM vol. 3 "Fast System Calls in 64-Bit Mode" and "Performing Fast Calls to System Procedures
 * with the SYSENTER and SYSEXIT Instructions". Both entries take their stack from struct percpu;
 * SYSENTER wants one nevertheless. */
static bool set_up_syscall(void)
{
    uint64_t efer;
    return has_syscall() && rdmsr_safe(MSR_IA32_EFER, &efer) &&
           wrmsr_safe(MSR_IA32_STAR,
                      (uint64_t)SEG_USER_CODE32 << 48 | (uint64_t)SEG_KERNEL_CODE << 32) &&
           wrmsr_safe(MSR_IA32_LSTAR, (uint64_t)user_syscall_entry) &&
           wrmsr_safe(MSR_IA32_FMASK, SYSCALL_FMASK) && wrmsr_safe(MSR_IA32_EFER, efer | EFER_SCE);
}

static bool set_up_sysenter(void)
{
    return has_sysenter() && wrmsr_safe(MSR_IA32_SYSENTER_CS, SEG_KERNEL_CODE) &&
           wrmsr_safe(MSR_IA32_SYSENTER_ESP, this_cpu()->tss.ist[IST_DF]) &&
           wrmsr_safe(MSR_IA32_SYSENTER_EIP, (uint64_t)user_sysenter_entry);
}

void user_init(void)
{
    struct percpu *cpu = this_cpu();
    if (cpu->index == 0)
        trap_set_user_gate(USER_VECTOR, user_interrupt_entry);
    wrmsr_safe(MSR_IA32_KERNEL_GS_BASE, 0); /* ring 3 needs none; any value does */
    ready[cpu->index].syscall = set_up_syscall();
    ready[cpu->index].sysenter = set_up_sysenter();
    ready[cpu->index].mapped = map_pages(cpu->index);
    cpu->user_code = user_code_address();
    cpu->user_stack = cpu->user_code + USER_STACK + USER_STACK_SIZE;
}

bool user_load(const void *code, size_t size, enum user_return how)
{
    unsigned index = this_cpu()->index;
    uint64_t start = user_code_address();
    if (!ready[index].mapped || size > USER_CODE_MAX || user_return_missing(how))
        return false;
    memcpy(user_text[index], code, size);
    memcpy(user_text[index] + size, exits[how], EXIT_SIZE);
    paging_alias_forget(start, PAGE_SIZE);
    return paging_alias_note(start, (uint64_t)code, size) &&
           paging_alias_note(start + size, (uint64_t)exits[how], EXIT_SIZE);
}

uint64_t user_result(void)
{
    return this_cpu()->user_result;
}

bool user_run(const void *code, size_t size, enum user_return how, uint64_t arg, uint64_t *result)
{
    if (!user_load(code, size, how))
        return false;
    user_enter(arg);
    if (result)
        *result = user_result();
    return true;
}
