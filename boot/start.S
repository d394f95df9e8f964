/*
 * From the boot loader to kmain(): 32-bit protected mode without paging (Multiboot2 Specification,
 * "I386 machine state"; Xen, docs/misc/pvh.pandoc) to 64-bit mode (SDM vol. 3 "Initializing IA-32e Mode").
 */
#include "boot/ap.h"
#include "boot/multiboot2.h"
#include "boot/pvh.h"
#include "boot/segments.h"
#include "x86/cpuid.h"
#include "x86/debug_exit.h"
#include "x86/msr.h"
#include "x86/regs.h"

#define PAGE_SIZE 4096
#define TABLE_ENTRIES 512
#define ENTRY_SIZE 8
#define LARGE_PAGE (1 << 21)
#define IDENTITY_GIB 4

#define VGA_TEXT 0xb8000
#define VGA_BYTES (80 * 25 * 2)
#define VGA_ATTRIBUTE 0x07
#define COM1 0x3f8
#define UART_LCR 3
#define UART_LSR 5
#define LCR_8N1 0x03
#define LCR_DLAB_8N1 0x83
#define LSR_THR_EMPTY 0x20
#define COM1_WAIT 100000

#define GATE_INTERRUPT 0x8e00 /* present, DPL 0; 32 bits, or 64 in IA-32e mode */
#define GATE64_SIZE 16
#define BOOT_IDT_SIZE ((VEC_GP + 1) * ENTRY_SIZE)

    .text
    .code32
    .globl start32, pvh_start, refuse
pvh_start:
    movl $PVH_START_MAGIC, %eax /* what a Multiboot2 loader says in EAX, PVH says in the start info */
start32:
    cli
    cld
    movl boot_stack_top, %esp /* kernel/percpu.c */
    movl %eax, %ebp
    /* Descriptor tables of our own, because the loader's may be gone. The IDT is for what can happen this
     * early: an NMI, which is ignored, and a refused access to IA32_EFER, without which there is no long
     * mode. Its gates have 8 bytes before long mode and 16 in it: both NMI gates fit beside each other, so
     * that there is no moment without one. trap_init() brings the next table. */
    lgdt boot_gdtr
    ljmp $BOOT_CODE32, $4f
4:  movl $SEG_KERNEL_DATA, %eax
    movl %eax, %ss
    movl $(BOOT_CODE32 << 16), %edx
    movl $early_nmi, %eax
    movl $(boot_idt + VEC_NMI * ENTRY_SIZE), %edi
    call set_gate
    movl $early_gp, %eax
    movl $(boot_idt + VEC_GP * ENTRY_SIZE), %edi
    call set_gate
    movl $(SEG_KERNEL_CODE << 16), %edx
    movl $early_nmi64, %eax
    movl $(boot_idt + VEC_NMI * GATE64_SIZE), %edi
    call set_gate
    lidt boot_idtr
    movl %ebp, %eax

    movl $no_multiboot2, %esi
    cmpl $PVH_START_MAGIC, %eax
    je 5f
    cmpl $MB2_BOOTLOADER_MAGIC, %eax
    jne refuse
5:  movl %eax, %edi
    movl %ebx, %ebp /* CPUID changes EBX */

    /* CPUID exists when EFLAGS.ID can be changed (SDM vol. 1 "Identifying Earlier IA-32 Processors"). */
    movl $no_long_mode, %esi
    pushfl
    popl %eax
    movl %eax, %ecx
    xorl $RFLAGS_ID, %eax
    pushl %eax
    popfl
    pushfl
    popl %eax
    cmpl %ecx, %eax
    je refuse

    movl $0x80000000, %eax
    cpuid
    cmpl $0x80000001, %eax
    jb refuse
    movl $0x80000001, %eax
    cpuid
    testl $CPUID_80000001_EDX_LM, %edx
    jz refuse

    /* The early identity map: 2 MiB pages, all rights. paging_init() gives each page its real ones. */
    movl $(boot_pdpt + PTE_P + PTE_RW), boot_pml4
    movl $(boot_pd + PTE_P + PTE_RW), %eax
    xorl %ecx, %ecx
1:  movl %eax, boot_pdpt(, %ecx, ENTRY_SIZE)
    addl $PAGE_SIZE, %eax
    incl %ecx
    cmpl $IDENTITY_GIB, %ecx
    jb 1b
    movl $(PTE_P + PTE_RW + PTE_PS), %eax
    xorl %ecx, %ecx
