/*
 * What the PEBS experiments share: a run of loads whose registers are known at every instruction
 * (pebs_loads in lab/ds_bodies.S), the sampling of it, and the check of a record against
 * it.
 */
#ifndef PMULAB_PEBS_LAB_H
#define PMULAB_PEBS_LAB_H

#include <stdbool.h>
#include <stdint.h>

#include "pmu/ds.h"
#include "pmu/pebs.h"

#define PEBS_LOADS     64
#define PEBS_LOAD_SIZE 7

/* What pebs_loads sets its registers from; the layout is that of ds_bodies.S, but for the entries.
 */
struct pebs_run {
    const uint64_t *table; /* entry k: what load k puts into RAX */
    uint64_t rounds;
    uint64_t rax, rbx, rdx, rdi, rbp, r8_to_r15[8], unused;
    uint64_t rsp, rsi;            /* stored by pebs_loads */
    uint64_t entries[PEBS_LOADS]; /* where table points to, or where they are mapped again */
};
void pebs_loads(uint64_t run);
extern const char pebs_loads_loop[], pebs_loads_again[], pebs_loads_loop_end[], pebs_loads_end[];

struct pebs_chase_arg {
    void *first; /* a cycle of pointers */
    uint64_t count;
};
void pebs_chase(uint64_t arg);
extern const char pebs_chase_load[], pebs_chase_end[];

/* Fills entries and registers: entry k = high + k, register n = high + its own number. */
void pebs_run_fill(struct pebs_run *run, uint64_t high, uint64_t rounds);

/* The book turns BTS and FREEZE_PERFMON_ON_PMI on for these experiments: does so as far as the
 * machine has them (the debug store must have a circular BTS buffer for BTS), and notes what is on.
 * pebs_lab_off() turns both off. */
void pebs_lab_on(void);
void pebs_lab_off(void);
/* Room for the BTS buffer of pebs_lab_on(); 0 without BTS. */
unsigned pebs_lab_bts_records(void);

/* The precise event that these experiments sample: loads retired, or what comes nearest to it.
 * Wants NEED_PEBS. */
const struct pebs_event *pebs_lab_event(void);

/* Lays out the debug store. Returns the general counters (bit n: counter n) that sample the event;
 * 0 when there is none or the store is refused. The values of the next check say which and why. */
uint32_t pebs_lab_set_up(const struct ds_setup *setup);

/* How far the run had come at the record's RIP, which is in the loop: loads, and instructions since
 * the loop was entered. The record must hold registers. */
struct pebs_place {
    uint64_t loads, instructions;
};
struct pebs_place pebs_place_of(const struct pebs_record *r, const struct pebs_run *run);

/* Runs pebs_loads, filled with so many rounds, while the counter samples the event (NULL: its own,
 * of a fixed counter), others run beside it (bits of IA32_PERF_GLOBAL_CTRL), and no interrupt
 * comes: the threshold must be DS_CIRCULAR. The reset value of all other counters is 0. The records
 * lie in the buffer; how many. */
unsigned pebs_lab_sample(unsigned counter, const struct pebs_event *event, uint64_t period,
                         struct pebs_run *run, uint64_t rounds, uint64_t beside);

/*
 * Is this a record of pebs_loads, which ran at this address? Its RIP must lie in the loop and every
 * register hold what the code had loaded there. If not, what is wrong goes into the values of the
 * next check ("wrong": name, found, wanted).
 */
bool pebs_record_is_of(const struct pebs_record *r, const struct pebs_run *run, uint64_t address);
/* The same, and says nothing. */
bool pebs_record_agrees(const struct pebs_record *r, const struct pebs_run *run, uint64_t address);

#endif
