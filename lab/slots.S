/* Code that is bound by one thing each (lab/slots.h), listed by the macros of lab/listing.h. */
#include "lab/listing.h"

#define NOPS 64

    BODY slots_retiring
1:
    .rept NOPS
    EACH slots_retiring nopl 0(%rax)    /* four bytes: eight in 32, as many as decoded caches take */
    .endr
    EACH slots_retiring decq %rdi
    EACH slots_retiring jnz 1b
    ONCE slots_retiring ret
    END  slots_retiring

/* How many it retires depends on the directions. Few, so that most of a narrow core's slots are lost too. */
    .globl  slots_bad_speculation
    .type   slots_bad_speculation, @function
    .p2align 6
slots_bad_speculation:
    movabsq $6364136223846793005, %rcx  /* Knuth's generator, MMIX */
    movabsq $1442695040888963407, %r8
    movq    %rdi, %rax
1:  imulq   %rcx, %rax
    addq    %r8, %rax
    btq     $40, %rax                   /* low bits repeat after few steps */
    jc      2f
    incq    %rdx
2:  decq    %rdi
    jnz     1b
    ret
    .size   slots_bad_speculation, . - slots_bad_speculation

    .section .note.GNU-stack, "", @progbits
