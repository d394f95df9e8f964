/* Keys for who asks: from the keyboard and from the serial port, whichever comes first. */
#ifndef PMULAB_INPUT_H
#define PMULAB_INPUT_H

#include <stdbool.h>

/* Looks for the keyboard. The serial port listens as it was set up for the console. */
void input_init(void);

/* The next key (kernel/console/keys.h), or KEY_NONE when there is none yet. To be asked often: the
 * serial port keeps 16 bytes, the keyboard one or a few. */
int input_poll(void);
/* Did the last key come from the serial port? */
bool input_was_serial(void);

#endif
