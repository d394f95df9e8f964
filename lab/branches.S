/*
 * The functions under test of chapters 14 and 23. Every branch has a label, and so has every instruction that one
 * goes to. Behind each function stands the list of the branches that it takes, in the order in which they
 * run: struct branch_run of branches.h. An INT3 stands where nothing may ever run.
 *
 * System V calling convention; only caller-saved registers are changed.
 */
#include "x86/pmu.h"
#include "boot/segments.h"
#include "lab/branches.h"

.macro FUNCTION name
    .text
    .globl  \name
    .type   \name, @function
    .p2align 4
\name:
.endm

.macro AT name
    .globl  \name
\name:
.endm

/* RUN begins the list of a function, TAKEN adds a branch with the kind that LBR_SELECT knows it by. */
.macro RUN name
    .section .rodata
    .globl  \name
    .p2align 3
\name:
    .quad   (\name\()_end - \name - 8) / 24
.endm
.macro TAKEN from, to, kind:vararg
    .quad   \from, \to, \kind
.endm
.macro END_RUN name
\name\()_end:
    .text
.endm

/* ---- 14-1 ---- */

    FUNCTION branch_one
    AT branch_one_call
    call    branch_one_callee
    AT branch_one_back
    ret

    FUNCTION branch_one_callee
    nop
    AT branch_one_callee_ret
    ret

    RUN branch_one_run
    TAKEN pmu_window_call, branch_one, LBR_SELECT_NEAR_IND_CALL
    TAKEN branch_one_call, branch_one_callee, LBR_SELECT_NEAR_REL_CALL
    TAKEN branch_one_callee_ret, branch_one_back, LBR_SELECT_NEAR_RET
    TAKEN branch_one_back, pmu_window_return, LBR_SELECT_NEAR_RET
    END_RUN branch_one_run

/* ---- 14-2 ---- */

    FUNCTION branch_chain
    .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
    AT branch_chain_\n
    jmp     1f
    int3
1:
    .endr
    AT branch_chain_10
    decq    %rdi
    AT branch_chain_again
    jnz     branch_chain
    AT branch_chain_ret
    ret

    RUN branch_chain_run
    TAKEN pmu_window_call, branch_chain, LBR_SELECT_NEAR_IND_CALL
    TAKEN branch_chain_0, branch_chain_1, LBR_SELECT_NEAR_REL_JMP
    TAKEN branch_chain_1, branch_chain_2, LBR_SELECT_NEAR_REL_JMP
    TAKEN branch_chain_2, branch_chain_3, LBR_SELECT_NEAR_REL_JMP
    TAKEN branch_chain_3, branch_chain_4, LBR_SELECT_NEAR_REL_JMP
    TAKEN branch_chain_4, branch_chain_5, LBR_SELECT_NEAR_REL_JMP
    TAKEN branch_chain_5, branch_chain_6, LBR_SELECT_NEAR_REL_JMP
    TAKEN branch_chain_6, branch_chain_7, LBR_SELECT_NEAR_REL_JMP
    TAKEN branch_chain_7, branch_chain_8, LBR_SELECT_NEAR_REL_JMP
    TAKEN branch_chain_8, branch_chain_9, LBR_SELECT_NEAR_REL_JMP
    TAKEN branch_chain_9, branch_chain_10, LBR_SELECT_NEAR_REL_JMP
    TAKEN branch_chain_ret, pmu_window_return, LBR_SELECT_NEAR_RET
    END_RUN branch_chain_run

/* ---- 14-3, 14-8. An instruction in INSN is counted, so that the sum is the listing's own. ---- */

    .set    calls_insns, 0
.macro INSN times, line:vararg
    \line
    .set    calls_insns, calls_insns + \times
