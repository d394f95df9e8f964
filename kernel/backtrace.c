/* Reports of a trap: registers and the backtrace. */
#include "kernel/backtrace.h"

#include <stddef.h>

#include "kernel/panic.h"
#include "kernel/percpu.h"
#include "kernel/print.h"
#include "kernel/trap.h"

#define MAX_FRAMES 16

static void print_address(uint64_t address, uint64_t lookup)
{
    uint64_t offset = 0;
    const char *name = symbol_name(lookup, &offset);
    if (name)
        kprintf("#     0x%016llx %s+0x%llx\n", (unsigned long long)address, name,
                (unsigned long long)(offset + (address - lookup)));
    else
        kprintf("#     0x%016llx\n", (unsigned long long)address);
}

/* After a wild jump RIP tells nothing; when a call made it, the return address is on top of the
 * stack. */
static void print_caller_of_wild_jump(const struct trap_frame *frame)
{
    struct stack_range stack;
    uint64_t offset;
    if (symbol_name(frame->rip, &offset) || frame->rsp % sizeof(uint64_t) != 0 ||
        !stack_find(frame->rsp, false, &stack))
        return;
    uint64_t address = *(const uint64_t *)frame->rsp;
    if (symbol_name(address - 1, &offset))
        print_address(address, address - 1);
}

static void print_chain(uint64_t rbp)
{
    struct stack_range stack;

    for (unsigned i = 0; i < MAX_FRAMES; i++) {
        /* A frame pointer is believed only when both words it points to lie in one of our stacks.
         */
        if (rbp % sizeof(uint64_t) != 0 || !stack_find(rbp, false, &stack) ||
            stack.top - rbp < 2 * sizeof(uint64_t))
            return;
        const uint64_t *frame = (const uint64_t *)rbp;
        if (frame[1] == 0)
            return;
        /* A return address may lie behind the last instruction of its function: look up the call.
         */
        print_address(frame[1], frame[1] - 1);
        rbp = frame[0];
    }
    kprintf("#     ... (more than %d frames)\n", MAX_FRAMES);
}

void backtrace_print(uint64_t rbp)
{
    kprintf("#   backtrace:\n");
    print_chain(rbp);
}

void trap_frame_print(const struct trap_frame *frame)
{
    const struct {
        const char *name;
        uint64_t value;
    } registers[] = {
        {"rip", frame->rip}, {"cs", frame->cs},   {"rflags", frame->rflags},
        {"rsp", frame->rsp}, {"ss", frame->ss},   {"error", frame->error_code},
        {"rax", frame->rax}, {"rbx", frame->rbx}, {"rcx", frame->rcx},
        {"rdx", frame->rdx}, {"rsi", frame->rsi}, {"rdi", frame->rdi},
        {"rbp", frame->rbp}, {"r8", frame->r8},   {"r9", frame->r9},
        {"r10", frame->r10}, {"r11", frame->r11}, {"r12", frame->r12},
        {"r13", frame->r13}, {"r14", frame->r14}, {"r15", frame->r15},
    };
    const size_t n = sizeof(registers) / sizeof(registers[0]);

    for (size_t i = 0; i < n; i++)
        kprintf("%s%-6s 0x%016llx%s", i % 3 == 0 ? "#   " : "  ", registers[i].name,
                (unsigned long long)registers[i].value, i % 3 == 2 || i + 1 == n ? "\n" : "");
    kprintf("#   backtrace:\n");
    print_address(frame->rip, frame->rip);
    if ((frame->cs & SEG_RPL) != 0)
        return; /* ring 3 has its own stack, and nothing says that it is mapped */
    print_caller_of_wild_jump(frame);
    print_chain(frame->rbp);
}
