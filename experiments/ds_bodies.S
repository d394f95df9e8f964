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

    .section .note.GNU-stack, "", @progbits