.endm

    FUNCTION branch_calls
    AT branch_calls_rel
    INSN 1, call branch_calls_leaf
    AT branch_calls_rel_back
    INSN 1, leaq branch_calls_leaf(%rip), %rax
    AT branch_calls_ind
    INSN 1, call *%rax
    AT branch_calls_ind_back
    INSN 1, xorl %eax, %eax
    INSN 1, jnz branch_calls_never
    AT branch_calls_jcc
    INSN 1, jz branch_calls_jmp
    AT branch_calls_never
    int3
    AT branch_calls_jmp
    INSN 1, jmp branch_calls_ret
    int3
    AT branch_calls_ret
    INSN 1, ret

    FUNCTION branch_calls_leaf
    INSN 2, nop
    AT branch_calls_leaf_ret
    INSN 2, ret

    RUN branch_calls_run
    TAKEN pmu_window_call, branch_calls, LBR_SELECT_NEAR_IND_CALL
    TAKEN branch_calls_rel, branch_calls_leaf, LBR_SELECT_NEAR_REL_CALL
    TAKEN branch_calls_leaf_ret, branch_calls_rel_back, LBR_SELECT_NEAR_RET
    TAKEN branch_calls_ind, branch_calls_leaf, LBR_SELECT_NEAR_IND_CALL
    TAKEN branch_calls_leaf_ret, branch_calls_ind_back, LBR_SELECT_NEAR_RET
    TAKEN branch_calls_jcc, branch_calls_jmp, LBR_SELECT_JCC
    TAKEN branch_calls_jmp, branch_calls_ret, LBR_SELECT_NEAR_REL_JMP
    TAKEN branch_calls_ret, pmu_window_return, LBR_SELECT_NEAR_RET
    END_RUN branch_calls_run

    .section .rodata
    .globl  branch_calls_insns
    .p2align 3
branch_calls_insns:
    .quad   calls_insns

/* ---- 14-4. The far call has a 32-bit offset, which every 64-bit processor takes. ---- */

    FUNCTION branch_jumps
    xorl    %eax, %eax
    AT branch_jumps_jcc
    jz      branch_jumps_rel
    int3
    AT branch_jumps_rel
    jmp     branch_jumps_load
    int3
    AT branch_jumps_load
    leaq    branch_jumps_call_load(%rip), %rax
    AT branch_jumps_ind
    jmp     *%rax
    int3
    AT branch_jumps_call_load
    leaq    branch_jumps_near(%rip), %rax
    AT branch_jumps_call
    call    *%rax
    AT branch_jumps_far
    lcalll  *branch_jumps_far_pointer
    AT branch_jumps_ret
    ret

    FUNCTION branch_jumps_near
    ret

    FUNCTION branch_jumps_other
    lretl

    .section .rodata
    .p2align 3
branch_jumps_far_pointer:
    .long   branch_jumps_other
    .word   SEG_KERNEL_CODE

    RUN branch_jumps_run
    TAKEN pmu_window_call, branch_jumps, LBR_SELECT_NEAR_IND_CALL
    TAKEN branch_jumps_jcc, branch_jumps_rel, LBR_SELECT_JCC
    TAKEN branch_jumps_rel, branch_jumps_load, LBR_SELECT_NEAR_REL_JMP
    TAKEN branch_jumps_ind, branch_jumps_call_load, LBR_SELECT_NEAR_IND_JMP
    TAKEN branch_jumps_call, branch_jumps_near, LBR_SELECT_NEAR_IND_CALL
    TAKEN branch_jumps_near, branch_jumps_far, LBR_SELECT_NEAR_RET
    TAKEN branch_jumps_far, branch_jumps_other, LBR_SELECT_FAR_BRANCH
    TAKEN branch_jumps_other, branch_jumps_ret, LBR_SELECT_FAR_BRANCH
    TAKEN branch_jumps_ret, pmu_window_return, LBR_SELECT_NEAR_RET
    END_RUN branch_jumps_run

