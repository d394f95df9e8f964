/* trace=msr. The ring is filled in memory while the experiment runs and read here, so that no
 * window is disturbed by printing. */
#include "runner/trace.h"

#include "kernel/msr.h"
#include "kernel/panic.h"
#include "kernel/print.h"
#include "x86/decode.h"
#include "x86/msr.h"
#include "x86/apic.h"
#include "pmu/pmu.h"

#include <stddef.h>

#define NAME_SIZE   40
#define FIELDS_SIZE 256

static void print_place(uint64_t rip)
{
    uint64_t offset = 0;
    const char *symbol = symbol_name(rip, &offset);
    if (symbol != NULL)
        kprintf("#   0x%llx %s+0x%llx  ", (unsigned long long)rip, symbol,
                (unsigned long long)offset);
    else
        kprintf("#   0x%llx  ", (unsigned long long)rip);
}

static void print_rdpmc(const struct msr_access *a)
{
    kprintf("RDPMC (%XH)", (unsigned)a->msr);
    if (a->faulted)
        kprintf(" #GP\n");
    else
        kprintf(" -> %llXH\n", (unsigned long long)a->value);
}

static void print_access(const struct msr_access *a, void *arg)
{
    (void)arg;
    if (a->msr == MSR_X2APIC_BASE + APIC_TIMER_INITIAL / 16 && a->kind == MSR_WRITE)
        return;
    const struct decode_context context = pmu_decode_context();
    char name[NAME_SIZE], address[16], fields[FIELDS_SIZE];
    print_place(a->rip);
    if (a->cpu != 0)
        kprintf("processor %u: ", a->cpu);
    if (a->kind == MSR_RDPMC) {
        print_rdpmc(a);
        return;
    }
    decode_msr_address(address, sizeof(address), a->msr);
    if (!decode_msr_name(name, sizeof(name), a->msr, &context))
        ksnprintf(name, sizeof(name), "MSR");
    kprintf("%s %s (%s)", a->kind == MSR_WRITE ? "WRMSR" : "RDMSR", name, address);
    if (a->kind == MSR_WRITE || !a->faulted)
        kprintf(" %s %llXH", a->kind == MSR_WRITE ? "<-" : "->", (unsigned long long)a->value);
    decode_msr_fields(fields, sizeof(fields), a->msr, a->value, &context);
    if (a->faulted)
        kprintf("  #GP");
    else if (fields[0] != '\0')
        kprintf("  %s", fields);
    kprintf("\n");
}

void trace_print(void)
{
    kprintf("# trace=msr (without the writes of IA32_X2APIC_INIT_COUNT that keep the watchdog)\n");
    uint64_t lost = msr_trace_each(print_access, NULL);
    if (lost != 0)
        kprintf("#   (%llu older accesses were overwritten)\n", (unsigned long long)lost);
}
