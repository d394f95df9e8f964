/*
 * Measurements that an SMI falls into are taken again. Nothing keeps an SMI out of a window. What
 * the firmware does then is counted and recorded where FREEZE_WHILE_SMM cannot be set
 * (pmu/debugctl.h), and there are processors whose records are wrong after one all the same
 * (Clarkdale specification update, BU10).
 *
 *     struct take take = take_begin();
 *     do
 *         measure();
 *     while (take_again(&take, it_is_right));
 *
 * Where MSR_SMI_COUNT is there, it says whether an SMI fell in. Where it is not, and in a virtual
 * machine, whose count knows nothing of the host's SMIs, the measurement itself must: one that is
 * not right is taken again. What is wrong with a processor is wrong each time: it stays so. A '#'
 * line says when it was not the first take, and when an SMI fell into them all.
 */
#ifndef PMULAB_TAKE_H
#define PMULAB_TAKE_H

#include <stdbool.h>
#include <stdint.h>

#define TAKES 5 /* at most */

struct take {
    unsigned n;    /* taken so far */
    uint32_t smis; /* smi_count() when this take began */
};
struct take take_begin(void);
bool take_again(struct take *take, bool right);

/* As take_again(), where the interrupt's handler prints, which takes long, and the comparison tells
 * all: what is right stays, SMI or not. */
bool take_again_wrong(struct take *take, bool right);

/* Has an SMI fallen in so far? */
bool take_has_smi(const struct take *take);
/* As take_again(), where it must be asked before what comes behind the measurement (a wait), or of
 * several processors, each with a count of its own. */
bool take_again_told(struct take *take, bool smi, bool right);

#endif
