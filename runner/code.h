/*
 * The QR code of the summary on the screen, so that a telephone reads what somebody would have to
 * type: beside the summary where there is room (a framebuffer), else on a page of its own (text
 * mode), which takes turns with it. The serial line gets nothing of it.
 */
#ifndef PMULAB_CODE_H
#define PMULAB_CODE_H

#include <stdint.h>

struct bootinfo;

/* Shows it beside the summary, which is at the end of the log; or, when it needs its page, says at
 * the bottom of the screen that there is one. Nothing when there is no summary, or no screen. Once,
 * when all is printed. */
void code_show(const struct bootinfo *boot);

/* For how many seconds without a key the summary and the page stay; 0: there is no page. */
uint32_t code_turn_seconds(void);
/* The page in place of the log, or the log again. */
void code_turn(void);
/* The log, whatever was there. */
void code_hide(void);

#endif
