/* Pages of what was printed, shown in place of the newest: on the screen for who sits at the
 * keyboard, as comment lines on the serial port for who sits there. */
#ifndef PMULAB_PAGER_H
#define PMULAB_PAGER_H

#include <stdbool.h>

/* Does what the key says when it is one of the pager's (page up and down, home, end) and returns
 * true. Any other key brings the newest page back. from_serial: where the key came from. */
bool pager_key(int key, bool from_serial);

#endif
