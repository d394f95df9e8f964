/* What an exception is called and what its error code means, SDM vol. 3 "Interrupt and Exception
 * Handling". */
#include "kernel/trap_names.h"

#include "x86/regs.h"
#include "kernel/percpu.h"
#include "kernel/print.h"
#include "kernel/refused.h"
#include "kernel/trap.h"

static const struct {
    const char *mnemonic, *title;
} exceptions[] = {
    [VEC_DE] = {"#DE", "divide error"},
    [VEC_DB] = {"#DB", "debug exception"},
    [VEC_NMI] = {"NMI", "non-maskable interrupt"},
    [VEC_BP] = {"#BP", "breakpoint"},
    [VEC_OF] = {"#OF", "overflow"},
    [VEC_BR] = {"#BR", "BOUND range exceeded"},
    [VEC_UD] = {"#UD", "invalid opcode"},
    [VEC_NM] = {"#NM", "device not available"},
    [VEC_DF] = {"#DF", "double fault"},
    [VEC_TS] = {"#TS", "invalid TSS"},
    [VEC_NP] = {"#NP", "segment not present"},
    [VEC_SS] = {"#SS", "stack fault"},
    [VEC_GP] = {"#GP", "general protection"},
    [VEC_PF] = {"#PF", "page fault"},
    [VEC_MF] = {"#MF", "x87 floating-point error"},
    [VEC_AC] = {"#AC", "alignment check"},
    [VEC_MC] = {"#MC", "machine check"},
    [VEC_XM] = {"#XM", "SIMD floating-point exception"},
    [VEC_VE] = {"#VE", "virtualization exception"},
    [21] = {"#CP", "control protection exception"},
};
#define N_EXCEPTIONS (sizeof(exceptions) / sizeof(exceptions[0]))

/* Selector error codes, SDM vol. 3 "Error Code": EXT, IDT, TI and the index. */
#define ERROR_EXT 1
#define ERROR_IDT 2
#define ERROR_TI  4

const char *trap_mnemonic(uint64_t vector)
{
    static char text[24];
    if (vector < N_EXCEPTIONS && exceptions[vector].mnemonic)
        return exceptions[vector].mnemonic;
    ksnprintf(text, sizeof(text), "vector 0x%llx", (unsigned long long)vector);
    return text;
}

const char *trap_title(uint64_t vector)
{
    if (vector < N_EXCEPTIONS && exceptions[vector].title)
        return exceptions[vector].title;
    return "interrupt without a handler";
}

static uint64_t read_cr2(void)
{
    uint64_t value;
    __asm__ volatile("movq %%cr2, %0" : "=r"(value));
    return value;
}

static void describe_page_fault(const struct trap_frame *frame, char *text, size_t size)
{
    uint64_t code = frame->error_code, address = read_cr2();
    /* Without NX the processor does not tell a fetch from a read; the address does. */
    bool fetch = (code & PF_I) || address == frame->rip;
    const char *access = fetch ? "instruction fetch from" : code & PF_W ? "write to" : "read of";
    ksnprintf(text, size, "%s 0x%llx, %s, in %s mode", access, (unsigned long long)address,
              code & PF_RSVD ? "reserved bit set in a paging entry"
              : code & PF_P  ? "page present but without that right"
                             : "page not present",
              code & PF_U ? "user" : "supervisor");
}

static void describe_selector(const struct trap_frame *frame, char *text, size_t size)
{
    uint64_t code = frame->error_code;
    if (code == 0) {
        ksnprintf(text, size, "error code 0");
        return;
    }
    ksnprintf(text, size, "error code 0x%llx: %s entry 0x%llx%s", (unsigned long long)code,
              code & ERROR_IDT  ? "IDT"
              : code & ERROR_TI ? "LDT"
                                : "GDT",
              (unsigned long long)(code >> 3),
              code & ERROR_EXT ? ", while delivering an event" : "");
}

void trap_describe(const struct trap_frame *frame, char *text, size_t size)
{
    struct stack_range stack;
    uint32_t number;
    const char *access = refused_access(frame, &number);
    bool page = frame->vector == VEC_PF || frame->vector == VEC_DF;

    if (size > 0)
        text[0] = '\0';
    /* A push onto the guard page faults, and so does the push of that fault's frame: #DF. CR2
     * tells. */
    if (page && stack_find(read_cr2(), true, &stack)) {
        ksnprintf(text, size, "stack overflow: the guard page of the %s was hit at 0x%llx",
                  stack.name, (unsigned long long)read_cr2());
        return;
    }
    if (access) {
        ksnprintf(text, size, "%s 0x%x refused", access, (unsigned)number);
        return;
    }
    switch (frame->vector) {
    case VEC_PF:
        describe_page_fault(frame, text, size);
        break;
    case VEC_TS:
    case VEC_NP:
    case VEC_SS:
    case VEC_GP:
        describe_selector(frame, text, size);
        break;
    default:
        ksnprintf(text, size, "%s", trap_title(frame->vector));
    }
}
