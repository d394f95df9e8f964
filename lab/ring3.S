/*
 * Code for ring 3 (kernel/user.h): position-independent, it ends by running off its end. It stands in the
 * text so that the table of symbols has its names; ring 3 sees a copy.
 */
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

/* HLT is for ring 0 alone: #GP. */
    .globl user_halt, user_halt_end
    .type user_halt, @function
user_halt:
    hlt
user_halt_end:

    .section .note.GNU-stack, "", @progbits
