/*
 * The Multiboot2 header: how a boot loader knows us. The linker script puts it first, because it must
 * lie within the first 32 KiB of the file (Multiboot2 Specification, "OS image format").
 */
#include "boot/multiboot2.h"

    .section .multiboot2, "a"
    .balign 8
header:
    .long MB2_HEADER_MAGIC
    .long MB2_ARCHITECTURE_I386
    .long header_end - header
    .long -(MB2_HEADER_MAGIC + MB2_ARCHITECTURE_I386 + (header_end - header))

    /* All are optional: a loader that cannot give one of them may start us all the same. */
    .balign 8
request:
    .short MB2_HEADER_TAG_INFORMATION_REQUEST, MB2_HEADER_TAG_OPTIONAL
    .long request_end - request
    .long MB2_TAG_CMDLINE, MB2_TAG_MMAP, MB2_TAG_FRAMEBUFFER, MB2_TAG_ACPI_OLD, MB2_TAG_ACPI_NEW
request_end:

    .balign 8
    .short MB2_HEADER_TAG_CONSOLE_FLAGS, MB2_HEADER_TAG_OPTIONAL
    .long 12
    .long MB2_CONSOLE_EGA_TEXT_SUPPORTED

    /*
     * No framebuffer tag (Multiboot2 Specification, "Framebuffer tag"): with one, GRUB under a BIOS leaves
     * the text mode for a graphics mode, which is slower and one thing more to go wrong. Under UEFI, where
     * there is no text mode, it gives its framebuffer without being asked.
     */
    .balign 8
    .short MB2_HEADER_TAG_END, 0
    .long 8
header_end:

    .section .note.GNU-stack, "", @progbits
