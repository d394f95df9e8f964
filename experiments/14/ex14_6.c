/*
 * Experiment 14-6 · LBR in 64-bit mode.
 *
 * The same code runs where it was linked, above 4 GiB, and in the upper half of the linear
 * addresses: the records must hold the full addresses. In the upper half the sign matters: some
 * formats keep flags in the bits above the address and extend the sign below them (SDM vol. 3 "LBR
 * Stack and Intel 64 Processors"). Only the window's call and the return to it cross from one place
 * to the other.
 */
#include "lab/branches.h"
#include "lab/experiment_old.h"
#include "kernel/paging.h"

#include <stddef.h>

#define MAX_BRANCHES 16

static bool in_high_code(uint64_t address)
{
    return address >= (uint64_t)branch_high && address < (uint64_t)branch_high_end;
}

/* Runs the code at base + its own address. */
static void check_at(uint64_t base, const char *title)
{
    const struct branch_run *run = &branch_high_run;
    struct branch taken[MAX_BRANCHES];
    for (unsigned i = 0; i < run->n; i++) {
        taken[i] = run->taken[i];
        taken[i].from += in_high_code(taken[i].from) ? base : 0;
        taken[i].to += in_high_code(taken[i].to) ? base : 0;
    }
    lbr_record(0, 0, (window_body)(base + (uint64_t)branch_high), 0);
    lbr_dump(title);
    value_hex("code_at", base + (uint64_t)branch_high);
    check(branches_in_lbr(taken, (unsigned)run->n, 0, 0));
}

static void run(void)
{
    check_at(0, "below 4 GiB");
    check_at(paging_alias_text(PAGING_HIGH), "above 4 GiB");
    check_at(paging_alias_text(PAGING_UPPER), "in the upper half");
}

static const char *const checks[] = {
    "below 4 GiB the records have the branches as linked",
    "above 4 GiB the records have the full addresses",
    "in the upper half the records have the full addresses, sign included",
    NULL,
};

const struct experiment ex14_6 = {
    .id = "14-6",
    .title = "LBR in 64-bit mode",
    CHECKS_OLD(checks),
    .needs = NEED_LBR,
    .run = run,
};
