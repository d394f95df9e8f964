/* The comparison of branch records with the branches that were taken. */
#include "lab/branches.h"

#include <stddef.h>

#include "lab/experiment.h"
#include "lab/take.h"
#include "kernel/panic.h"
#include "kernel/print.h"

#define NAME_SIZE 48

static void name_of(char name[NAME_SIZE], uint64_t address)
{
    uint64_t offset;
    const char *symbol = symbol_name(address, &offset);
    if (symbol != NULL)
        ksnprintf(name, NAME_SIZE, offset != 0 ? "%s+0x%llx" : "%s", symbol,
                  (unsigned long long)offset);
    else
        ksnprintf(name, NAME_SIZE, "0x%llx", (unsigned long long)address);
}

/* Either may be NULL: nothing there. */
static void note_difference(unsigned age, const struct branch_record *is, const struct branch *want)
{
    char from[NAME_SIZE], to[NAME_SIZE];
    if (is != NULL) {
        name_of(from, is->from);
        name_of(to, is->to);
        char flags[NAME_SIZE];
        lbr_flags_text(flags, sizeof(flags), is);
        note("record %u is %s -> %s%s%s", age, from, to, flags[0] != '\0' ? ", " : "", flags);
    } else {
        note("there is no record %u", age);
    }
    if (want != NULL) {
        name_of(from, want->from);
        name_of(to, want->to);
        note("record %u should be %s -> %s", age, from, to);
    } else {
        note("there should be no record %u", age);
    }
}

bool branch_is(const struct branch_record *record, const struct branch *branch)
{
    bool behind =
        (branch->kind & BRANCH_INT_N) && record->from == branch->from + BRANCH_INT_N_BYTES;
    return record->to == branch->to && (record->from == branch->from || behind) &&
           lbr_is_kind(record, branch->kind & ~BRANCH_INT_N);
}

/* How many of the records, from the newest on, are as they should be. *missing: the branch that
 * should stand behind them and does not; NULL: none. */
static unsigned agreeing(const struct branch_record *records, unsigned n_records,
                         const struct branch *taken, unsigned n, uint64_t suppressed,
                         uint64_t may_lack, const struct branch **missing)
{
    unsigned depth = lbr_info()->depth, age = 0;
    *missing = NULL;
    for (unsigned i = n; i-- > 0 && age < depth && *missing == NULL;) {
        if (taken[i].kind & suppressed)
            continue;
        bool optional = taken[i].kind & may_lack;
        bool same = age < n_records && branch_is(&records[age], &taken[i]);
        if (same)
            age++;
        else if (!optional)
            *missing = &taken[i];
    }
    return age;
}

bool branches_are(const struct branch_record *records, unsigned n_records,
                  const struct branch *taken, unsigned n, uint64_t suppressed, uint64_t may_lack)
{
    const struct branch *missing;
    unsigned depth = lbr_info()->depth, must = 0, may = 0;
    unsigned age = agreeing(records, n_records, taken, n, suppressed, may_lack, &missing);
    for (unsigned i = 0; i < n; i++) {
        bool kept = !(taken[i].kind & suppressed), optional = taken[i].kind & may_lack;
        must += kept && !optional;
        may += kept && optional;
    }
    value_u64("recorded", n_records);
    value_u64("expected", must < depth ? must : depth);
    if (may != 0)
        value_u64("or_as_many_as", must + may < depth ? must + may : depth);
    if (missing == NULL && age == n_records)
        return true;
    note_difference(age, age < n_records ? &records[age] : NULL, missing);
    return false;
}

bool branches_in_lbr(const struct branch *taken, unsigned n, uint64_t suppressed, uint64_t may_lack)
{
    struct branch_record records[LBR_MAX_DEPTH];
    unsigned n_records = lbr_read(records, LBR_MAX_DEPTH);
    return branches_are(records, n_records, taken, n, suppressed, may_lack);
}

bool branches_held(const struct branch *taken, unsigned n, uint64_t suppressed, uint64_t may_lack)
{
    struct branch_record records[LBR_MAX_DEPTH];
    const struct branch *missing;
    unsigned n_records = lbr_read(records, LBR_MAX_DEPTH);
    return agreeing(records, n_records, taken, n, suppressed, may_lack, &missing) == n_records &&
           missing == NULL;
}

void branches_record(uint64_t select, window_body body, uint64_t arg, const struct branch *taken,
                     unsigned n, uint64_t may_lack)
{
    struct take take = take_begin();
    do
        lbr_record(select, 0, body, arg);
    while (take_again(&take, branches_held(taken, n, select, may_lack)));
}

bool branch_among(const struct branch_record *records, unsigned n, const struct branch *branch)
{
    for (unsigned i = 0; i < n; i++)
        if (branch_is(&records[i], branch))
            return true;
    return false;
}

unsigned branch_chain_taken(struct branch *taken, unsigned rounds)
{
    const struct branch *once = branch_chain_run.taken;
    const struct branch again = {(uint64_t)branch_chain_again, (uint64_t)branch_chain,
                                 LBR_SELECT_JCC};
    unsigned n = 0;
    taken[n++] = once[0];
    for (unsigned round = 0; round < rounds; round++) {
        if (round > 0)
            taken[n++] = again;
        for (unsigned jump = 1; jump <= BRANCH_CHAIN_JUMPS; jump++)
            taken[n++] = once[jump];
    }
    taken[n++] = once[BRANCH_CHAIN_JUMPS + 1];
    return n;
}
