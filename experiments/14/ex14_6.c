/* Experiment 14-6 · LBR in 64-bit mode. */
#include "kernel/paging.h"
#include "lab/branches.h"
#include "lab/experiment.h"

enum { BELOW_4_GIB, ABOVE_4_GIB, UPPER_HALF };

static const char *const checks[] = {
    [BELOW_4_GIB] = "below 4 GiB the records have the branches as linked",
    [ABOVE_4_GIB] = "above 4 GiB the records have the full addresses",
    [UPPER_HALF] = "in the upper half the records have the full addresses, sign included",
};

static void run(void);

const struct experiment ex14_6 = {
    .id = "14-6",
    .title = "LBR in 64-bit mode",
    .needs = NEED_LBR,
    CHECKS(checks),
    .run = run,
};

/*
 * The same code runs where it was linked, above 4 GiB, and in the upper half of the linear
 * addresses: the records must hold the full addresses. In the upper half the sign matters: some
 * formats keep flags in the bits above the address and extend the sign below them (SDM vol. 3 "LBR
 * Stack and Intel 64 Processors"). Only the window's call and the return to it cross from one place
 * to the other.
 */
#define MAX_BRANCHES 16

static bool in_high_code(uint64_t address)
{
    return address >= (uint64_t)branch_high && address < (uint64_t)branch_high_end;
}

/* Runs the code at base + its own address. */
static void check_at(unsigned which, uint64_t base, const char *title)
{
    const struct branch_run *all = &branch_high_run;
    struct branch taken[MAX_BRANCHES];
    for (unsigned i = 0; i < all->n; i++) {
        taken[i] = all->taken[i];
        taken[i].from += in_high_code(taken[i].from) ? base : 0;
        taken[i].to += in_high_code(taken[i].to) ? base : 0;
    }
    branches_record(0, (window_body)(base + (uint64_t)branch_high), 0, taken, (unsigned)all->n, 0);
    lbr_dump(title);
    value_hex("code_at", base + (uint64_t)branch_high);
    check(which, branches_in_lbr(taken, (unsigned)all->n, 0, 0));
}

/* The same where the kernel's text is mapped a second time. */
static void check_mapped_at(unsigned which, uint64_t base, const char *title)
{
    if (paging_alias_text(base) == base) {
        check_at(which, base, title);
    } else {
        value_str("code_at", "cannot be mapped there");
        check(which, false);
    }
}

static void run(void)
{
    check_at(BELOW_4_GIB, 0, "below 4 GiB");
    check_mapped_at(ABOVE_4_GIB, paging_high(), "above 4 GiB");
    check_mapped_at(UPPER_HALF, PAGING_UPPER, "in the upper half");
}