/* ---- 23-3 ---- */

    FUNCTION branch_kinds
    call    branch_calls
    AT branch_kinds_second
    call    branch_jumps
    AT branch_kinds_ret
    ret

    RUN branch_kinds_run
    TAKEN pmu_window_call, branch_kinds, LBR_SELECT_NEAR_IND_CALL
    TAKEN branch_kinds, branch_calls, LBR_SELECT_NEAR_REL_CALL
    TAKEN branch_calls_rel, branch_calls_leaf, LBR_SELECT_NEAR_REL_CALL
    TAKEN branch_calls_leaf_ret, branch_calls_rel_back, LBR_SELECT_NEAR_RET
    TAKEN branch_calls_ind, branch_calls_leaf, LBR_SELECT_NEAR_IND_CALL
    TAKEN branch_calls_leaf_ret, branch_calls_ind_back, LBR_SELECT_NEAR_RET
    TAKEN branch_calls_jcc, branch_calls_jmp, LBR_SELECT_JCC
    TAKEN branch_calls_jmp, branch_calls_ret, LBR_SELECT_NEAR_REL_JMP
    TAKEN branch_calls_ret, branch_kinds_second, LBR_SELECT_NEAR_RET
    TAKEN branch_kinds_second, branch_jumps, LBR_SELECT_NEAR_REL_CALL
    TAKEN branch_jumps_jcc, branch_jumps_rel, LBR_SELECT_JCC
    TAKEN branch_jumps_rel, branch_jumps_load, LBR_SELECT_NEAR_REL_JMP
    TAKEN branch_jumps_ind, branch_jumps_call_load, LBR_SELECT_NEAR_IND_JMP
    TAKEN branch_jumps_call, branch_jumps_near, LBR_SELECT_NEAR_IND_CALL
    TAKEN branch_jumps_near, branch_jumps_far, LBR_SELECT_NEAR_RET
    TAKEN branch_jumps_far, branch_jumps_other, LBR_SELECT_FAR_BRANCH
    TAKEN branch_jumps_other, branch_jumps_ret, LBR_SELECT_FAR_BRANCH
    TAKEN branch_jumps_ret, branch_kinds_ret, LBR_SELECT_NEAR_RET
    TAKEN branch_kinds_ret, pmu_window_return, LBR_SELECT_NEAR_RET
    END_RUN branch_kinds_run

/* ---- 23-4: multiplies that each need the one before, between near relative jumps; the loops end in
 * conditional ones ---- */

    FUNCTION branch_stretches
    jmp     branch_stretch_1
    int3
.macro STRETCH n, next
    AT branch_stretch_\n
    imull   $\n, %edi, %ecx
1:
    imulq   %rax, %rax
    decl    %ecx
    jnz     1b
    AT branch_stretch_end_\n
    jmp     \next
    int3
.endm
    STRETCH 1, branch_stretch_2
    STRETCH 2, branch_stretch_3
    STRETCH 3, branch_stretch_4
    STRETCH 4, branch_stretch_5
    STRETCH 5, branch_stretches_ret
    AT branch_stretches_ret
    ret

    RUN branch_stretches_run
    TAKEN branch_stretches, branch_stretch_1, LBR_SELECT_NEAR_REL_JMP
    TAKEN branch_stretch_end_1, branch_stretch_2, LBR_SELECT_NEAR_REL_JMP
    TAKEN branch_stretch_end_2, branch_stretch_3, LBR_SELECT_NEAR_REL_JMP
    TAKEN branch_stretch_end_3, branch_stretch_4, LBR_SELECT_NEAR_REL_JMP
    TAKEN branch_stretch_end_4, branch_stretch_5, LBR_SELECT_NEAR_REL_JMP
    TAKEN branch_stretch_end_5, branch_stretches_ret, LBR_SELECT_NEAR_REL_JMP
    END_RUN branch_stretches_run

/* ---- 23-4: a xorshift generator decides each time; from 0 it gives 0 for ever. The loop goes on by a
 * near relative jump, so that the only conditional one that is taken is the one that is decided,
 * but for the last ---- */

    FUNCTION branch_decided
    movl    $BRANCH_DECISIONS, %ecx
1:
    movq    %rdi, %rax
    shlq    $13, %rax
    xorq    %rax, %rdi
    movq    %rdi, %rax
    shrq    $7, %rax
    xorq    %rax, %rdi
    movq    %rdi, %rax
    shlq    $17, %rax
    xorq    %rax, %rdi
    testl   $0x10000, %edi
    AT branch_decision
    jz      2f
    nop
2:
    decl    %ecx
    jz      3f
    jmp     1b
3:
    ret

/* ---- 23-7 ---- */

    FUNCTION branch_logged
    xorl    %eax, %eax
    jmp     branch_logged_1
.macro LOGGED n, next
    AT branch_logged_\n
    nop
    .rept   \n - 1
    jnz     branch_logged_never
    .endr
    AT branch_logged_jump_\n
    jmp     \next
