/* The MSR accesses that were refused. */
#include "kernel/refused.h"

#include <stddef.h>

#include "x86/regs.h"
#include "kernel/paging.h"
#include "kernel/print.h"
#include "boot/segments.h"
#include "kernel/trap.h"

#define MAX_KEPT      128
#define PER_LINE      6
#define OPCODE_ESCAPE 0x0f
#define INSN_BYTES    2
#define OPCODE_WRMSR  0x30

/* By their opcode after 0FH (SDM vol. 2). */
static const struct {
    uint8_t opcode;
    const char *what;
} instructions[] = {{OPCODE_WRMSR, "WRMSR to"}, {0x32, "RDMSR of"}, {0x33, "RDPMC of"}};
#define N_INSTRUCTIONS (sizeof(instructions) / sizeof(instructions[0]))

extern const uint8_t text_start[], text_end[];

static struct {
    uint32_t number, kind;
} kept[MAX_KEPT];
static unsigned n_kept, n_lost;

/* Which of the instructions; N_INSTRUCTIONS: none. */
static size_t kind_of(const struct trap_frame *frame)
{
    uint64_t origin = paging_alias_origin(frame->rip);
    if (frame->vector != VEC_GP || (frame->cs & SEG_RPL) || origin < (uint64_t)text_start ||
        origin + INSN_BYTES > (uint64_t)text_end)
        return N_INSTRUCTIONS; /* not in the text: its bytes may not be readable */
    const uint8_t *code = (const uint8_t *)frame->rip;
    size_t i = 0;
    while (i < N_INSTRUCTIONS && (code[0] != OPCODE_ESCAPE || code[1] != instructions[i].opcode))
        i++;
    return i;
}

const char *refused_access(const struct trap_frame *frame)
{
    size_t kind = kind_of(frame);
    return kind < N_INSTRUCTIONS ? instructions[kind].what : NULL;
}

/* Two processors that are refused at the same moment may lose one entry; the list is a note. */
void refused_note(const struct trap_frame *frame)
{
    size_t kind = kind_of(frame);
    uint32_t number = (uint32_t)frame->rcx;
    if (kind == N_INSTRUCTIONS)
        return;
    for (unsigned i = 0; i < n_kept; i++)
        if (kept[i].number == number && kept[i].kind == kind)
            return;
    if (n_kept == MAX_KEPT) {
        n_lost++;
        return;
    }
    kept[n_kept].number = number;
    kept[n_kept++].kind = (uint32_t)kind;
}

bool refused_skip(struct trap_frame *frame)
{
    if (kind_of(frame) == N_INSTRUCTIONS)
        return false;
    if (instructions[kind_of(frame)].opcode != OPCODE_WRMSR)
        frame->rax = frame->rdx = 0;
    frame->rip += INSN_BYTES;
    return true;
}

void refused_print(void)
{
    for (unsigned i = 0; i < n_kept; i++)
        kprintf("%s %s 0x%x%s", i % PER_LINE == 0 ? "# refused with #GP:" : ",",
                instructions[kept[i].kind].what, (unsigned)kept[i].number,
                i % PER_LINE == PER_LINE - 1 || i == n_kept - 1 ? "\n" : "");
    if (n_lost != 0)
        kprintf("# and %u more\n", n_lost);
}
