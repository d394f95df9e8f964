/*
 * The machine's end: ACPI's S5, and the ways to reset a PC, from the one that the firmware names to
 * the one that no processor can refuse.
 *
 * Left out is what takes an interpreter of AML: \_PTS ("Prepare To Sleep") is not run. On PCs it
 * tells the firmware which state comes, for the waking up that S5 does not have.
 */
#include "kernel/ending.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "boot/bootinfo.h"
#include "kernel/io.h"
#include "kernel/paging.h"
#include "kernel/power.h"
#include "kernel/print.h"
#include "kernel/time.h"
#include "kernel/trap.h"

#define US_PER_MS       1000
#define ACTS_WITHIN_US  (1000 * US_PER_MS) /* what still runs after that was not ended */
#define ENABLE_WAIT_MS  3000
#define NOTHING_ANSWERS 0xff /* what a port that nobody drives reads as */

/* ACPI Specification, "PM1 Control Registers". */
#define PM1_SCI_EN        (1 << 0)
#define PM1_SLP_TYP_SHIFT 10
#define PM1_SLP_TYP       (7 << PM1_SLP_TYP_SHIFT)
#define PM1_SLP_EN        (1 << 13)
/* "Sleep Control and Status Registers" */
#define SLEEP_SLP_TYP_SHIFT 2
#define SLEEP_SLP_EN        (1 << 5)

/* PCI Local Bus Specification, "Software Generation of Configuration Transactions"; ACPI, "Generic
 * Address Structure (GAS)": device, function and offset of a register on bus 0. */
#define PCI_ADDRESS        0xcf8
#define PCI_DATA           0xcfc
#define PCI_ENABLE         (1U << 31)
#define PCI_DEVICE(gas)    ((uint32_t)((gas) >> 32 & 0x1f))
#define PCI_FUNCTION(gas)  ((uint32_t)((gas) >> 16 & 7))
#define PCI_OFFSET(gas)    ((uint32_t)((gas)&0xff))
#define PCI_DEVICE_SHIFT   11
#define PCI_FUNCTION_SHIFT 8

/* IBM PS/2 Technical Reference, "Keyboard and Auxiliary Device Controller": the 8042's output port
 * has the processor's reset in bit 0; command F0H to FFH pulses the bits that are 0. */
#define KEYBOARD_COMMAND    0x64
#define KEYBOARD_INPUT_FULL 0x02
#define KEYBOARD_RESET      0xfe
#define KEYBOARD_WAIT_MS    100

/* Intel's south bridges (and QEMU's), "Reset Control Register (RST_CNT)", I/O port CF9H: RST_CPU
 * going from 0 to 1 resets, as hard as SYS_RST says. */
#define RESET_CONTROL 0xcf9
#define RST_SYS       (1 << 1)
#define RST_CPU       (1 << 2)

static enum ending choice;
static struct power_off off;
static struct power_reset reset;
static const char *no_off, *no_reset;
static unsigned next; /* the way to be tried: what a panic interrupted is not tried again */

/* ---- registers ---- */

static uint16_t read16(struct acpi_register r)
{
    return r.space == ACPI_IO ? inw((uint16_t)r.address) : *(volatile uint16_t *)r.address;
}

static void write16(struct acpi_register r, uint16_t value)
{
    if (r.space == ACPI_IO)
        outw((uint16_t)r.address, value);
    else
        *(volatile uint16_t *)r.address = value;
}

static void write8(struct acpi_register r, uint8_t value)
{
    if (r.space == ACPI_IO) {
        outb((uint16_t)r.address, value);
    } else if (r.space == ACPI_PCI) {
        uint32_t offset = PCI_OFFSET(r.address);
        outl(PCI_ADDRESS, PCI_ENABLE | PCI_DEVICE(r.address) << PCI_DEVICE_SHIFT |
                              PCI_FUNCTION(r.address) << PCI_FUNCTION_SHIFT | (offset & ~3U));
        outb((uint16_t)(PCI_DATA + (offset & 3)), value);
    } else {
        *(volatile uint8_t *)r.address = value;
    }
}

static bool can_reach(struct acpi_register r)
{
    return r.space != ACPI_MEMORY || paging_map_mmio(r.address, sizeof(uint16_t));
}

/* ---- off ---- */

static const char *why_not_off(void)
{
    return no_off;
}

/* Firmware that the boot loader found in legacy mode: an SMI makes it hand the power management
 * registers over ("Legacy/ACPI Select and the SCI Interrupt"). */
static void enable_acpi(void)
{
    if (off.smi_port == 0 || (read16(off.control[0]) & PM1_SCI_EN))
        return;
    outb(off.smi_port, off.smi_enable);
    for (unsigned ms = 0; ms < ENABLE_WAIT_MS && !(read16(off.control[0]) & PM1_SCI_EN); ms++)
        delay_us(US_PER_MS);
}