2:  movl %eax, boot_pd(, %ecx, ENTRY_SIZE)
    addl $LARGE_PAGE, %eax
    incl %ecx
    cmpl $(IDENTITY_GIB * TABLE_ENTRIES), %ecx
    jb 2b

    /* Known values, not what the firmware left: CR4.LA57, for one, would make the tables 5-level. */
    movl $CR4_PAE, %eax
    movl %eax, %cr4
    movl $boot_pml4, %eax
    movl %eax, %cr3
    movl $MSR_IA32_EFER, %ecx
    rdmsr
    orl $EFER_LME, %eax
    wrmsr
    movl $(CR0_PG | CR0_NE | CR0_ET | CR0_MP | CR0_PE), %eax
    movl %eax, %cr0
    ljmp $SEG_KERNEL_CODE, $start64

/* An interrupt gate at EDI for the entry at EAX; the selector is in EDX[31:16]. In the 64-bit form the second
 * half, 0 here, holds the upper half of the address (SDM vol. 3 "IDT Descriptors", "64-Bit Mode IDT"). */
set_gate:
    movw %ax, %dx
    movl %edx, (%edi)
    movw $GATE_INTERRUPT, %ax
    movl %eax, 4(%edi)
    ret

early_nmi:
    iret

early_gp:
    movl $efer_refused, %esi
    jmp refuse

/* Prints the sentence at ESI on the VGA text screen and on COM1, and ends. COM1 gets a bounded wait for
 * each byte: a port that is not there must not hang what the screen still has to show. */
refuse:
    movl $VGA_TEXT, %edi
    movl $(VGA_BYTES / 4), %ecx
    movl $(VGA_ATTRIBUTE << 24 | ' ' << 16 | VGA_ATTRIBUTE << 8 | ' '), %eax
    rep stosl
    movl $VGA_TEXT, %edi
    movw $(COM1 + UART_LCR), %dx
    movb $LCR_DLAB_8N1, %al
    outb %al, %dx
    movw $COM1, %dx
    movb $1, %al /* divisor 1: 115200 baud */
    outb %al, %dx
    incw %dx
    movb $0, %al
    outb %al, %dx
    movw $(COM1 + UART_LCR), %dx
    movb $LCR_8N1, %al
    outb %al, %dx
3:  lodsb
    testb %al, %al
    jz 6f
    cmpb $' ', %al
    jb 7f /* the line end is for the serial port */
    movb $VGA_ATTRIBUTE, %ah
    stosw
7:  movb %al, %bl
    movw $(COM1 + UART_LSR), %dx
    movl $COM1_WAIT, %ecx
4:  inb %dx, %al
    testb $LSR_THR_EMPTY, %al
    loopz 4b
    movw $COM1, %dx
    movb %bl, %al
    outb %al, %dx
    jmp 3b
6:  movw $DEBUG_EXIT_PORT, %dx
    movb $DEBUG_EXIT_NOT_OK, %al
    outb %al, %dx
8:  hlt
    jmp 8b

    .code64
early_nmi64:
    iretq

start64:
    movl $SEG_KERNEL_DATA, %eax
    movl %eax, %ds
    movl %eax, %es
    movl %eax, %ss
    xorl %eax, %eax
    movl %eax, %fs
    movl %eax, %gs
    movl boot_stack_top, %esp
    movl %edi, %edi /* the upper halves are undefined after the switch; writing 32 bits clears them */
    movl %ebp, %esi
    xorl %ebp, %ebp /* the end of every backtrace */
    call kmain
7:  hlt
    jmp 7b

    .section .rodata
no_multiboot2:
    .asciz "PMU Lab must be started by a Multiboot2 boot loader such as GRUB 2 (EAX is not 36d76289h) or by PVH.\r\n"
no_long_mode:
    .asciz "PMU Lab needs a 64-bit processor: CPUID 80000001H:EDX[29] shows no long mode here.\r\n"

efer_refused:
    .ascii "TAP version 14\r\n"
    .asciz "Bail out! RDMSR or WRMSR of IA32_EFER (0xc0000080) raises #GP: there is no long mode without it.\r\n"

    /* The other processors use the same tables (boot/ap.S). */
    .balign 8
    .globl boot_gdt, boot_idtr
boot_gdt:
    .quad 0
    .quad DESCRIPTOR_KERNEL_CODE
    .quad DESCRIPTOR_KERNEL_DATA
    .quad DESCRIPTOR_CODE32
boot_gdtr:
    .short BOOT_GDT_LIMIT
    .long boot_gdt
boot_idtr:
    .short BOOT_IDT_SIZE - 1
    .long boot_idt

    /* The page tables stay the kernel's own; kernel/paging.c refines them. */
    .section .bss
    .balign PAGE_SIZE
    .globl boot_pml4
boot_pml4:
    .skip PAGE_SIZE
boot_pdpt:
    .skip PAGE_SIZE
boot_pd:
    .skip IDENTITY_GIB * PAGE_SIZE

boot_idt:
    .skip BOOT_IDT_SIZE

    .section .note.GNU-stack, "", @progbits
