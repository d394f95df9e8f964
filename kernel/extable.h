/*
 * The exception table: pairs of an instruction that may fault and the place to go on at when it
 * did. The linker script gathers them; the trap dispatcher looks them up before anything else.
 */
#ifndef PMULAB_EXTABLE_H
#define PMULAB_EXTABLE_H

#define EX_TABLE(fault, fixup)                                                                     \
    ".pushsection .ex_table, \"a\"\n\t.long " fault ", " fixup "\n\t.popsection\n"

#endif
