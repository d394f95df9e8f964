/* The MSR accesses that were refused. */
#include "kernel/refused.h"

#include <stddef.h>

#include "x86/regs.h"
#include "kernel/paging.h"
#include "kernel/print.h"
#include "boot/segments.h"
#include "kernel/trap.h"
#include "kernel/trap_names.h"

#define MAX_KEPT      128
#define PER_LINE      6
#define OPCODE_ESCAPE 0x0f
#define INSN_BYTES    2
#define OPCODE_WRMSR  0x30

#define OPCODE_CPUID 0xa2

/* By their opcode after 0FH (SDM vol. 2). CPUID raises no #GP. */
static const struct {
    uint8_t opcode;
    const char *what;
} instructions[] = {
    {OPCODE_WRMSR, "WRMSR to"}, {0x32, "RDMSR of"}, {0x33, "RDPMC of"}, {OPCODE_CPUID, "CPUID of"}};
#define N_INSTRUCTIONS (sizeof(instructions) / sizeof(instructions[0]))

extern const uint8_t text_start[], text_end[];

static const uint8_t vectors[] = {VEC_GP, VEC_VE};
#define N_VECTORS (sizeof(vectors) / sizeof(vectors[0]))

static struct {
    uint32_t number;
    uint8_t kind, vector;
} kept[MAX_KEPT];
static unsigned n_kept, n_lost;

/* Which of the instructions; N_INSTRUCTIONS: none. */
static size_t kind_of(const struct trap_frame *frame)
{
    uint64_t origin = paging_alias_origin(frame->rip);
    if ((frame->vector != VEC_GP && frame->vector != VEC_VE) || (frame->cs & SEG_RPL) ||
        origin < (uint64_t)text_start || origin + INSN_BYTES > (uint64_t)text_end)
        return N_INSTRUCTIONS; /* not in the text: its bytes may not be readable */
    const uint8_t *code = (const uint8_t *)frame->rip;
    size_t i = 0;
    while (i < N_INSTRUCTIONS && (code[0] != OPCODE_ESCAPE || code[1] != instructions[i].opcode))
        i++;
    return i;
}

static uint32_t number_of(const struct trap_frame *frame, size_t kind)
{
    return (uint32_t)(instructions[kind].opcode == OPCODE_CPUID ? frame->rax : frame->rcx);
}

const char *refused_access(const struct trap_frame *frame, uint32_t *number)
{
    size_t kind = kind_of(frame);
    if (kind == N_INSTRUCTIONS)
        return NULL;
    *number = number_of(frame, kind);
    return instructions[kind].what;
}

/* Two processors that are refused at the same moment may lose one entry; the list is a note. */
void refused_note(const struct trap_frame *frame)
{
    size_t kind = kind_of(frame);
    if (kind == N_INSTRUCTIONS)
        return;
    uint32_t number = number_of(frame, kind);
    for (unsigned i = 0; i < n_kept; i++)
        if (kept[i].number == number && kept[i].kind == kind && kept[i].vector == frame->vector)
            return;
    if (n_kept == MAX_KEPT) {
        n_lost++;
        return;
    }
    kept[n_kept].number = number;
    kept[n_kept].vector = (uint8_t)frame->vector;
    kept[n_kept++].kind = (uint8_t)kind;
}

bool refused_skip(struct trap_frame *frame)
{
    if (kind_of(frame) == N_INSTRUCTIONS)
        return false;
    uint8_t opcode = instructions[kind_of(frame)].opcode;
    if (opcode != OPCODE_WRMSR)
        frame->rax = frame->rdx = 0;
    if (opcode == OPCODE_CPUID)
        frame->rbx = frame->rcx = 0;
    frame->rip += INSN_BYTES;
    return true;
}

static void print_those_of(uint8_t vector)
{
    unsigned shown = 0;
    for (unsigned i = 0; i < n_kept; i++) {
        if (kept[i].vector != vector)
            continue;
        if (shown % PER_LINE == 0)
            kprintf("%s# refused with %s:", shown == 0 ? "" : "\n", trap_mnemonic(vector));
        kprintf("%s %s 0x%x", shown % PER_LINE == 0 ? "" : ",", instructions[kept[i].kind].what,
                (unsigned)kept[i].number);
        shown++;
    }
    if (shown != 0)
        kprintf("\n");
}

void refused_print(void)
{
    for (size_t i = 0; i < N_VECTORS; i++)
        print_those_of(vectors[i]);
    if (n_lost != 0)
        kprintf("# and %u more\n", n_lost);
}
