/* The frequency of the TSC. SDM vol. 3 "Determining the Processor Base Frequency", "Time-Stamp
 * Counter". */
#include "kernel/time.h"

#include "kernel/clocks.h"
#include "kernel/cpuid.h"
#include "kernel/io.h"
#include "x86/maker.h"

#define CPUID_TSC_CRYSTAL 0x15
#define CPUID_FREQUENCY   0x16
#define MHZ               1000000ULL

/* 8254, channel 2: its gate and output are bits of port 61H. */
#define PIT_CHANNEL2       0x42
#define PIT_COMMAND        0x43
#define PIT_CHANNEL2_MODE0 0xb0 /* channel 2, low then high byte, mode 0: OUT rises at the end */
#define PIT_HZ             1193182ULL
#define PORT_B             0x61
#define PORT_B_GATE2       0x01
#define PORT_B_SPEAKER     0x02
#define PORT_B_OUT2        0x20
#define PIT_COUNT          5966 /* 5 ms */
#define PIT_RUNS           3
/* The bounds for a machine without one: 5 ms are below 5e7 ticks for any TSC below 10 GHz; and
 * should the TSC stand still, the reads end it. */
#define MAX_TICKS 50000000ULL
#define MAX_READS 50000000U

#define CLOCK_US     5000 /* as long as the 8254's countdown, and under the same bounds */
#define MOMENT_READS 8    /* an SMI in between spoils one of them, hardly all */

#define ASSUMED_HZ 1000000000ULL

static uint64_t frequency;
static const char *source = "nothing";
static const struct bootinfo *boot_information;

static uint64_t known_crystal(void)
{
    struct cpu_ident ident;
    cpu_identify(&ident);
    return maker_crystal_hz(ident.vendor, ident.family, ident.model);
}

/* TSC = crystal * EBX / EAX (SDM vol. 2 "CPUID", leaf 15H). */
static uint64_t from_cpuid_15(void)
{
    struct cpuid_regs r = cpuid(CPUID_TSC_CRYSTAL, 0);
    if (r.eax == 0 || r.ebx == 0)
        return 0;
    uint64_t crystal = r.ecx ? r.ecx : known_crystal();
    return crystal * r.ebx / r.eax;
}

/* The base frequency in MHz, which is the TSC's on the processors that have the leaf. */
static uint64_t from_cpuid_16(void)
{
    return (cpuid(CPUID_FREQUENCY, 0).eax & 0xffff) * MHZ;
}

/* TSC ticks of one countdown; 0 when the output is not low at its start or does not rise in time.
 */
static uint64_t countdown(void)
{
    uint8_t off = inb(PORT_B) & (uint8_t) ~(PORT_B_GATE2 | PORT_B_SPEAKER);
    outb(PORT_B, off | PORT_B_GATE2);
    outb(PIT_COMMAND, PIT_CHANNEL2_MODE0);
    outb(PIT_CHANNEL2, PIT_COUNT & 0xff);
    outb(PIT_CHANNEL2, PIT_COUNT >> 8);
    uint64_t start = rdtsc(), ticks = 0;
    if (!(inb(PORT_B) & PORT_B_OUT2)) {
        for (uint32_t reads = 0; reads < MAX_READS && ticks < MAX_TICKS; reads++) {
            bool risen = inb(PORT_B) & PORT_B_OUT2;
            ticks = rdtsc() - start;
            if (risen) {
                outb(PORT_B, off);
                return ticks;
            }
        }
    }
    outb(PORT_B, off);
    return 0;
}

/* An SMI or a hypervisor's pause can only lengthen a run: the shortest is the best. */
static uint64_t from_8254(void)
{
    uint64_t best = 0;
    for (unsigned i = 0; i < PIT_RUNS; i++) {
        uint64_t ticks = countdown();
        if (ticks == 0)
            return 0;
        if (best == 0 || ticks < best)
            best = ticks;
    }
    return best * PIT_HZ / PIT_COUNT;
}

/* The clock and the TSC, read as close together as it goes. */
struct moment {
    uint64_t clock, tsc;
};

static struct moment read_both(const struct reference_clock *clock)
{
    struct moment best = {0, 0};
    uint64_t best_gap = UINT64_MAX;
    for (unsigned i = 0; i < MOMENT_READS; i++) {
        uint64_t before = rdtsc(), value = clock->read(), gap = rdtsc() - before;
        if (gap < best_gap) {
            best_gap = gap;
            best = (struct moment){value, before + gap / 2};
        }
    }
    return best;
}

/* How far the TSC goes while the clock goes CLOCK_US on; 0 when the clock stands. */
static uint64_t measure(const struct reference_clock *clock)
{
    struct moment first = read_both(clock);
    uint64_t wanted = clock->hz * CLOCK_US / MHZ, passed = 0;
    for (uint32_t reads = 0; passed < wanted; reads++) {
        if (reads == MAX_READS || rdtsc() - first.tsc > MAX_TICKS)
            return 0;
        passed = (clock->read() - first.clock) & clock->mask;
    }
    struct moment last = read_both(clock);
    passed = (last.clock - first.clock) & clock->mask;
    return (last.tsc - first.tsc) * clock->hz / passed;
}

static uint64_t from_hpet(void)
{
    struct reference_clock clock;
    return clock_hpet(&clock, boot_information) ? measure(&clock) : 0;
}

static uint64_t from_acpi_pm(void)
{
    struct reference_clock clock;
    return clock_acpi_pm(&clock, boot_information) ? measure(&clock) : 0;
}

void time_init(const struct bootinfo *boot, enum clock_choice choice)
{
    static const struct {
        enum clock_choice choice;
        const char *name;
        uint64_t (*find)(void);
    } ways[] = {
        {CLOCK_CPUID, "CPUID 15H", from_cpuid_15}, {CLOCK_CPUID, "CPUID 16H", from_cpuid_16},
        {CLOCK_HPET, "HPET", from_hpet},           {CLOCK_ACPI, "ACPI PM timer", from_acpi_pm},
        {CLOCK_8254, "8254", from_8254},
    };

    boot_information = boot;
    for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (choice != CLOCK_AUTO && choice != ways[i].choice)
            continue;
        frequency = ways[i].find();
        if (frequency) {
            source = ways[i].name;
            return;
        }
    }
}

uint64_t tsc_hz(void)
{
    return frequency;
}

const char *tsc_hz_source(void)
{
    return source;
}

uint64_t tsc_ticks_us(uint64_t microseconds)
{
    uint64_t hz = frequency ? frequency : ASSUMED_HZ;
    /* Whole seconds apart, so that no product overflows. */
    return microseconds / MHZ * hz + microseconds % MHZ * hz / MHZ;
}

void delay_us(uint64_t microseconds)
{
    uint64_t start = rdtsc(), ticks = tsc_ticks_us(microseconds);
    while (rdtsc() - start < ticks)
        __builtin_ia32_pause();
}
