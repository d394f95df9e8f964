/*
 * The PS/2 keyboard: an 8042 or what plays one. IBM PS/2 Technical Reference, "Keyboard and
 * Auxiliary Device Controller".
 *
 * On many PCs this is the firmware in system-management mode that makes a USB keyboard look like
 * one; such a controller knows the simple commands only. So it is left as it stands, as far as it
 * stands well, and nothing is reset.
 */
#include "kernel/console/keyboard.h"

#include <stdint.h>

#include "kernel/io.h"
#include "kernel/console/keys.h"

#define DATA                  0x60
#define STATUS                0x64
#define STATUS_OUTPUT_FULL    0x01
#define STATUS_INPUT_FULL     0x02
#define STATUS_FROM_AUX       0x20
#define NOTHING               0xff /* what a port without a device reads */
#define COMMAND_READ_CONFIG   0x20
#define COMMAND_WRITE_CONFIG  0x60
#define COMMAND_ENABLE_PORT   0xae
#define CONFIG_PORT_DISABLED  0x10
#define CONFIG_TRANSLATE      0x40
#define KEYBOARD_SCANNING_ON  0xf4
#define KEYBOARD_ACKNOWLEDGES 0xfa

/* A read of the port takes about 1 us: 50 ms, far more than the controller needs. */
#define WAIT_READS 50000
/* More bytes than it can have kept mean that the port is stuck. */
#define STALE_BYTES 64

static bool present;
static struct key_decoder decoder;

/* Waits until the status has, of the bits in mask, exactly those in value. */
static bool wait_for(uint8_t mask, uint8_t value)
{
    for (unsigned i = 0; i < WAIT_READS; i++) {
        if ((inb(STATUS) & mask) == value)
            return true;
        __builtin_ia32_pause();
    }
    return false;
}

static bool send(uint16_t port, uint8_t byte)
{
    if (!wait_for(STATUS_INPUT_FULL, 0))
        return false;
    outb(port, byte);
    return true;
}

static bool receive(uint8_t *byte)
{
    if (!wait_for(STATUS_OUTPUT_FULL, STATUS_OUTPUT_FULL))
        return false;
    *byte = inb(DATA);
    return true;
}

/* Throws away what is there: keys for the boot menu. */
static bool drain(void)
{
    for (unsigned i = 0; i < STALE_BYTES; i++) {
        if (!(inb(STATUS) & STATUS_OUTPUT_FULL))
            return true;
        inb(DATA);
    }
    return false;
}

/* UEFI may leave the port off or untranslated; a BIOS never does. */
static void configure(void)
{
    uint8_t config, wanted;
    if (!send(STATUS, COMMAND_READ_CONFIG) || !receive(&config))
        return;
    wanted = (config | CONFIG_TRANSLATE) & (uint8_t)~CONFIG_PORT_DISABLED;
    if (wanted == config)
        return;
    if (send(STATUS, COMMAND_WRITE_CONFIG) && send(DATA, wanted))
        send(STATUS, COMMAND_ENABLE_PORT);
}

bool keyboard_init(void)
{
    uint8_t answer;

    present = false;
    if (inb(STATUS) == NOTHING || !drain())
        return false;
    configure();
    drain();
    /* No answer: no keyboard is plugged in, or the firmware plays one; it may still come. */
    if (send(DATA, KEYBOARD_SCANNING_ON) && receive(&answer) && answer != KEYBOARD_ACKNOWLEDGES)
        drain();
    present = true;
    return true;
}

int keyboard_poll(void)
{
    if (!present)
        return KEY_NONE;
    for (unsigned i = 0; i < STALE_BYTES; i++) {
        uint8_t status = inb(STATUS);
        if (status == NOTHING || !(status & STATUS_OUTPUT_FULL))
            return KEY_NONE;
        uint8_t byte = inb(DATA);
        int key = status & STATUS_FROM_AUX ? KEY_NONE : key_from_scan_code(&decoder, byte);
        if (key != KEY_NONE)
            return key;
    }
    return KEY_NONE;
}
