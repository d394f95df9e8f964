/*
 * What happens to the machine when all is said (the word end= on the command line): it halts, it
 * switches itself off, it starts again.
 */
#ifndef PMULAB_ENDING_H
#define PMULAB_ENDING_H

struct bootinfo;

enum ending { END_HALT, END_POWEROFF, END_REBOOT };

/* Takes the choice, and looks into the ACPI tables for what it needs: when the end comes by a panic
 * nothing has to be looked for. After paging_init(). Until then the end is to halt. */
void ending_init(const struct bootinfo *boot, enum ending choice);

/* Does it, on the processor that calls, with interrupts off. It comes back when the choice is
 * END_HALT, or when the machine is still on after all: then a comment line says why. Each way is
 * tried once, however often this is called. */
void ending_perform(void);

#endif
