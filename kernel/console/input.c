/* Keys from both sources. */
#include "kernel/console/input.h"

#include <stdint.h>

#include "kernel/console/console.h"
#include "kernel/console/keyboard.h"
#include "kernel/console/keys.h"

static struct key_decoder terminal;
static bool was_serial;

void input_init(void)
{
    keyboard_init();
}

int input_poll(void)
{
    for (int byte = serial_getc(); byte >= 0; byte = serial_getc()) {
        int key = key_from_terminal(&terminal, (uint8_t)byte);
        if (key != KEY_NONE) {
            was_serial = true;
            return key;
        }
    }
    was_serial = false;
    return keyboard_poll();
}

bool input_was_serial(void)
{
    return was_serial;
}
