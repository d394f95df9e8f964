/* RDPMC in ring 3. */
#include "lab/ring3_rdpmc.h"

#include <stddef.h>

#include "kernel/trap.h"
#include "kernel/user.h"
#include "lab/ring3.h"

const char *const ring3_rdpmc_names[] = {
    [RING3_READ] = "reads",
    [RING3_REFUSED] = "#GP",
    [RING3_NOT_RUN] = "no ring 3",
};

static volatile bool refused;

/* Ring 3 goes on at the end of its code. Any other #GP ends the run, as it would without this
 * handler. */
static void on_gp(struct trap_frame *frame)
{
    if (frame->rip != user_code_address() + (uint64_t)(user_rdpmc_instruction - user_rdpmc)) {
        trap_set_handler(VEC_GP, NULL);
        trap_abort("#GP, and not of RDPMC", frame);
    }
    refused = true;
    frame->rip = user_code_address() + (uint64_t)(user_rdpmc_end - user_rdpmc);
    frame->rax = 0;
}

enum ring3_rdpmc ring3_rdpmc(uint32_t selector, uint64_t *value)
{
    refused = false;
    *value = 0;
    trap_handler before = trap_set_handler(VEC_GP, on_gp);
    bool ran = user_run(user_rdpmc, (size_t)(user_rdpmc_end - user_rdpmc), USER_INTERRUPT, selector,
                        value);
    trap_set_handler(VEC_GP, before);
    return !ran ? RING3_NOT_RUN : refused ? RING3_REFUSED : RING3_READ;
}
