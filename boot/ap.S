/*
 * The way of another processor from the startup IPI to smp_enter(): real mode at 000VV000H (SDM vol. 3
 * "Multiple-Processor (MP) Initialization"), protected mode, 64-bit mode with the tables of the boot
 * processor. Only the real-mode part is copied to the page below 1 MiB; the rest runs where it is linked.
 */
#include "boot/ap.h"
#include "x86/msr.h"
#include "x86/regs.h"
#include "boot/segments.h"

    .text
    .code16
    .globl ap_trampoline, ap_trampoline_end
ap_trampoline:
    cli
    cld
    movw %cs, %ax
    movw %ax, %ds
    lgdtl ap_gdtr - ap_trampoline
    movl %cr0, %eax
    orl $CR0_PE, %eax
    movl %eax, %cr0
    ljmpl $BOOT_CODE32, $ap_protected
ap_gdtr:
    .short BOOT_GDT_LIMIT
    .long boot_gdt
ap_trampoline_end:

    .code32
ap_protected:
    movl $SEG_KERNEL_DATA, %eax
    movl %eax, %ds
    movl %eax, %es
    movl %eax, %ss
    /* The stack is for one: who finds none came too late, and sleeps. */
    xorl %esp, %esp
    xchgl %esp, ap_stack
    testl %esp, %esp
    jz 1f
    lidt boot_idtr

    /* INIT leaves the caches off, CR0.CD and NW set (SDM vol. 3 "Processor State After Reset"): all of CR0
     * is written. EFER before paging, because the tables use NX. */
    movl $CR4_PAE, %eax
    movl %eax, %cr4
    movl $boot_pml4, %eax
    movl %eax, %cr3
    movl $MSR_IA32_EFER, %ecx
    rdmsr
    orl ap_efer, %eax
    wrmsr
    movl $(CR0_PG | CR0_WP | CR0_NE | CR0_ET | CR0_MP | CR0_PE), %eax
    movl %eax, %cr0
    ljmp $SEG_KERNEL_CODE, $ap_long
1:  cli
    hlt
    jmp 1b

    .code64
ap_long:
    movl $SEG_KERNEL_DATA, %eax
    movl %eax, %ds
    movl %eax, %es
    movl %eax, %ss
    xorl %eax, %eax
    movl %eax, %fs
    movl %eax, %gs
    movl %esp, %esp /* the upper half is undefined after the switch */
    xorl %ebp, %ebp /* the end of every backtrace */
    call smp_enter
2:  cli
    hlt
    jmp 2b

    .section .note.GNU-stack, "", @progbits
