/* Linear addresses of the differential test, the same on the host and in the simulator. All but one
 * area lie below 2 GiB so that disp32 and 32-bit addresses reach them; each has unmapped pages
 * around it. Also for the assembler. */
#ifndef TESTS_DIFF_LAYOUT_H
#define TESTS_DIFF_LAYOUT_H

#define PAGE_BYTES 0x1000

#define CODE_BASE  0x10000000     /* two pages: the sequence */
#define EXIT_BASE  0x10010000     /* where a sequence ends: leaves the host's run, or HLT */
#define DATA_BASE  0x20000000     /* two pages to read and write, one to read */
#define STACK_BASE 0x30000000     /* two pages */
#define HIGH_BASE  0x123420000000 /* one page that needs more than 32 address bits */

/* Only on the host: the block through which native_entry.S and native.c talk. */
#define BLOCK_BASE   0x10020000
#define BLOCK_IN     (BLOCK_BASE + 0x000) /* struct state */
#define BLOCK_OUT    (BLOCK_BASE + 0x400) /* struct state */
#define BLOCK_TARGET (BLOCK_BASE + 0x800) /* where to start */
#define BLOCK_EXIT   (BLOCK_BASE + 0x808) /* address of native_exit */
#define BLOCK_RSP    (BLOCK_BASE + 0x810) /* the test program's own stack */
#define BLOCK_AVX    (BLOCK_BASE + 0x818) /* not 0: the host has AVX */
#define BLOCK_OWN    (BLOCK_BASE + 0xa00) /* its x87 and SSE state, as FXSAVE has it */
#define BLOCK_FLAGS  0x80                 /* offset of rflags in struct state */
#define BLOCK_FX     0x90                 /* offset of fx in struct state */
#define BLOCK_UPPER  0x290                /* offset of upper in struct state */

#endif
