/* What the sheets of the branch trace store share. */
#include "lab/bts_lab.h"

#include <stddef.h>

#include "lab/experiment.h"

bool bts_set_up(unsigned records, unsigned threshold)
{
    const struct ds_setup setup = {.bts_records = records, .bts_threshold = threshold};
    const char *refused = ds_setup(&setup);
    value_str("ds_setup", "%s", refused != NULL ? refused : "done");
    return refused == NULL;
}

unsigned bts_torn(const struct bts_record *records, unsigned n)
{
    unsigned torn = 0;
    for (unsigned i = 1; i < n; i++)
        torn += !bts_follows(&records[i - 1], &records[i]);
    return torn;
}
