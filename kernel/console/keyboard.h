/* The PS/2 keyboard behind an 8042, polled. */
#ifndef PMULAB_KEYBOARD_H
#define PMULAB_KEYBOARD_H

#include <stdbool.h>

/* Looks for the controller and makes it translate to scan code set 1. Never waits long: false when
 * there is none (its ports read FFH, or it never becomes ready). A USB keyboard is seen only where
 * the firmware plays an 8042 for it. */
bool keyboard_init(void);

/* The next key (kernel/console/keys.h), or KEY_NONE when there is none yet. */
int keyboard_poll(void);

#endif
