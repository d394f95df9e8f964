/*
 * What the experiments with the debug store run. Every branch and every load has an address that can be
 * computed, so that records are compared with addresses. System V calling convention.
 */
    .text

/*
 * void bts_jumps(uint64_t rounds): BTS_JUMPS jumps of BTS_JUMP_SIZE bytes each, every one to the next, the
 * rounds joined by a conditional jump. Runs at whatever address it is mapped.
 */
    .globl  bts_jumps, bts_jumps_again, bts_jumps_ret, bts_jumps_end
    .type   bts_jumps, @function
    .p2align 6
bts_jumps:
    .rept   15
    jmp     1f                          /* two bytes, and two that must never run */
    int3
    int3
1:
    .endr
    decq    %rdi
bts_jumps_again:
    jnz     bts_jumps
bts_jumps_ret:
    ret
bts_jumps_end:
    .size   bts_jumps, . - bts_jumps

/*
 * Ring 3 code (kernel/user.h), to be copied: in each of RDI rounds a jump and, but for the last round, one
 * back. It ends by running off its end.
 */
    .globl  bts_user, bts_user_jump, bts_user_there, bts_user_again, bts_user_end
    .type   bts_user, @function
    .p2align 4
bts_user:
bts_user_jump:
    jmp     bts_user_there
    int3
bts_user_there:
    decq    %rdi
bts_user_again:
    jnz     bts_user
    xorl    %eax, %eax
bts_user_end:
    .size   bts_user, . - bts_user

/*
 * void pebs_loads(struct pebs_run *run): in each round PEBS_LOADS loads of PEBS_LOAD_SIZE bytes, load k of
 * table entry k into RAX. So RAX tells which load came last, and any RIP in the loop what RAX must hold. All
 * other registers are set from *run first. Runs at whatever address it is mapped.
 */
    .globl  pebs_loads, pebs_loads_loop, pebs_loads_again, pebs_loads_loop_end, pebs_loads_end
    .type   pebs_loads, @function
    .set    PEBS_LOADS, 64
    .set    TABLE_BIAS, 0x100           /* makes every displacement four bytes long */
    .p2align 6
pebs_loads:
    pushq   %rbx
    pushq   %rbp
    pushq   %r12
    pushq   %r13
    pushq   %r14
    pushq   %r15
    movq    %rsp, 128(%rdi)
    movq    0(%rdi), %rsi
    subq    $TABLE_BIAS, %rsi
    movq    %rsi, 136(%rdi)
    movq    8(%rdi), %rcx
    movq    16(%rdi), %rax
    movq    24(%rdi), %rbx
    movq    32(%rdi), %rdx
    movq    48(%rdi), %rbp
    movq    56(%rdi), %r8
    movq    64(%rdi), %r9
    movq    72(%rdi), %r10
    movq    80(%rdi), %r11
    movq    88(%rdi), %r12
    movq    96(%rdi), %r13
    movq    104(%rdi), %r14
    movq    112(%rdi), %r15
    movq    40(%rdi), %rdi
    .p2align 6
pebs_loads_loop:
    .set    k, 0
    .rept   PEBS_LOADS
    movq    TABLE_BIAS + 8 * k(%rsi), %rax
    .set    k, k + 1
    .endr
    decq    %rcx
pebs_loads_again:
    jnz     pebs_loads_loop
pebs_loads_loop_end:
    popq    %r15
    popq    %r14
    popq    %r13
    popq    %r12
    popq    %rbp
    popq    %rbx
    ret
pebs_loads_end:
    .size   pebs_loads, . - pebs_loads

/* void pebs_chase(struct pebs_chase_arg *arg): follows arg->count pointers from arg->first on. */
    .globl  pebs_chase, pebs_chase_load, pebs_chase_end
    .type   pebs_chase, @function
    .p2align 6
pebs_chase:
    movq    8(%rdi), %rcx
    movq    0(%rdi), %rdi
pebs_chase_load:
    movq    (%rdi), %rdi
    decq    %rcx
    jnz     pebs_chase_load
    ret
pebs_chase_end:
    .size   pebs_chase, . - pebs_chase

    .section .note.GNU-stack, "", @progbits
