/*
 * How a boot loader knows us: the Multiboot2 header, which the linker script puts first, because it must
 * lie within the first 32 KiB of the file (Multiboot2 Specification, "OS image format"), and the ELF note
 * of PVH.
 */
#include "boot/multiboot2.h"
#include "boot/pvh.h"

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
    /* Where the memory from 1 MiB on is taken, the image may be put above it; boot/home.S brings it home. */
    .balign 8
    .short MB2_HEADER_TAG_RELOCATABLE, MB2_HEADER_TAG_OPTIONAL
    .long 24
    .long image_start, 0xffffffff, 4096
    .long MB2_PREFERENCE_LOWEST

    .balign 8
    .short MB2_HEADER_TAG_END, 0
    .long 8
header_end:

    /* Name and descriptor each begin on a multiple of 4 (System V ABI, "Note Section"). */
    .section .note.Xen, "a", @note
    .balign 4
    .long note_name_end - note_name
    .long note_end - note_entry
    .long PVH_NOTE_PHYS32_ENTRY
note_name:
    .asciz "Xen"
note_name_end:
    .balign 4
note_entry:
    .long pvh_start
note_end:

    .section .note.GNU-stack, "", @progbits
