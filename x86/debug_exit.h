/*
 * The debug-exit port and what the guest writes there at its end: no register of the processor but
 * an agreement between the kernel and the emulators (QEMU's isa-debug-exit ends with 2v + 1). Read
 * by C and by GNU as.
 */
#ifndef PMULAB_X86_DEBUG_EXIT_H
#define PMULAB_X86_DEBUG_EXIT_H

#define DEBUG_EXIT_PORT   0xf4
#define DEBUG_EXIT_OK     0x10
#define DEBUG_EXIT_NOT_OK 0x11
#define DEBUG_EXIT_PANIC  0x12

#endif
