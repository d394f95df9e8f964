/*
 * Code for ring 3 (kernel/user.h): position-independent, it ends by running off its end. It stands in the
 * text so that the table of symbols has its names; ring 3 sees a copy.
 */
#include "lab/listing.h"
#include "lab/ring3.h"

    .text

/* RAX = 4 * the argument + CPL, by way of the stack. */
    .globl user_probe, user_probe_end
    .type user_probe, @function
user_probe:
    movl %cs, %eax
    andl $3, %eax
    leaq (%rax, %rdi, 4), %rax
    pushq %rax
    xorl %eax, %eax
    popq %rax
user_probe_end:

/* As many rounds as the argument says: where an interrupt can be waited for. */
    .globl user_spin, user_spin_end
    .type user_spin, @function
user_spin:
1:  decq %rdi
    jnz 1b
    movl $1, %eax
user_spin_end:

    BODY user_counted
1:  EACH user_counted pushq %rdi
    EACH user_counted call user_counted_leaf
    EACH user_counted popq %rdx
    EACH user_counted addq %rdx, %rax
    EACH user_counted decq %rdi
    EACH user_counted jnz 1b
    ONCE user_counted jmp user_counted_end
user_counted_leaf:                      /* called once an iteration */
    EACH user_counted xorl %edx, %edx
    EACH user_counted ret
    .globl user_counted_end
user_counted_end:
    END  user_counted

    BODY user_touch
    ONCE user_touch movl $USER_TOUCH_PAGES, %ecx
1:  EACH user_touch movb (%rdi), %al
    EACH user_touch addq $4096, %rdi
    EACH user_touch decl %ecx
    EACH user_touch jnz 1b
    .globl user_touch_end
user_touch_end:
    END  user_touch

    .globl user_rdpmc, user_rdpmc_instruction, user_rdpmc_end
    .type user_rdpmc, @function
user_rdpmc:
    movl %edi, %ecx
user_rdpmc_instruction:
    rdpmc
    shlq $32, %rdx
    orq %rdx, %rax
user_rdpmc_end:

/* HLT is for ring 0 alone: #GP. */
    .globl user_halt, user_halt_end
    .type user_halt, @function
user_halt:
    hlt
user_halt_end:

    .section .note.GNU-stack, "", @progbits
