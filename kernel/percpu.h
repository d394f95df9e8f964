/*
 * What each logical processor has of its own: GDT, TSS, stacks, the state of a guarded run. Ring 0
 * finds it through the GS base. Read by C and by GNU as (offsets and sizes).
 */
#ifndef PMULAB_PERCPU_H
#define PMULAB_PERCPU_H

#include "boot/segments.h"

#define MAX_CPUS 8

/* Offsets of the fields that assembly uses; percpu.c asserts that they are right. */
#define PERCPU_SELF           0
#define PERCPU_NMI_DEPTH      8
#define PERCPU_GUARD_RSP      16
#define PERCPU_EXPERIMENT_TOP 24
#define PERCPU_USER_RSP       32
#define PERCPU_USER_CODE      40
#define PERCPU_USER_STACK     48
#define PERCPU_USER_RESULT    56
#define PERCPU_TSS_RSP0       244
#define PERCPU_SIZE           432
#define PERCPU_ARRAY_SIZE     (MAX_CPUS * PERCPU_SIZE)

#define STACK_GUARD           4096
#define STACK_SIZE            16384
#define STACK_EXPERIMENT_SIZE 32768
/* Where the boot processor's main stack ends in struct stacks. */
#define STACK_MAIN_TOP (STACK_GUARD + STACK_SIZE)

/* IST entries of the TSS (SDM vol. 3 "Interrupt Stack Table"). */
#define IST_DF  1
#define IST_NMI 2
#define IST_MC  3

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Below each stack lies a page that paging_init() makes not present, so that an overflow faults. */
struct stacks {
    uint8_t guard_main[STACK_GUARD], main[STACK_SIZE];
    uint8_t guard_experiment[STACK_GUARD], experiment[STACK_EXPERIMENT_SIZE];
    uint8_t guard_df[STACK_GUARD], df[STACK_SIZE];
    uint8_t guard_nmi[STACK_GUARD], nmi[STACK_SIZE];
    uint8_t guard_mc[STACK_GUARD], mc[STACK_SIZE];
} __attribute__((aligned(4096)));

/* 64-bit TSS, SDM vol. 3 "Task Management in 64-bit Mode". */
struct tss {
    uint32_t reserved0;
    uint64_t rsp[3];
    uint64_t ist[8]; /* ist[0] is reserved: the IST entries are 1 to 7 */
    uint64_t reserved2;
    uint16_t reserved3;
    uint16_t io_map_base;
} __attribute__((packed));

struct percpu {
    struct percpu *self;
    uint64_t nmi_depth;             /* 1 while the NMI handler runs */
    uint64_t guard_rsp;             /* where trap_abort() resumes; 0 when no guarded run is on */
    uint64_t experiment_top;        /* the end of the experiment stack */
    uint64_t user_rsp;              /* the kernel's stack pointer while ring 3 runs */
    uint64_t user_code, user_stack; /* where ring 3 starts, and the end of its stack */
    uint64_t user_result;           /* RAX of the last run there */
    unsigned index;                 /* 0: the boot processor */
    unsigned reporting;             /* how often trap_abort() was entered in this guarded run */
    struct stacks *stacks;
    char why[160]; /* the one line of the last aborted run */
    struct tss tss __attribute__((aligned(16)));
    uint64_t gdt[GDT_ENTRIES] __attribute__((aligned(16)));
};

extern struct percpu percpus[MAX_CPUS];
extern struct stacks cpu_stacks[MAX_CPUS];

/* A stack by name, with its guard page below: [base - STACK_GUARD, base). */
struct stack_range {
    const char *name;
    uint64_t base, top;
};

/* Builds the GDT and TSS of processor index, loads them and points GS at the structure. To be run
 * on that processor, before interrupts and exceptions can be taken. */
void percpu_init(unsigned index);

/* The structure of the processor that asks. Only after percpu_init(). */
static inline struct percpu *this_cpu(void)
{
    struct percpu *self;
    __asm__ volatile("movq %%gs:%c1, %0" : "=r"(self) : "i"(PERCPU_SELF));
    return self;
}

/* Finds the stack, of any processor, that holds the address, or, with in_guard, the one whose guard
 * page holds it. False when there is none. */
bool stack_find(uint64_t address, bool in_guard, struct stack_range *found);

/* Calls fn with the address of every guard page. */
void stack_each_guard(void (*fn)(uint64_t page));

#endif
#endif
