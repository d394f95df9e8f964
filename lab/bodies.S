/*
 * The functions under test, listed by the macros of lab/listing.h.
 *
 * System V calling convention: the number of iterations is in RDI, at least 1. Only caller-saved registers.
 */
#include "lab/bodies.h"
#include "lab/listing.h"

#define CHAIN_LENGTH  16
#define BURST_LENGTH  32
#define STOSQ_REPEATS 16

    BODY body_empty
    ONCE body_empty ret
    END  body_empty

    BODY body_mixed
    ONCE body_mixed pushq %rdi
    ONCE body_mixed movl $STOSQ_REPEATS, %ecx
    ONCE body_mixed xorl %eax, %eax
    ONCE body_mixed movq $mixed_buffer, %rdi
    ONCE body_mixed cld
    ONCE body_mixed rep stosq
    ONCE body_mixed popq %rdi
    ONCE body_mixed movq $mixed_buffer, %rsi
1:  EACH body_mixed movq (%rsi), %rax
    EACH body_mixed addq %rdi, %rax
    EACH body_mixed movq %rax, 8(%rsi)
    EACH body_mixed testb $1, %dil
    EACH body_mixed jz 2f               /* taken every other time: both ways run the same number */
2:  EACH body_mixed call mixed_leaf
    EACH body_mixed decq %rdi
    EACH body_mixed jnz 1b
    ONCE body_mixed ret
mixed_leaf:                             /* called once an iteration */
    EACH body_mixed leaq 1(%rax), %rdx
    EACH body_mixed ret
    END  body_mixed

    BODY body_spin
1:  EACH body_spin decq %rdi
    EACH body_spin jnz 1b
    ONCE body_spin ret
    .globl  body_spin_end
body_spin_end:
    END  body_spin

    BODY body_nops
    .globl  body_nops_first
body_nops_first:
    .rept BODY_NOPS
    EACH body_nops nop
    .endr
    EACH body_nops decq %rdi
    EACH body_nops jnz body_nops_first
    ONCE body_nops ret
    END  body_nops

    BODY body_chain
    ONCE body_chain movl $3, %eax
1:
    .rept CHAIN_LENGTH
    EACH body_chain imulq %rax, %rax    /* each product is a factor of the next */
    .endr
    EACH body_chain decq %rdi
    EACH body_chain jnz 1b
    ONCE body_chain ret
    END  body_chain

    BODY body_serial
    ONCE body_serial movq %rdi, %rcx
1:
    .rept CHAIN_LENGTH
    EACH body_serial imulq $1, %rcx, %rcx   /* LOOP waits too: what it counts down is the product */
    .endr
    EACH body_serial loop 1b
    ONCE body_serial ret
    END  body_serial

    BODY body_parallel
1:
    .rept CHAIN_LENGTH / 4
    EACH body_parallel addl $1, %eax
    EACH body_parallel addl $1, %edx
    EACH body_parallel addl $1, %esi
    EACH body_parallel addl $1, %ecx
    .endr
    EACH body_parallel decq %rdi
    EACH body_parallel jnz 1b
    ONCE body_parallel ret
    END  body_parallel

    BODY body_bursts
    ONCE body_bursts movl $7, %ecx
1:  EACH body_bursts lfence             /* the division starts when all before it is done */
    EACH body_bursts movq $-1, %rax
    EACH body_bursts xorl %edx, %edx
    EACH body_bursts divq %rcx
    .rept BURST_LENGTH / 4
    EACH body_bursts addq %rax, %rsi    /* none starts before the quotient is there */
    EACH body_bursts addq %rax, %r8
    EACH body_bursts addq %rax, %r9
    EACH body_bursts addq %rax, %r10
    .endr
    EACH body_bursts decq %rdi
    EACH body_bursts jnz 1b
    ONCE body_bursts ret
    END  body_bursts

/* What reads and writes counters, COST_REPEATS of each an iteration; of counters, general counter 1. */
.macro COST name ecx insn
    BODY \name
    ONCE \name movl \ecx, %ecx
    ONCE \name xorl %eax, %eax
    ONCE \name xorl %edx, %edx
1:
    .rept COST_REPEATS
    EACH \name \insn
    .endr
    EACH \name decq %rdi
    EACH \name jnz 1b
    ONCE \name ret
    END  \name
.endm

    .bss
    .globl  body_cost_msr
    .balign 4
body_cost_msr:
    .zero   4
    .text

    COST body_rdtsc, $1, rdtsc
    COST body_rdpmc, $1, rdpmc
    COST body_rdmsr, "body_cost_msr(%rip)", rdmsr
    COST body_wrmsr, "body_cost_msr(%rip)", wrmsr /* of 0 */

/* void body_clock_read(struct clock_pair *pair, uint32_t selector) */
    .globl  body_clock_read
    .type   body_clock_read, @function
body_clock_read:
    lfence                              /* RDTSC and RDPMC do not wait for earlier instructions */
    rdtsc
    shlq    $32, %rdx
    orq     %rdx, %rax
    movq    %rax, %r8
    movl    %esi, %ecx
    lfence
    rdpmc
    lfence
    shlq    $32, %rdx
    orq     %rdx, %rax
    movq    %r8, (%rdi)
    movq    %rax, 8(%rdi)
    ret
    .size   body_clock_read, . - body_clock_read

    .globl  body_halt
    .type   body_halt, @function
body_halt:
    sti
    hlt
    ret
    .size   body_halt, . - body_halt

    .globl  body_open_for_interrupts
    .type   body_open_for_interrupts, @function
body_open_for_interrupts:
    sti
    nop
    ret
    .size   body_open_for_interrupts, . - body_open_for_interrupts

    .bss
    .p2align 6
mixed_buffer:
    .skip   STOSQ_REPEATS * 8

    .section .note.GNU-stack, "", @progbits
