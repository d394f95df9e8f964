/* The NMI: who is asked, and what is nobody's. Not printed here: it may have interrupted a line. */
#include "kernel/nmi.h"

#include <stddef.h>

#include "kernel/panic.h"
#include "kernel/percpu.h"
#include "kernel/trap.h"

#define MAX_OWNERS 4

static nmi_owner owners[MAX_OWNERS];
static unsigned strays[MAX_CPUS];
static struct nmi_first_stray first;

void nmi_add_owner(nmi_owner owner)
{
    for (unsigned i = 0; i < MAX_OWNERS; i++) {
        if (owners[i] != NULL)
            continue;
        __atomic_store_n(&owners[i], owner, __ATOMIC_SEQ_CST);
        return;
    }
    panic("nmi_add_owner: all places are taken");
}

void nmi_interrupt(struct trap_frame *frame)
{
    bool owned = false;
    for (unsigned i = 0; i < MAX_OWNERS; i++)
        if (owners[i] != NULL)
            owned |= owners[i](frame);
    if (owned)
        return;
    strays[this_cpu()->index]++;
    if (first.count++ == 0)
        first.rip = frame->rip;
}

unsigned nmi_strays(void)
{
    return strays[this_cpu()->index];
}

struct nmi_first_stray nmi_take_strays(void)
{
    struct nmi_first_stray taken = first;
    first.count = 0;
    return taken;
}
