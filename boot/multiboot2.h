/*
 * Multiboot2: the numbers of the header and of the boot information that we use.
 * Source: Multiboot2 Specification version 2.0, "Header tags" and "Boot information format".
 * Read by C and by GNU as.
 */
#ifndef PMULAB_MULTIBOOT2_H
#define PMULAB_MULTIBOOT2_H

#define MB2_HEADER_MAGIC      0xe85250d6
#define MB2_ARCHITECTURE_I386 0
#define MB2_BOOTLOADER_MAGIC  0x36d76289

#define MB2_HEADER_TAG_END                 0
#define MB2_HEADER_TAG_INFORMATION_REQUEST 1
#define MB2_HEADER_TAG_CONSOLE_FLAGS       4
#define MB2_HEADER_TAG_RELOCATABLE         10
#define MB2_HEADER_TAG_OPTIONAL            1
#define MB2_CONSOLE_EGA_TEXT_SUPPORTED     2
#define MB2_PREFERENCE_LOWEST              1

#define MB2_INFO_FIXED      8 /* total_size, reserved */
#define MB2_TAG_HEADER      8 /* type, size */
#define MB2_TAG_ALIGN       8
#define MB2_MMAP_ENTRY_SIZE 0 /* in the memory map's tag, behind its header */
#define MB2_MMAP_ENTRIES    8 /* the same: the first entry */
#define MB2_MMAP_ENTRY_MIN  24
#define MB2_MMAP_LENGTH     8 /* in an entry, whose base comes first */
#define MB2_MMAP_TYPE       16

/* The longest boot information that is moved with the image (boot/home.S). */
#define MOVED_INFO_MAX 0xf000

#define MB2_TAG_END         0
#define MB2_TAG_CMDLINE     1
#define MB2_TAG_MMAP        6
#define MB2_TAG_FRAMEBUFFER 8
#define MB2_TAG_EFI32       11
#define MB2_TAG_EFI64       12
#define MB2_TAG_ACPI_OLD    14
#define MB2_TAG_ACPI_NEW    15

#define MB2_FRAMEBUFFER_INDEXED  0
#define MB2_FRAMEBUFFER_RGB      1
#define MB2_FRAMEBUFFER_EGA_TEXT 2

#define MB2_MEMORY_AVAILABLE 1

#endif
