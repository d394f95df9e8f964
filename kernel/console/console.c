/* The console: kprintf and the list of sinks. Nothing is buffered, so it works in every interrupt
 * handler and what was printed before a crash is out. */
#include "kernel/console/console.h"

#include <stddef.h>

#include "kernel/console/format.h"
#include "kernel/print.h"

#define NOBODY 0

static struct console_sink *sinks;

static struct {
    unsigned (*me)(void);
    uint64_t (*now)(void);
    uint64_t patience;
    unsigned owner; /* NOBODY, else the processor's number + 1 */
    unsigned depth;
} lock;

static void nothing(void)
{
}

static struct {
    void (*before)(void), (*after)(void);
} around = {nothing, nothing};

void print_around(void (*before)(void), void (*after)(void))
{
    around.before = before;
    around.after = after;
}

void print_share(unsigned (*me)(void), uint64_t (*now)(void), uint64_t patience)
{
    lock.now = now;
    lock.patience = patience;
    lock.me = me;
}

/* An interrupt on the owner's processor prints too, in the middle of what it interrupted: better
 * than never. */
void print_lock(void)
{
    if (!lock.me)
        return;
    unsigned self = lock.me() + 1, owner = NOBODY;
    uint64_t start = lock.now();
    while (__atomic_load_n(&lock.owner, __ATOMIC_RELAXED) != self &&
           !__atomic_compare_exchange_n(&lock.owner, &owner, self, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
        if (lock.now() - start > lock.patience) {
            lock.depth = 0;
            __atomic_store_n(&lock.owner, self, __ATOMIC_SEQ_CST);
            break;
        }
        owner = NOBODY;
        __builtin_ia32_pause();
    }
    lock.depth++;
}

void print_unlock(void)
{
    if (lock.me && __atomic_load_n(&lock.owner, __ATOMIC_RELAXED) == lock.me() + 1 &&
        --lock.depth == 0)
        __atomic_store_n(&lock.owner, NOBODY, __ATOMIC_RELEASE);
}

void print_release(void)
{
    if (!lock.me || __atomic_load_n(&lock.owner, __ATOMIC_RELAXED) != lock.me() + 1)
        return;
    lock.depth = 0;
    __atomic_store_n(&lock.owner, NOBODY, __ATOMIC_RELEASE);
}

void console_add(struct console_sink *sink)
{
    struct console_sink **link = &sinks;
    for (; *link; link = &(*link)->next)
        if (*link == sink)
            return;
    sink->next = NULL;
    *link = sink;
}

void console_remove(struct console_sink *sink)
{
    for (struct console_sink **link = &sinks; *link; link = &(*link)->next) {
        if (*link == sink) {
            *link = sink->next;
            return;
        }
    }
}

void console_putc(char byte)
{
    for (struct console_sink *sink = sinks; sink; sink = sink->next)
        sink->putc(byte);
}

void print_flush(void)
{
    for (struct console_sink *sink = sinks; sink; sink = sink->next)
        if (sink->flush)
            sink->flush();
}

static void to_console(void *context, char c)
{
    (void)context;
    console_putc(c);
}

void kvprintf(const char *fmt, va_list ap)
{
    around.before();
    print_lock();
    kformat(to_console, NULL, fmt, ap);
    print_unlock();
    around.after();
}

void kprintf(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    kvprintf(fmt, ap);
    va_end(ap);
}
