/*
 * #DB for experiments 14-5 and 14-8. SDM vol. 3 "Debug Exceptions".
 */
#include "x86/msr.h"
#include "x86/pmu.h"
#include "x86/regs.h"

#define PUSHED 24 /* three registers */
#define FRAME_RIP PUSHED
#define FRAME_RFLAGS (PUSHED + 16)

    .text
    .globl  debug_trap_entry
    .type   debug_trap_entry, @function
/* No branch before the recording is off: a processor that still records adds nothing but the exception. What stays
 * set in IA32_DEBUGCTL (pmu/debugctl.h) is left as it is. */
debug_trap_entry:
    pushq   %rax
    pushq   %rcx
    pushq   %rdx
    movl    $MSR_IA32_DEBUGCTL, %ecx
    rdmsr
    movl    %eax, debug_trap + 8
    movl    %edx, debug_trap + 12
    movl    debug_trap_switch, %ecx
    rdmsr
    movl    %eax, debug_trap + 32
    movl    %edx, debug_trap + 36
    andl    $DEBUGCTL_FREEZE_WHILE_SMM, %eax /* of IA32_LBR_CTL a reserved bit, 0 */
    xorl    %edx, %edx
    wrmsr
    movl    debug_trap + 8, %eax
    andl    $DEBUGCTL_FREEZE_WHILE_SMM, %eax
    movl    $MSR_IA32_DEBUGCTL, %ecx
    wrmsr
    movq    %dr6, %rax
    movq    %rax, debug_trap + 16
    movq    FRAME_RIP(%rsp), %rax
    movq    %rax, debug_trap + 24
    incq    debug_trap
    orl     $RFLAGS_RF, FRAME_RFLAGS(%rsp) /* the breakpoint is a fault: let it run this time */
    popq    %rdx
    popq    %rcx
    popq    %rax
    iretq
    .size   debug_trap_entry, . - debug_trap_entry

    .bss
    .globl  debug_trap
    .p2align 3
debug_trap:
    .skip   40
    .globl  debug_trap_switch
debug_trap_switch:
    .skip   4

/* void debug_step(window_body body). The instruction that sets TF is not stepped yet, the one that clears it
 * still is (SDM vol. 3 "Single-Step Exception Condition"). */
    .set    step_insns, 0
.macro STEPPED line:vararg
    \line
    .set    step_insns, step_insns + 1
.endm

    .text
    .globl  debug_step, debug_step_call, debug_step_return
    .type   debug_step, @function
debug_step:
    pushfq
    cli
    movq    %rdi, %rax
    xorl    %edi, %edi
    pushfq
    orl     $RFLAGS_TF, (%rsp)
    popfq
debug_step_call:
    STEPPED call *%rax
debug_step_return:
    STEPPED pushfq
    STEPPED andl $~RFLAGS_TF, (%rsp)
    STEPPED popfq
    popfq
    ret
    .size   debug_step, . - debug_step

    .section .rodata
    .globl  debug_step_insns
    .p2align 3
debug_step_insns:
    .quad   step_insns

    .section .note.GNU-stack, "", @progbits
