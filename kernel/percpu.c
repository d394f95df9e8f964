/* The per-processor structure: GDT, TSS, stacks. */
#include "kernel/percpu.h"

_Static_assert(offsetof(struct percpu, self) == PERCPU_SELF, "PERCPU_SELF");
_Static_assert(offsetof(struct percpu, nmi_depth) == PERCPU_NMI_DEPTH, "PERCPU_NMI_DEPTH");
_Static_assert(offsetof(struct percpu, guard_rsp) == PERCPU_GUARD_RSP, "PERCPU_GUARD_RSP");
_Static_assert(offsetof(struct percpu, experiment_top) == PERCPU_EXPERIMENT_TOP,
               "PERCPU_EXPERIMENT_TOP");
_Static_assert(offsetof(struct percpu, user_rsp) == PERCPU_USER_RSP, "PERCPU_USER_RSP");
_Static_assert(offsetof(struct percpu, user_code) == PERCPU_USER_CODE, "PERCPU_USER_CODE");
_Static_assert(offsetof(struct percpu, user_stack) == PERCPU_USER_STACK, "PERCPU_USER_STACK");
_Static_assert(offsetof(struct percpu, user_result) == PERCPU_USER_RESULT, "PERCPU_USER_RESULT");
_Static_assert(offsetof(struct percpu, tss.rsp) == PERCPU_TSS_RSP0, "PERCPU_TSS_RSP0");
_Static_assert(sizeof(struct percpu) == PERCPU_SIZE, "PERCPU_SIZE");
_Static_assert(offsetof(struct stacks, guard_experiment) == STACK_MAIN_TOP, "STACK_MAIN_TOP");
_Static_assert(sizeof(struct tss) == 104, "the TSS of 64-bit mode has 104 bytes");

struct percpu percpus[MAX_CPUS];
struct stacks cpu_stacks[MAX_CPUS];

/* For boot/start.S: where the stack of the boot processor ends. */
extern const void *const boot_stack_top;
const void *const boot_stack_top = cpu_stacks[0].main + STACK_SIZE;

struct table_pointer {
    uint16_t limit;
    uint64_t base;
} __attribute__((packed));

/* TSS descriptor, SDM vol. 3 "TSS Descriptor in 64-bit mode": type 9, an available 64-bit TSS. */
static void set_tss_descriptor(uint64_t *slot, const struct tss *tss)
{
    uint64_t base = (uint64_t)tss;
    slot[0] =
        (sizeof(*tss) - 1) | (base & 0xffffff) << 16 | 0x89ULL << 40 | (base >> 24 & 0xff) << 56;
    slot[1] = base >> 32;
}

/* A data segment at the structure, for GS: so its base needs no MSR, which a machine might refuse.
 * DPL 3, because IRET to ring 3 clears a selector that ring 3 may not use (SDM vol. 2 "IRET"). */
static uint64_t percpu_descriptor(const struct percpu *cpu)
{
    uint64_t base = (uint64_t)cpu;
    return DESCRIPTOR_USER_DATA | (base & 0xffffff) << 16 | (base >> 24 & 0xff) << 56;
}

static uint64_t end_of(const uint8_t *stack, size_t size)
{
    return (uint64_t)stack + size;
}

void percpu_init(unsigned index)
{
    struct percpu *cpu = &percpus[index];
    struct stacks *stacks = &cpu_stacks[index];

    cpu->self = cpu;
    cpu->index = index;
    cpu->stacks = stacks;
    cpu->experiment_top = end_of(stacks->experiment, sizeof(stacks->experiment));

    cpu->tss.rsp[0] = end_of(stacks->main, sizeof(stacks->main));
    cpu->tss.ist[IST_DF] = end_of(stacks->df, sizeof(stacks->df));
    cpu->tss.ist[IST_NMI] = end_of(stacks->nmi, sizeof(stacks->nmi));
    cpu->tss.ist[IST_MC] = end_of(stacks->mc, sizeof(stacks->mc));
    cpu->tss.io_map_base = sizeof(cpu->tss); /* past the limit: no port is allowed to ring 3 */

    cpu->gdt[SEG_KERNEL_CODE / 8] = DESCRIPTOR_KERNEL_CODE;
    cpu->gdt[SEG_KERNEL_DATA / 8] = DESCRIPTOR_KERNEL_DATA;
    cpu->gdt[SEG_USER_CODE32 / 8] = DESCRIPTOR_USER_CODE32;
    cpu->gdt[SEG_USER_DATA / 8] = DESCRIPTOR_USER_DATA;
    cpu->gdt[SEG_USER_CODE64 / 8] = DESCRIPTOR_USER_CODE64;
    cpu->gdt[SEG_USER_DATA_SYSEXIT / 8] = DESCRIPTOR_USER_DATA;
    cpu->gdt[SEG_PERCPU / 8] = percpu_descriptor(cpu);
    set_tss_descriptor(&cpu->gdt[SEG_TSS / 8], &cpu->tss);

    struct table_pointer gdtr = {sizeof(cpu->gdt) - 1, (uint64_t)cpu->gdt};
    __asm__ volatile("lgdt %0\n\t"
                     "pushq %[code]\n\t"
                     "leaq 1f(%%rip), %%rax\n\t"
                     "pushq %%rax\n\t"
                     "lretq\n"
                     "1:\tmovl %[data], %%eax\n\t"
                     "movl %%eax, %%ds\n\t"
                     "movl %%eax, %%es\n\t"
                     "movl %%eax, %%ss\n\t"
                     "xorl %%eax, %%eax\n\t"
                     "movl %%eax, %%fs\n\t"
                     "movl %[percpu], %%eax\n\t"
                     "movl %%eax, %%gs\n\t"
                     "ltr %w[tss]"
                     :
                     : "m"(gdtr), [code] "i"(SEG_KERNEL_CODE), [data] "i"(SEG_KERNEL_DATA),
                       [tss] "r"(SEG_TSS), [percpu] "i"(SEG_PERCPU | SEG_RPL)
                     : "rax", "memory");
}

/* The stacks of a processor, as data: what paging and the backtrace walk. */
static const struct {
    const char *name;
    size_t offset, size;
} stack_table[] = {
    {"main stack", offsetof(struct stacks, main), STACK_SIZE},
    {"experiment stack", offsetof(struct stacks, experiment), STACK_EXPERIMENT_SIZE},
    {"#DF stack", offsetof(struct stacks, df), STACK_SIZE},
    {"NMI stack", offsetof(struct stacks, nmi), STACK_SIZE},
    {"#MC stack", offsetof(struct stacks, mc), STACK_SIZE},
};
#define N_STACKS (sizeof(stack_table) / sizeof(stack_table[0]))

bool stack_find(uint64_t address, bool in_guard, struct stack_range *found)
{
    for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++) {
        for (unsigned i = 0; i < N_STACKS; i++) {
            uint64_t base = (uint64_t)&cpu_stacks[cpu] + stack_table[i].offset;
            uint64_t low = in_guard ? base - STACK_GUARD : base;
            uint64_t high = in_guard ? base : base + stack_table[i].size;
            if (address >= low && address < high) {
                *found =
                    (struct stack_range){stack_table[i].name, base, base + stack_table[i].size};
                return true;
            }
        }
    }
    return false;
}

void stack_each_guard(void (*fn)(uint64_t page))
{
    for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++)
        for (unsigned i = 0; i < N_STACKS; i++)
            fn((uint64_t)&cpu_stacks[cpu] + stack_table[i].offset - STACK_GUARD);
}
