/*
 * The processor profiles inside the executable: scripts/embed.py turns sim/profiles/NAME.profile
 * into this table at build time, so that pmusim needs no file beside it.
 */
#ifndef PMULAB_SIM_PROFILES_EMBEDDED_H
#define PMULAB_SIM_PROFILES_EMBEDDED_H

struct embedded_profile {
    const char *name; /* "skylake": the file's name without ".profile" */
    const char *text; /* the file's whole text, NUL-terminated */
};

/* In the order of the names. */
extern const struct embedded_profile embedded_profiles[];
extern const unsigned embedded_profiles_count;

#endif
