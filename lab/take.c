/* Measurements that are taken again. */
#include "lab/take.h"

#include "kernel/cpuid.h"
#include "kernel/smi.h"
#include "lab/experiment.h"

struct take take_begin(void)
{
    return (struct take){.smis = smi_count()};
}

bool take_has_smi(const struct take *take)
{
    return smi_count() != take->smis;
}

bool take_again_told(struct take *take, bool smi, bool right)
{
    bool seen_all = smi_counted() && !hypervisor_present();
    bool again = smi || (!seen_all && !right);
    if (++take->n < TAKES && again) {
        take->smis = smi_count();
        return true;
    }
    if (take->n > 1)
        note("taken %u times: %s", take->n,
             smi        ? "an SMI fell into each (MSR_SMI_COUNT)"
             : seen_all ? "an SMI fell into the others (MSR_SMI_COUNT)"
             : right    ? "it was wrong before"
                        : "it was wrong each time");
    return false;
}

bool take_again_wrong(struct take *take, bool right)
{
    return take_again_told(take, !right && take_has_smi(take), right);
}

bool take_again(struct take *take, bool right)
{
    return take_again_told(take, take_has_smi(take), right);
}
