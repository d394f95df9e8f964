/* MSR access and its trace. */
#include "kernel/msr.h"

#include "kernel/extable.h"
#include "kernel/percpu.h"

#define TRACE_SIZE 1024

static struct msr_access ring[TRACE_SIZE];
static uint64_t recorded;
static bool tracing;

#define CALLER ((uint64_t)__builtin_return_address(0))

/* Reads the pair EDX:EAX by rdmsr or rdpmc; *ok stays 0 when the instruction faulted. */
#define READ_PAIR_SAFE(instruction, selector, low, high, ok)                                       \
    __asm__ volatile("1: " instruction "\n\tmovl $1, %[good]\n2:\n" EX_TABLE("1b", "2b")           \
                     : "=a"(low), "=d"(high), [good] "+r"(ok)                                      \
                     : "c"(selector), "a"(0), "d"(0)                                               \
                     : "memory")

uint64_t rdmsr(uint32_t msr)
{
    uint32_t low, high;
    __asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr) : "memory");
    uint64_t value = (uint64_t)high << 32 | low;
    if (tracing)
        msr_trace_record(MSR_READ, msr, value, false, CALLER);
    return value;
}

void wrmsr(uint32_t msr, uint64_t value)
{
    /* Recorded before: should it fault, the trace shows the write that did. */
    if (tracing)
        msr_trace_record(MSR_WRITE, msr, value, false, CALLER);
    __asm__ volatile("wrmsr" ::"c"(msr), "a"((uint32_t)value), "d"((uint32_t)(value >> 32))
                     : "memory");
}

bool rdmsr_safe(uint32_t msr, uint64_t *value)
{
    uint32_t low, high, ok = 0;
    READ_PAIR_SAFE("rdmsr", msr, low, high, ok);
    if (ok)
        *value = (uint64_t)high << 32 | low;
    if (tracing)
        msr_trace_record(MSR_READ, msr, ok ? *value : 0, !ok, CALLER);
    return ok;
}

bool wrmsr_safe(uint32_t msr, uint64_t value)
{
    uint32_t ok = 0;
    __asm__ volatile("1: wrmsr\n\tmovl $1, %[good]\n2:\n" EX_TABLE("1b", "2b")
                     : [good] "+r"(ok)
                     : "c"(msr), "a"((uint32_t)value), "d"((uint32_t)(value >> 32))
                     : "memory");
    if (tracing)
        msr_trace_record(MSR_WRITE, msr, value, !ok, CALLER);
    return ok;
}

bool msr_holds(uint32_t msr, uint64_t value)
{
    uint64_t held = 0;
    bool same = wrmsr_safe(msr, value) && rdmsr_safe(msr, &held) && held == value;
    wrmsr_safe(msr, 0);
    return same;
}

uint64_t rdpmc(uint32_t selector)
{
    uint32_t low, high;
    __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(selector) : "memory");
    uint64_t value = (uint64_t)high << 32 | low;
    if (tracing)
        msr_trace_record(MSR_RDPMC, selector, value, false, CALLER);
    return value;
}

bool rdpmc_safe(uint32_t selector, uint64_t *value)
{
    uint32_t low, high, ok = 0;
    READ_PAIR_SAFE("rdpmc", selector, low, high, ok);
    if (ok)
        *value = (uint64_t)high << 32 | low;
    if (tracing)
        msr_trace_record(MSR_RDPMC, selector, ok ? *value : 0, !ok, CALLER);
    return ok;
}

void msr_trace_enable(bool on)
{
    tracing = on;
}

void msr_trace_reset(void)
{
    recorded = 0;
}

void msr_trace_record(enum msr_access_kind kind, uint32_t msr, uint64_t value, bool faulted,
                      uint64_t rip)
{
    if (!tracing)
        return;
    /* The place is taken before it is filled: an interrupt in between records behind this one. */
    uint64_t place = __atomic_fetch_add(&recorded, 1, __ATOMIC_RELAXED);
    ring[place % TRACE_SIZE] = (struct msr_access){.rip = rip,
                                                   .value = value,
                                                   .msr = msr,
                                                   .kind = (uint8_t)kind,
                                                   .faulted = faulted,
                                                   .cpu = (uint8_t)this_cpu()->index};
}

uint64_t msr_trace_each(void (*fn)(const struct msr_access *access, void *arg), void *arg)
{
    uint64_t end = recorded, lost = end > TRACE_SIZE ? end - TRACE_SIZE : 0;
    for (uint64_t i = lost; i < end; i++)
        fn(&ring[i % TRACE_SIZE], arg);
    return lost;
}
