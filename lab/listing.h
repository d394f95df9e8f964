/*
 * Listings that count themselves, for assembly. Each instruction that runs once stands in ONCE,
 * each of the loop in EACH: the macros emit it and count it, so that the numbers in NAME_insns
 * (struct body_insns of lab/bodies.h) are the listing's own. Macro-fused pairs (DEC, JNZ) retire as
 * two instructions, a REP string instruction as one (SDM vol. 3 "Pre-defined Architectural
 * Performance Events", Instructions Retired).
 */
#ifndef PMULAB_LISTING_H
#define PMULAB_LISTING_H
// clang-format off

.macro BODY name
    .text
    .globl  \name
    .type   \name, @function
    .set    \name\()_once, 0
    .set    \name\()_each, 0
    .p2align 6
\name:
.endm

.macro ONCE name line:vararg
    \line
    .set    \name\()_once, \name\()_once + 1
.endm

.macro EACH name line:vararg
    \line
    .set    \name\()_each, \name\()_each + 1
.endm

/* Ends a body. */
.macro END name
    .size   \name, . - \name
    .section .rodata
    .globl  \name\()_insns
    .p2align 3
\name\()_insns:
    .quad   \name\()_once, \name\()_each
    .text
.endm

// clang-format on
#endif
