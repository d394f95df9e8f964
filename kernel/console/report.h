/*
 * A run as somebody wants to see it on a screen: the console's TAP and comments without their '#',
 * coloured, broken between words, the values of a check in one paragraph, and the SKIPs that follow
 * each other for one reason in one line. Other sinks get the stream as it is.
 */
#ifndef PMULAB_REPORT_H
#define PMULAB_REPORT_H

#include <stdbool.h>

/* For a screen that has just been set up. A line is shown when it has ended. */
struct console_sink *report_sink(void);

/* What comes now is not for the screen (a menu that stands there already), or is again. A "Bail
 * out!" ends it, and the page on the screen with it. */
void report_mute(bool on);

#endif
