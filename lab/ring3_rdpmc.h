/* RDPMC in ring 3, where it may be refused. */
#ifndef PMULAB_RING3_RDPMC_H
#define PMULAB_RING3_RDPMC_H

#include <stdbool.h>
#include <stdint.h>

/* What became of it. */
enum ring3_rdpmc {
    RING3_READ,
    RING3_REFUSED, /* #GP */
    RING3_NOT_RUN, /* user_run() could not */
};
extern const char *const ring3_rdpmc_names[];

/* RDPMC with ECX = selector in ring 3; *value is what it read, 0 when it read nothing. Ring 3 code
 * that was loaded before is gone. */
enum ring3_rdpmc ring3_rdpmc(uint32_t selector, uint64_t *value);

#endif
