#include "sim/host/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define IMAGE_MAX   ((off_t)1 << 30)
#define PROFILE_MAX (1 << 20)

uint8_t *file_image(const char *path, size_t *size)
{
    struct stat st = {0};
    uint8_t *data = NULL;
    const char *why = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &st) < 0)
        why = strerror(errno);
    else if (S_ISDIR(st.st_mode))
        why = "is a directory, not a file";
    else if (!S_ISREG(st.st_mode))
        why = "is not a regular file";
    else if (st.st_size > IMAGE_MAX)
        why = "is larger than 1 GiB";
    else if (!(data = malloc(st.st_size + 1)))
        why = strerror(ENOMEM);
    for (*size = 0; !why && *size < (size_t)st.st_size;) {
        ssize_t n = read(fd, data + *size, st.st_size - *size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            why = strerror(errno);
        if (n <= 0)
            break;
        *size += n;
    }
    if (fd >= 0)
        close(fd);
    if (why) {
        fprintf(stderr, "pmusim: %s: %s\n", path, why);
        free(data);
        return NULL;
    }
    return data;
}

char *file_profile(const char *path)
{
    FILE *in = fopen(path, "r");
    char *text = malloc(PROFILE_MAX + 1);
    size_t n = in && text ? fread(text, 1, PROFILE_MAX + 1, in) : 0;
    const char *why = NULL;

    if (!in)
        why = "cannot open the profile";
    else if (!text || ferror(in))
        why = "cannot read the profile";
    else if (n > PROFILE_MAX)
        why = "larger than 1048576 bytes";
    else if (memchr(text, 0, n))
        why = "not a text file";
    else
        text[n] = '\0';
    if (in)
        fclose(in);
    if (why) {
        fprintf(stderr, "%s: %s\n", path, why);
        free(text);
        return NULL;
    }
    return text;
}