.endm
    LOGGED 1, branch_logged_2
    AT branch_logged_never
    int3
    LOGGED 2, branch_logged_3
    int3
    LOGGED 3, branch_logged_4
    int3
    LOGGED 4, branch_logged_5
    int3
    LOGGED 5, branch_logged_ret
    int3
    AT branch_logged_ret
    nop
    AT branch_logged_last
    ret

    RUN branch_logged_run
    TAKEN pmu_window_call, branch_logged, LBR_SELECT_NEAR_IND_CALL
    TAKEN branch_logged + 2, branch_logged_1, LBR_SELECT_NEAR_REL_JMP
    TAKEN branch_logged_jump_1, branch_logged_2, LBR_SELECT_NEAR_REL_JMP
    TAKEN branch_logged_jump_2, branch_logged_3, LBR_SELECT_NEAR_REL_JMP
    TAKEN branch_logged_jump_3, branch_logged_4, LBR_SELECT_NEAR_REL_JMP
    TAKEN branch_logged_jump_4, branch_logged_5, LBR_SELECT_NEAR_REL_JMP
    TAKEN branch_logged_jump_5, branch_logged_ret, LBR_SELECT_NEAR_REL_JMP
    TAKEN branch_logged_last, pmu_window_return, LBR_SELECT_NEAR_RET
    END_RUN branch_logged_run

/* ---- 14-5: the breakpoint is on the NOP ---- */

    FUNCTION branch_to_breakpoint
    AT branch_bp_call
    call    branch_bp_callee
    ret

    FUNCTION branch_bp_callee
    jmp     branch_breakpoint
    int3
    AT branch_breakpoint
    nop
    ret

    RUN branch_to_breakpoint_run
    TAKEN pmu_window_call, branch_to_breakpoint, LBR_SELECT_NEAR_IND_CALL
    TAKEN branch_bp_call, branch_bp_callee, LBR_SELECT_NEAR_REL_CALL
    TAKEN branch_bp_callee, branch_breakpoint, LBR_SELECT_NEAR_REL_JMP
    END_RUN branch_to_breakpoint_run

/* ---- 24-6 ---- */

    FUNCTION branch_undefined
    ud2
    ret

/* ---- 14-6 ---- */

    FUNCTION branch_high
    movl    $2, %edi
    AT branch_high_call
    call    branch_high_leaf
    AT branch_high_back
    decl    %edi
    AT branch_high_again
    jnz     branch_high_call
    AT branch_high_ret
    ret
    AT branch_high_leaf
    nop
    AT branch_high_leaf_ret
    ret
    AT branch_high_end

    RUN branch_high_run
    TAKEN pmu_window_call, branch_high, LBR_SELECT_NEAR_IND_CALL
    TAKEN branch_high_call, branch_high_leaf, LBR_SELECT_NEAR_REL_CALL
    TAKEN branch_high_leaf_ret, branch_high_back, LBR_SELECT_NEAR_RET
    TAKEN branch_high_again, branch_high_call, LBR_SELECT_JCC
    TAKEN branch_high_call, branch_high_leaf, LBR_SELECT_NEAR_REL_CALL
    TAKEN branch_high_leaf_ret, branch_high_back, LBR_SELECT_NEAR_RET
    TAKEN branch_high_ret, pmu_window_return, LBR_SELECT_NEAR_RET
    END_RUN branch_high_run

/* ---- 14-7 ---- */

    FUNCTION branch_user
    call    branch_user_leaf
    AT branch_user_jmp
    jmp     branch_user_end
    AT branch_user_leaf
    leaq    1(%rdi), %rax
    AT branch_user_leaf_ret
    ret
    AT branch_user_end

    RUN branch_user_run
    TAKEN branch_user, branch_user_leaf, LBR_SELECT_NEAR_REL_CALL
    TAKEN branch_user_leaf_ret, branch_user_jmp, LBR_SELECT_NEAR_RET
    TAKEN branch_user_jmp, branch_user_end, LBR_SELECT_NEAR_REL_JMP
    END_RUN branch_user_run

    .section .note.GNU-stack, "", @progbits
