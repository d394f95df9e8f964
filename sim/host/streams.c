#include "sim/host/streams.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

/* Of a process there is one standard output and one standard error: why each could not be written;
 * 0: it could. */
static int out_error, err_error;
static uint64_t written;

/* The text that is waited for: how much of it stands at the end of what was written. */
static struct {
    const char *text;
    size_t length, matched;
    bool seen;
} watched;

void streams_watch(const char *text)
{
    watched.text = text;
    watched.length = strlen(text);
}

bool streams_seen(void)
{
    return watched.seen;
}

/* The longest beginning of the text that ends with its first matched letters and this one. */
static size_t match(size_t matched, char letter)
{
    for (size_t n = matched + 1; n > 0; n--)
        if (watched.text[n - 1] == letter &&
            memcmp(watched.text, watched.text + matched + 1 - n, n - 1) == 0)
            return n;
    return 0;
}

static void watch(const char *text, size_t length)
{
    for (size_t i = 0; i < length && !watched.seen; i++) {
        watched.matched = match(watched.matched, text[i]);
        watched.seen = watched.matched == watched.length;
    }
}

static bool console_out(void *context, const char *text, size_t length)
{
    (void)context;
    written += length;
    if (watched.text)
        watch(text, length);
    while (length) {
        ssize_t n = write(STDOUT_FILENO, text, length);
        if (n > 0) {
            text += n;
            length -= n;
        } else if (n < 0 && errno == EAGAIN) {
            struct pollfd p = {.fd = STDOUT_FILENO, .events = POLLOUT};
            poll(&p, 1, -1);
        } else if (n < 0 && errno != EINTR) {
            out_error = errno;
            return false;
        }
    }
    return true;
}

static int console_in(void *context)
{
    struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
    uint8_t byte;

    (void)context;
    if (poll(&p, 1, 0) <= 0)
        return SIM_INPUT_NONE;
    return read(STDIN_FILENO, &byte, 1) == 1 ? byte : SIM_INPUT_ENDED;
}

static void console_wait(void *context, unsigned ms)
{
    struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};

    (void)context;
    poll(&p, 1, ms);
}

static bool trace(void *context, const char *line)
{
    (void)context;
    if (fputs(line, stderr) >= 0 && fputc('\n', stderr) >= 0)
        return true;
    err_error = errno;
    return false;
}

static void note(void *context, const char *line)
{
    (void)context;
    fprintf(stderr, "pmusim: %s\n", line);
}

struct sim_host streams_host(bool input, bool traced)
{
    static char buffer[1 << 16];

    /* Many lines; in order with the guest's because both are flushed line by line. */
    if (traced)
        setvbuf(stderr, buffer, _IOLBF, sizeof(buffer));
    return (struct sim_host){.console_out = console_out,
                             .console_in = input ? console_in : NULL,
                             .console_wait = console_wait,
                             .trace = trace,
                             .note = note};
}

uint64_t streams_written(void)
{
    return written;
}

static bool report(const char *stream, int error)
{
    if (error == EPIPE)
        fprintf(stderr, "pmusim: nobody reads the standard %s any more\n", stream);
    else if (error)
        fprintf(stderr, "pmusim: cannot write the standard %s: %s\n", stream, strerror(error));
    return error != 0;
}

bool streams_report(void)
{
    bool out = report("output", out_error), err = report("error", err_error);
    return out || err;
}

bool streams_close(void)
{
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout))
        report("output", errno ? errno : EIO);
    return fflush(stderr) == 0 && !ferror(stderr) && !ferror(stdout);
}
