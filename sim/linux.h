/* The setup header of Linux's boot protocol and the "zero page" (Linux, Documentation/x86/boot.rst,
 * "The Real-Mode Kernel Header", and zero-page.rst): offsets in a bzImage, and the same ones in
 * boot_params. */
#ifndef PMUSIM_LINUX_H
#define PMUSIM_LINUX_H

#define LINUX_RSDP         0x070
#define LINUX_INITRD_HIGH  0x0c0 /* upper halves of address and size */
#define LINUX_SIZE_HIGH    0x0c4
#define LINUX_E820_ENTRIES 0x1e8
#define LINUX_SETUP_SECTS  0x1f1
#define LINUX_BOOT_FLAG    0x1fe
#define LINUX_JUMP         0x201 /* the header ends this byte's value behind 202H */
#define LINUX_MAGIC        0x202
#define LINUX_VERSION      0x206
#define LINUX_LOADER       0x210
#define LINUX_LOADFLAGS    0x211
#define LINUX_INITRD       0x218
#define LINUX_INITRD_SIZE  0x21c
#define LINUX_CMDLINE      0x228
#define LINUX_INITRD_MAX   0x22c
#define LINUX_XLOADFLAGS   0x236
#define LINUX_CMDLINE_SIZE 0x238
#define LINUX_PREF_ADDRESS 0x258
#define LINUX_INIT_SIZE    0x260
#define LINUX_HEADER_END   0x264 /* of what is read here */
#define LINUX_HEADER_MAX   0x290 /* what boot_params has room for */
#define LINUX_E820         0x2d0
#define LINUX_E820_SIZE    20
#define LINUX_PARAMS_SIZE  4096

#define LINUX_BOOT_FLAG_IS  0xaa55
#define LINUX_MAGIC_IS      0x53726448 /* "HdrS" */
#define LINUX_VERSION_2_12  0x20c      /* xloadflags came with it */
#define LINUX_LOADER_OTHER  0xff       /* a loader without a number of its own */
#define LINUX_LOADED_HIGH   1
#define LINUX_KERNEL_64     1 /* xloadflags: there is a 64-bit entry */
#define LINUX_ENTRY_64      0x200
#define LINUX_SECTOR        512
#define LINUX_SECTS_DEFAULT 4 /* what 0 means */

#endif
