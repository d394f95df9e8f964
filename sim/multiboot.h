/* Numbers of the Multiboot2 Specification version 2.0 and the Multiboot Specification version
 * 0.6.96. */
#ifndef PMUSIM_MULTIBOOT_H
#define PMUSIM_MULTIBOOT_H

#define MB2_HEADER_MAGIC 0xe85250d6
#define MB2_BOOT_MAGIC   0x36d76289
#define MB2_SEARCH       32768
#define MB2_ALIGN        8
#define MB2_ARCH_I386    0
#define MB2_TAG_OPTIONAL 1 /* header tag flag */

enum {
    MB2_HEADER_END,
    MB2_HEADER_INFORMATION,
    MB2_HEADER_ADDRESS,
    MB2_HEADER_ENTRY,
    MB2_HEADER_CONSOLE,
    MB2_HEADER_FRAMEBUFFER,
    MB2_HEADER_MODULE_ALIGN,
    MB2_HEADER_EFI_BS,
    MB2_HEADER_ENTRY_EFI32,
    MB2_HEADER_ENTRY_EFI64,
    MB2_HEADER_RELOCATABLE,
};

enum {
    MB2_INFO_END = 0,
    MB2_INFO_CMDLINE = 1,
    MB2_INFO_LOADER_NAME = 2,
    MB2_INFO_BASIC_MEMORY = 4,
    MB2_INFO_MEMORY_MAP = 6,
    MB2_INFO_FRAMEBUFFER = 8,
    MB2_INFO_ACPI_OLD = 14,
    MB2_INFO_ACPI_NEW = 15,
    MB2_INFO_LOAD_BASE = 21,
    MB2_INFO_LAST = MB2_INFO_LOAD_BASE, /* the highest type that the specification knows */
};

/* The relocatable header tag's preferences. */
enum { MB2_PREFER_NONE, MB2_PREFER_LOW, MB2_PREFER_HIGH };

#define MB1_HEADER_MAGIC    0x1badb002
#define MB1_BOOT_MAGIC      0x2badb002
#define MB1_SEARCH          8192
#define MB1_ALIGN           4
#define MB1_PAGE_ALIGN      (1 << 0)
#define MB1_MEMORY_INFO     (1 << 1)
#define MB1_VIDEO_MODE      (1 << 2)
#define MB1_REQUIRED        0xffff /* flags that a loader must know or refuse */
#define MB1_ADDRESSES       (1 << 16)
#define MB1_INFO_MEMORY     (1 << 0)
#define MB1_INFO_CMDLINE    (1 << 2)
#define MB1_INFO_MEMORY_MAP (1 << 6)
#define MB1_INFO_LOADER     (1 << 9)

#define MB_MEMORY_AVAILABLE 1
#define MB_MEMORY_RESERVED  2
#define MB_MEMORY_ACPI      3
#define MB_FRAMEBUFFER_RGB  1
#define MB_FRAMEBUFFER_EGA  2

#endif