/* SLP_TYP goes first and SLP_EN with it in a second write: there are chipsets that take the type
 * only then. */
static void switch_off(void)
{
    uint16_t value[2];

    if (off.reduced) {
        uint8_t type = (uint8_t)(off.type[0] << SLEEP_SLP_TYP_SHIFT);
        write8(off.control[0], type | SLEEP_SLP_EN);
        return;
    }
    enable_acpi();
    for (unsigned i = 0; i < off.n; i++) {
        value[i] = (uint16_t)((read16(off.control[i]) & ~(PM1_SLP_TYP | PM1_SLP_EN)) |
                              off.type[i] << PM1_SLP_TYP_SHIFT);
        write16(off.control[i], value[i]);
    }
    for (unsigned i = 0; i < off.n; i++)
        write16(off.control[i], value[i] | PM1_SLP_EN);
}

/* ---- again ---- */

static const char *why_no_reset_register(void)
{
    return no_reset;
}

static void write_reset_register(void)
{
    write8(reset.control, reset.value);
}

static const char *why_no_keyboard_controller(void)
{
    return inb(KEYBOARD_COMMAND) == NOTHING_ANSWERS ? "none answers at port 64H" : NULL;
}

static void pulse_keyboard_controller(void)
{
    for (unsigned ms = 0; ms < KEYBOARD_WAIT_MS && (inb(KEYBOARD_COMMAND) & KEYBOARD_INPUT_FULL);
         ms++)
        delay_us(US_PER_MS);
    outb(KEYBOARD_COMMAND, KEYBOARD_RESET);
}

static const char *why_no_reset_control(void)
{
    return inb(RESET_CONTROL) == NOTHING_ANSWERS ? "nothing answers there" : NULL;
}

static void write_reset_control(void)
{
    outb(RESET_CONTROL, RST_SYS);
    outb(RESET_CONTROL, RST_SYS | RST_CPU);
}

static const char *never(void)
{
    return NULL;
}

/* No IDT: INT3 is #GP, that is #DF, and that the shutdown (SDM vol. 3 "Interrupt 8, Double Fault
 * Exception (#DF)"), which a PC's chipset answers with a reset. */
static void triple_fault(void)
{
    static const struct {
        uint16_t limit;
        uint64_t base;
    } __attribute__((packed)) none = {0};
    __asm__ volatile("lidt %0; int3" ::"m"(none));
}

/* ---- both ---- */

struct way {
    const char *name;
    const char *(*why_not)(void); /* NULL: it can be tried */
    void (*act)(void);
};

static const struct way poweroff[] = {
    {"ACPI's state S5", why_not_off, switch_off},
    {NULL, NULL, NULL},
};
static const struct way reboot[] = {
    {"the reset register of ACPI's FADT", why_no_reset_register, write_reset_register},
    {"the keyboard controller", why_no_keyboard_controller, pulse_keyboard_controller},
    {"port CF9H", why_no_reset_control, write_reset_control},
    {"a triple fault", never, triple_fault},
    {NULL, NULL, NULL},
};

static const struct {
    const char *word, *still;
    const struct way *ways;
} endings[] = {
    [END_HALT] = {NULL, NULL, NULL},
    [END_POWEROFF] = {"poweroff", "cannot switch itself off", poweroff},
    [END_REBOOT] = {"reboot", "cannot reset itself", reboot},
};

void ending_init(const struct bootinfo *boot, enum ending wanted)
{
    if (wanted == END_POWEROFF) {
        no_off = power_find_off(&off, boot->rsdp, boot->rsdp_size, paging_physical);
        for (unsigned i = 0; i < off.n && !no_off; i++)
            if (!can_reach(off.control[i]))
                no_off = "no page table is left for its register";
    } else if (wanted == END_REBOOT) {
        no_reset = power_find_reset(&reset, boot->rsdp, boot->rsdp_size, paging_physical);
        if (!no_reset && !can_reach(reset.control))
            no_reset = "no page table is left for its register";
    }
    choice = wanted;
    next = 0;
}

void ending_perform(void)
{
    const struct way *ways = endings[choice].ways;

    if (!ways)
        return;
    irq_disable();
    while (ways[next].name) {
        const struct way *way = &ways[next++];
        const char *why_not = way->why_not();
        kprintf("# end=%s: %s%s%s\n", endings[choice].word, way->name, why_not ? ": " : "",
                why_not ? why_not : "");
        if (why_not)
            continue;
        print_flush();
        way->act();
        delay_us(ACTS_WITHIN_US);
    }
    kprintf("# end=%s: this machine %s\n", endings[choice].word, endings[choice].still);
}
