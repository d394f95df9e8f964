/*
 * Keys, from the scan codes of a PS/2 keyboard and from the bytes of a terminal. Pure: no hardware,
 * so the host's unit tests compile it.
 */
#ifndef PMULAB_KEYS_H
#define PMULAB_KEYS_H

#include <stdbool.h>
#include <stdint.h>

/* A key is its ASCII character, or one of these; letters come as small ones. */
enum key {
    KEY_NONE = 0,
    KEY_BACKSPACE = 0x08,
    KEY_ENTER = '\n',
    KEY_UP = 0x100,
    KEY_DOWN,
    KEY_LEFT,
    KEY_RIGHT,
    KEY_PAGE_UP,
    KEY_PAGE_DOWN,
    KEY_HOME,
    KEY_END,
};

/* What of a key was seen so far; all 0 at the start. One for each source. */
struct key_decoder {
    uint8_t state, number;
};

/*
 * One byte of scan code set 1 (what the 8042 makes of any keyboard when it translates), as the keys
 * of a US keyboard. KEY_NONE when it is no key (released, shift) or not yet complete. Source: IBM
 * PS/2 Technical Reference, "Keyboard Scan Codes, Scan Code Set 1".
 */
int key_from_scan_code(struct key_decoder *decoder, uint8_t byte);

/* One byte from a terminal: a character, or a part of a VT220's or xterm's sequence (ECMA-48,
 * "Control sequences"). CR, LF and CR LF are one KEY_ENTER; DEL is KEY_BACKSPACE. */
int key_from_terminal(struct key_decoder *decoder, uint8_t byte);

#endif
