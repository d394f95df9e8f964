/*
 * What the experiments about samples run: a loop with one load, and functions whose shares of a loop are
 * known. System V calling convention.
 */
#include "lab/listing.h"
#include "lab/sample_bodies.h"

/*
 * void sparse_loads(uint64_t rounds): in each round a load and then additions that need each other, so that
 * an address tells how many instructions lie between it and the load.
 */
    .text
    .globl  sparse_loads, sparse_loads_loop, sparse_loads_again, sparse_loads_end
    .type   sparse_loads, @function
    .p2align 6
sparse_loads:
    xorl    %edx, %edx
sparse_loads_loop:
    movq    (%rsp), %rax
    .rept   SPARSE_ADDS
    leaq    1(%rdx), %rdx
    .endr
    decq    %rdi
sparse_loads_again:
    jnz     sparse_loads_loop
sparse_loads_end:
    ret
    .size   sparse_loads, . - sparse_loads

/* Additions that need each other, in a loop: one instruction is like another, and takes as long. */
.macro SHARE name iterations
    BODY \name
    ONCE \name movl $\iterations, %ecx
1:
    .rept 6
    EACH \name leaq 1(%rdx), %rdx
    .endr
    EACH \name decq %rcx
    EACH \name jnz 1b
    ONCE \name ret
    .globl \name\()_end
\name\()_end:
    END  \name
.endm

    SHARE share_a SHARE_A
    SHARE share_b SHARE_B
    SHARE share_c SHARE_C
    SHARE share_d SHARE_D

/* void shares_loop(uint64_t rounds) */
    BODY shares_loop
1:  EACH shares_loop call share_a
    EACH shares_loop call share_b
    EACH shares_loop call share_c
    EACH shares_loop call share_d
    EACH shares_loop decq %rdi
    EACH shares_loop jnz 1b
    ONCE shares_loop ret
    END  shares_loop

    .section .note.GNU-stack, "", @progbits
