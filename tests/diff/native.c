/* Runs a sequence on the host's own processor. A fault becomes a result: the handler notes it and
 * goes on behind the sequence. */
#define _GNU_SOURCE
#include <cpuid.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/diff/diff.h"

/* Of an XSAVE area (SDM vol. 1 "XSAVE-Managed Features"): */
#define XSTATE_BV  512
#define XSTATE_AVX (1 << 2)
#define XSAVE_AVX  576

void native_enter(void);
extern const char native_exit[], native_leave[];

static uint8_t *page[N_PAGES];
static bool has_avx;
static struct result *running; /* where the handler puts the fault; NULL: not in a sequence */

static void *at(uint64_t linear)
{
    return (void *)(uintptr_t)linear;
}

static void map(uint64_t linear, size_t size, int protection)
{
    if (mmap(at(linear), size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
             0) != at(linear)) {
        printf("Bail out! cannot map %#llx: %s\n", (unsigned long long)linear, strerror(errno));
        exit(1);
    }
}

static void fault(int signal, siginfo_t *info, void *context)
{
    /* The order in which the kernel's signal frame names the registers. */
    static const uint8_t greg[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                     REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                     REG_R12, REG_R13, REG_R14, REG_R15};
    ucontext_t *uc = context;
    greg_t *g = uc->uc_mcontext.gregs;
    (void)info;
    if (!running) {
        static const char text[] = "Bail out! the test program itself faulted\n";
        (void)!write(STDOUT_FILENO, text, sizeof(text) - 1);
        _exit(1);
    }
    for (int i = 0; i < 16; i++)
        running->out.r[i] = g[greg[i]];
    running->out.rflags = g[REG_EFL];
    memcpy(&running->out.fx, uc->uc_mcontext.fpregs, sizeof(running->out.fx));
    const uint8_t *area = (const uint8_t *)uc->uc_mcontext.fpregs;
    memset(running->out.upper, 0, sizeof(running->out.upper));
    if (has_avx && area[XSTATE_BV] & XSTATE_AVX)
        memcpy(running->out.upper, area + XSAVE_AVX, sizeof(running->out.upper));
    running->rip = g[REG_RIP];
    if (signal == SIGALRM) {
        running->vector = -2;
        running->why = "did not end on the host";
    } else {
        running->vector = g[REG_TRAPNO];
        running->error = g[REG_ERR];
        running->cr2 = g[REG_CR2];
    }
    g[REG_RIP] = (greg_t)(uintptr_t)native_leave;
}

void native_init(void)
{
    map(CODE_BASE, 2 * PAGE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC);
    map(EXIT_BASE, PAGE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC);
    map(BLOCK_BASE, PAGE_BYTES, PROT_READ | PROT_WRITE);
    for (int i = 0; i < N_PAGES; i++) {
        map(pages[i].linear, PAGE_BYTES, PROT_READ | PROT_WRITE);
        page[i] = at(pages[i].linear);
        memcpy(page[i], image[i], PAGE_BYTES);
        if (!pages[i].writable)
            mprotect(page[i], PAGE_BYTES, PROT_READ);
    }
    /* JMP QWORD PTR [BLOCK_EXIT], by an absolute address */
    uint8_t leave[7] = {0xff, 0x24, 0x25};
    uint32_t block_exit = BLOCK_EXIT;
    memcpy(leave + 3, &block_exit, sizeof(block_exit));
    memcpy(at(EXIT_BASE), leave, sizeof(leave));
    *(uint64_t *)at(BLOCK_EXIT) = (uintptr_t)native_exit;

    has_avx = __builtin_cpu_supports("avx");
    *(uint64_t *)at(BLOCK_AVX) = has_avx;

    static uint8_t stack[1 << 16];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
    sigaltstack(&alternate, NULL);
    struct sigaction action = {.sa_sigaction = fault,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGALRM};
    for (unsigned i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        sigaction(signals[i], &action, NULL);
}

void native_run(const struct sequence *s, struct result *r)
{
    memset(r, 0, sizeof(*r));
    r->vector = -1;
    r->rip = EXIT_BASE;
    image_load(page, s);
    memcpy(at(CODE_BASE + s->start), s->code, s->len + EXIT_JUMP_BYTES);
    memcpy(at(BLOCK_IN), &s->in, sizeof(s->in));
    *(uint64_t *)at(BLOCK_TARGET) = CODE_BASE + s->start;
    running = r;
    native_enter();
    running = NULL;
    if (r->vector == -1)
        memcpy(&r->out, at(BLOCK_OUT), sizeof(r->out));
}

uint8_t *const *native_pages(void)
{
    return page;
}

void native_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    memset(out, 0, 4 * sizeof(out[0]));
    __get_cpuid_count(leaf, subleaf, &out[0], &out[1], &out[2], &out[3]);
}
