/* Measurements that are taken again. */
#include "lab/take.h"

#include "kernel/cpuid.h"
#include "kernel/smi.h"
#include "lab/experiment.h"

struct take take_begin(void)
{
    return (struct take){.smis = smi_count()};
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
        value_u64("takes", take->n);
    if (smi)
        value_str("smi", "one fell into each take (MSR_SMI_COUNT)");
    return false;
}

bool take_again(struct take *take, bool right)
{
    return take_again_told(take, smi_count() != take->smis, right);
}
