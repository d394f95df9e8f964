/*
 * rdpmc: counts its own instructions in user mode by RDPMC, as the page that perf maps for it says (perf_event_open(2),
 * struct perf_event_mmap_page), and prints how many a known stretch has.
 */
#include "linux/system.inc"

#define KNOWN 1000 /* instructions between both reads, the first RDPMC itself included */

/* The fields of the mapped page. */
#define INDEX        12
#define CAPABILITIES 40
#define CAP_RDPMC    4

    .globl _start
    .type _start, @function
_start:
    mov $SYS_PERF_EVENT_OPEN, %eax
    lea attributes(%rip), %rdi
    xor %esi, %esi /* this process */
    mov $-1, %rdx  /* on any processor */
    mov $-1, %r10  /* in no group */
    xor %r8d, %r8d
    syscall
    test %eax, %eax
    js failed
    mov %eax, %r8d
    mov $SYS_MMAP, %eax
    xor %edi, %edi
    mov $4096, %esi
    mov $1, %edx /* PROT_READ */
    mov $1, %r10d /* MAP_SHARED */
    xor %r9d, %r9d
    syscall
    cmp $-4096, %rax
    ja failed
    mov %rax, %rbx
    testb $CAP_RDPMC, CAPABILITIES(%rbx)
    jz failed
    mov INDEX(%rbx), %ecx
    test %ecx, %ecx
    jz failed
    dec %ecx
    rdpmc
    mov %eax, %esi
    .rept KNOWN - 2
    nop
    .endr
    rdpmc
    sub %esi, %eax /* 32 bits are enough for a difference */
    call print
    xor %edi, %edi
    jmp exit
failed:
    mov $1, %edi
exit:
    mov $SYS_EXIT, %eax
    syscall

/* Prints EAX in decimal. */
print:
    lea digits_end(%rip), %rsi
    mov $10, %ecx
1:  xor %edx, %edx
    div %ecx
    add $'0', %dl
    dec %rsi
    mov %dl, (%rsi)
    test %eax, %eax
    jnz 1b
    lea digits_end + 1(%rip), %rdx
    sub %rsi, %rdx
    mov $SYS_WRITE, %eax
    mov $1, %edi
    syscall
    ret

    .data
    .balign 8
attributes: /* struct perf_event_attr: instructions, those of the kernel excluded */
    .long 0, attributes_end - attributes
    .quad 1, 0, 0, 0
    .quad 1 << 5 | 1 << 6
    .skip 64
attributes_end:
    .skip 10
digits_end:
    .byte '\n'
