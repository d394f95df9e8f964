/*
 * From a Multiboot2 loader to the address that the image is linked for. By the relocatable tag (boot/header.S)
 * the loader may have put it elsewhere, because it could not have that memory while it ran; under UEFI the
 * firmware's boot services often hold some of it. This runs at any address: it finds out where, asks the
 * memory map whether the image may go home now, moves it, and goes on at start32. Where the firmware keeps
 * that memory for good it says so, and touches nothing.
 */
#include "boot/multiboot2.h"

    .text
    .code32
    .globl _start
_start:
    cli
    cld
    cmpl $MB2_BOOTLOADER_MAGIC, %eax
    jne start32 /* which refuses, or is told by PVH: neither moves an image */
    /* Only a CALL tells where this is, and there is no stack yet: the second word of the boot information,
     * which is reserved and "must be ignored", takes the one address. */
    leal MB2_INFO_FIXED(%ebx), %esp
    call 1f
1:  popl %ebp
    subl $1b, %ebp /* how far from home */
    jz start32

    /* The tag of the memory map. A tag smaller than its own header ends the search, and one
     * that leads back. */
    movl (%ebx), %edx
    addl %ebx, %edx
    leal MB2_INFO_FIXED(%ebx), %esi
2:  leal MB2_TAG_HEADER(%esi), %eax
    cmpl %edx, %eax
    ja not_free
    movl 4(%esi), %eax
    cmpl $MB2_TAG_HEADER, %eax
    jb not_free
    cmpl $MB2_TAG_MMAP, (%esi)
    je 3f
    addl %eax, %esi
    jc not_free
    addl $(MB2_TAG_ALIGN - 1), %esi
    andl $-MB2_TAG_ALIGN, %esi
    jmp 2b

    /* ECX: up to here all memory from home on is available. Each entry that goes on from there moves it, in
     * whatever order they stand, until it is past the image or none does. */
3:  leal (%esi, %eax), %edx
    movl $image_start, %ecx
4:  leal MB2_TAG_HEADER + MB2_MMAP_ENTRIES(%esi), %edi
5:  leal MB2_MMAP_ENTRY_MIN(%edi), %eax
    cmpl %edx, %eax
    ja not_free
    cmpl $MB2_MEMORY_AVAILABLE, MB2_MMAP_TYPE(%edi)
    jne 6f
    cmpl $0, 4(%edi) /* the base's upper half */
    jne 6f
    movl (%edi), %eax
    cmpl %ecx, %eax
    ja 6f
    pushl %edx /* into the reserved word again */
    movl MB2_MMAP_LENGTH + 4(%edi), %edx
    addl MB2_MMAP_LENGTH(%edi), %eax
    adcl $0, %edx
    popl %edx
    jnz move /* it ends above 4 GiB */
    cmpl $image_end, %eax
    jae move
    cmpl %ecx, %eax
    jbe 6f
    movl %eax, %ecx
    jmp 4b
6:  cmpl $MB2_MMAP_ENTRY_MIN, MB2_TAG_HEADER + MB2_MMAP_ENTRY_SIZE(%esi)
    jb not_free
    addl MB2_TAG_HEADER + MB2_MMAP_ENTRY_SIZE(%esi), %edi
    jmp 5b

    /* The boot information may lie at home: it goes with the image, in a buffer of its own. One too large for
     * that stays where it is; it is not trusted anyway (boot/bootinfo.c). */
move:
    movl (%ebx), %ecx
    cmpl $MOVED_INFO_MAX, %ecx
    ja 7f
    movl %ebx, %esi
    leal moved_info(%ebp), %edi
    rep movsb
    movl $moved_info, %ebx
    /* The image as the loader left it, with its zeros. The two may overlap: it lies higher, because the tag
     * allows nothing lower, so that the copy is right from its start on; but these very instructions may be
     * overwritten. What copies runs in the image's last page, at whose address no byte arrives. */
7:  leal mover(%ebp), %esi
    leal mover_page(%ebp), %edi
    movl %edi, %edx
    movl $(mover_end - mover), %ecx
    rep movsb
    leal image_start(%ebp), %esi
    movl $image_start, %edi
    movl $image_end, %ecx
    subl %edi, %ecx
    movl $MB2_BOOTLOADER_MAGIC, %eax
    movl $start32, %ebp
    jmp *%edx
mover:
    rep movsb
    jmp *%ebp
mover_end:

not_free:
    leal no_home(%ebp), %esi
    jmp refuse

    .section .rodata
no_home:
    .ascii "TAP version 14\r\n"
    .ascii "Bail out! The memory from 1 MiB on, where this kernel has to be, is not free by the memory map: "
    .asciz "it cannot be started on this machine.\r\n"

    .section .moved, "aw", @nobits
    .balign 4096
moved_info:
    .skip MOVED_INFO_MAX
mover_page:
    .skip 4096

    .section .note.GNU-stack, "", @progbits
