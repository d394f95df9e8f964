/* The order in which things start. Nothing else in the kernel knows it. */
#include "boot/bootinfo.h"
#include "boot/multiboot2.h"
#include "boot/pvh.h"
#include "runner/code.h"
#include "runner/menu.h"
#include "runner/runner.h"
#include "runner/summary.h"
#include "runner/tap.h"
#include "x86/debug_exit.h"
#include "runner/cmdline.h"
#include "kernel/console/console.h"
#include "kernel/console/history.h"
#include "kernel/console/input.h"
#include "kernel/cpuid.h"
#include "kernel/ending.h"
#include "kernel/memory.h"
#include "kernel/nmi.h"
#include "kernel/paging.h"
#include "kernel/panic.h"
#include "kernel/pic.h"
#include "kernel/print.h"
#include "kernel/refused.h"
#include "kernel/smi.h"
#include "lapic/smp.h"
#include "kernel/time.h"
#include "kernel/trap.h"
#include "kernel/user.h"
#include "lapic/lapic.h"
#include "pmu/pmu.h"

#define COM1      0x3f8
#define COM1_BAUD 115200
/* The boot information of a loader is some KiB; what claims more than this is broken. Below 4 GiB
 * lies all that is mapped. */
#define BOOTINFO_LIMIT (1 << 20)
#define IDENTITY_END   (1ULL << 32)

extern const uint8_t image_start[], image_end[];

static struct bootinfo bootinfo;
static struct cmdline cmdline;

/* A VGA text screen is there when the loader says so, or when it says nothing and is a BIOS one. */
static bool has_vga_text(void)
{
    if (bootinfo.framebuffer.present)
        return bootinfo.framebuffer.type == MB2_FRAMEBUFFER_EGA_TEXT;
    return !bootinfo.efi;
}

/* Replaces the early serial console by what the command line wants. The port that was asked for and
 * does not answer is returned for a note; 0 when all is well. */
static uint16_t start_console(struct console_sink *early)
{
    struct console_sink *serial = early, *debug = debugcon_init();
    bool as_early = cmdline.serial_port == COM1 && cmdline.serial_baud == COM1_BAUD;

    if (early && !(as_early && cmdline.console_serial))
        console_remove(early);
    if (cmdline.console_serial && !as_early)
        serial = serial_init(cmdline.serial_port, cmdline.serial_baud);
    if (cmdline.console_serial && serial)
        console_add(serial);
    if (cmdline.console_vga && has_vga_text())
        console_add(vga_init());
    if (debug)
        console_add(debug);
    return cmdline.console_serial && !serial ? cmdline.serial_port : 0;
}

/* Comments that must not stand before the first line of TAP, which is its version. */
static void print_notes(uint16_t missing_port, const char *lapic_missing, unsigned early_nmis)
{
    unsigned shown =
        bootinfo.n_errors < BOOTINFO_MAX_ERRORS ? bootinfo.n_errors : BOOTINFO_MAX_ERRORS;

    for (unsigned i = 0; i < shown; i++)
        kprintf("# boot information: %s\n", bootinfo.errors[i]);
    if (missing_port)
        kprintf("# no serial port answers at 0x%x\n", missing_port);
    if (lapic_missing)
        kprintf("# local APIC: %s\n", lapic_missing);
    if (early_nmis)
        kprintf("# %u unexpected NMIs while the kernel started\n", early_nmis);
    refused_print();
}

static size_t bootinfo_limit(uint64_t info)
{
    return info > IDENTITY_END - BOOTINFO_LIMIT ? IDENTITY_END - info : BOOTINFO_LIMIT;
}

/* The same order on every other processor. */
static void start_cpu(unsigned index)
{
    trap_init_cpu(index);
    cpuid_unlimit();
    user_init();
    lapic_init_cpu();
    pmu_init_cpu();
}

/* Physical memory as boot/start.S maps it. paging_init() takes page 0 away, where QEMU puts PVH's
 * memory map. */
static const uint8_t *read_physical(uint64_t address, size_t size)
{
    if (address >= IDENTITY_END || size > IDENTITY_END - address)
        return NULL;
    return (const uint8_t *)address;
}

/* The magic says who the loader was, and so what info points to. */
static void read_bootinfo(uint32_t magic, const void *info)
{
    if (magic == PVH_START_MAGIC)
        pvh_parse(&bootinfo, (uint64_t)info, read_physical);
    else
        bootinfo_parse(&bootinfo, info, bootinfo_limit((uint64_t)info));
}

/* A loader that puts the image where the memory map has something else has spoilt that already; the
 * kernel would go on doing so. */
static void refuse_reserved_memory(void)
{
    uint64_t base = (uint64_t)image_start, end = (uint64_t)image_end;
    const struct memory_range *r = bootinfo_reserved(&bootinfo, base, end);
    if (!r)
        return;
    tap_begin();
    tap_bail_out("the loader put the kernel at 0x%llx..0x%llx, and the memory map says that "
                 "0x%llx..0x%llx is not free (type %u)",
                 (unsigned long long)base, (unsigned long long)end, (unsigned long long)r->base,
                 (unsigned long long)(r->base + r->length), r->type);
    machine_exit(DEBUG_EXIT_NOT_OK);
}

/* Entered from boot/start.S with the loader's magic and the address of its boot information. */
_Noreturn void kmain(uint32_t magic, const void *info)
{
    trap_init();
    cpuid_unlimit();
    struct console_sink *early = serial_init(COM1, COM1_BAUD);
    const char *lapic_missing = NULL;

    if (early)
        console_add(early);
    console_add(history_init());
    read_bootinfo(magic, info);
    cmdline_parse(&cmdline, bootinfo.cmdline);
    if (bootinfo.cmdline_error)
        cmdline_refuse(&cmdline, bootinfo.cmdline_error);
    uint16_t missing_port = start_console(early);
    paging_init();
    ending_init(&bootinfo, cmdline.end);
    memory_init(&bootinfo);
    user_init();
    struct console_sink *pixels =
        cmdline.console_vga ? framebuffer_init(&bootinfo.framebuffer) : NULL;
    if (pixels)
        console_add(pixels);
    pic_disable();
    time_init(&bootinfo, cmdline.clock);
    refuse_reserved_memory(); /* now that every screen is there, and the machine can be ended */
    if (lapic_init(cmdline.apic, cmdline.pmi, &lapic_missing))
        lapic_missing = NULL;
    smi_init();
    pmu_init();
    smp_init(&bootinfo, start_cpu);
    input_init();
    unsigned early_nmis = nmi_take_strays().count;

    uint8_t code = experiments_run(&cmdline);
    print_notes(missing_port, lapic_missing, early_nmis);
    summary_print(&bootinfo);
    debug_exit(code);
    ending_perform();
    kprintf("# The machine may be switched off. Page up and down show what was printed.\n");
    code_show(&bootinfo);
    menu_review();
}
