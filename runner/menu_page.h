/* The menu as a page of the screen: the experiments by chapter, in two columns, with a bar. */
#ifndef PMULAB_MENU_PAGE_H
#define PMULAB_MENU_PAGE_H

#include <stdbool.h>
#include <stdint.h>

struct cmdline;

/* The bar stands on an index into experiments[], or on this: what the command line selects. */
#define MENU_ALL (-1)

struct menu_state {
    int chosen;
    const char *typed;   /* "" when nothing is */
    const char *message; /* "" when there is none */
    uint32_t seconds;    /* until all run by themselves; 0: they do not */
};

/* Once, before the others: which experiments there are. False: there is no screen, or it is too
 * small, and the others do nothing. */
bool menu_page_init(const struct cmdline *cl);
/* Draws it; only what has changed since the last time goes to the screen. */
void menu_page_show(const struct menu_state *state);
/* Where a key (arrows, page up and down, home, end) takes the bar. */
int menu_page_move(int chosen, int key);

#endif
