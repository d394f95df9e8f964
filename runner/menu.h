/*
 * The kernel's own menu (the word menu on the command line): the experiments with their titles,
 * started from the keyboard or the serial port. All of a session is one TAP stream, with its plan
 * at the end; what the menu says is comment lines.
 */
#ifndef PMULAB_MENU_H
#define PMULAB_MENU_H

#include <stdbool.h>

struct cmdline;

/* Waits for the first key as long as the command line says. True: a key came, and the session is
 * over (its plan is printed). False: none came, nothing was run. */
bool menu_run(const struct cmdline *cl);

/* Lets somebody page through the output for ever: for a machine that is done. */
_Noreturn void menu_review(void);

#endif
