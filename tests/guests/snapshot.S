/*
 * State of every part of the machine, set before the first point is printed and looked at when some time has passed:
 * tests/t_snapshot.py saves the machine in between and loads it into another. Run as it is, it shows that the state
 * lasts. Each register with the meaning that the SDM gives it.
 */
#include "long.inc"

        .set UART_SCRATCH, 0x3ff
        .set PIC_MASK, 0x21
        .set PERIOD, 40000000   /* ticks of the TSC, more than a slice of the run */

        .macro HAS text, wanted
        EQUAL "\text", %rax, $\wanted
        .endm

main:   mov $0xfee00000, %r15d
        movl $0x1ff, 0xf0(%r15)
        movl $0x20, 0x80(%r15)
        movl $0x100ee, 0x320(%r15)      /* the timer: masked, once */
        movl $11, 0x3e0(%r15)
        movl $-1, 0x380(%r15)
        mov $0x5a, %al
        mov $UART_SCRATCH, %dx
        out %al, %dx
        mov $0xa5, %al
        out %al, $PIC_MASK
        mov $0xa1b2c3, %eax
        mov %rax, %cr2
        mov %rax, %dr0
        mov $0x4d5e6f, %eax
        mov %rax, %dr1
        WRITE_MSR 0xc0000081, 0x123, 0x456      /* IA32_STAR */
        WRITE_MSR 0xc0000102, 0x789, 0          /* IA32_KERNEL_GS_BASE */
        WRITE_MSR 0x250, 0x6060600, 0x6060606   /* IA32_MTRR_FIX64K_00000 */
        WRITE_MSR 0x186, 0x4300c0, 0            /* IA32_PERFEVTSEL0: instructions */
        WRITE_MSR 0xc1, 0, 0
        WRITE_MSR 0xc2, 0x55, 0                 /* IA32_PMC1 stands */
        WRITE_MSR 0x187, 0x3003c, 0
        WRITE_MSR 0x38f, 3, 0                   /* IA32_PERF_GLOBAL_CTRL */
        WRITE_MSR 0x1d9, 1, 0                   /* IA32_DEBUGCTL: LBR */
        mov %cr4, %rax
        or $0x600, %eax                         /* OSFXSR, OSXMMEXCPT */
        mov %rax, %cr4
        mov $0x1122334455667788, %rax
        movq %rax, %xmm7
        fninit
        fldpi
        stmxcsr mxcsr
        orl $0x8000, mxcsr                      /* FTZ */
        ldmxcsr mxcsr
        movl $0x600dcafe, memory
        mov $0x0123456789abcdef, %rbp
        cmp %eax, %eax
        CHECK "the state is set", e

        rdtsc
        shl $32, %rdx
        lea PERIOD(%rax,%rdx), %rbx
1:      rdtsc
        shl $32, %rdx
        or %rdx, %rax
        cmp %rbx, %rax
        jb 1b

        mov %rbp, %r12
        mov $0x0123456789abcdef, %r13
        EQUAL "a register", %r12, %r13
        mov memory, %eax
        HAS "memory", 0x600dcafe
        mov 0x80(%r15), %eax
        HAS "the local APIC's TPR", 0x20
        mov 0x320(%r15), %eax
        HAS "its timer's entry", 0x100ee
        mov 0x390(%r15), %eax
        dec %eax
        cmp $-2, %eax                           /* neither 0 nor as it began */
        CHECK "and its count, which runs", b
        xor %eax, %eax
        mov $UART_SCRATCH, %dx
        in %dx, %al
        HAS "the 16550's scratch register", 0x5a
        xor %eax, %eax
        in $PIC_MASK, %al
        HAS "the 8259's mask", 0xa5
        mov %cr2, %rax
        HAS "CR2", 0xa1b2c3
        mov %dr0, %rax
        HAS "DR0", 0xa1b2c3
        mov %dr1, %rax
        HAS "DR1", 0x4d5e6f
        READ_MSR 0xc0000081
        mov $0x45600000123, %r13
        EQUAL "IA32_STAR", %rax, %r13
        READ_MSR 0xc0000102
        HAS "IA32_KERNEL_GS_BASE", 0x789
        READ_MSR 0x250
        mov $0x606060606060600, %r13
        EQUAL "IA32_MTRR_FIX64K_00000", %rax, %r13
        READ_MSR 0x186
        HAS "IA32_PERFEVTSEL0", 0x4300c0
        READ_MSR 0xc2
        HAS "a counter that stands", 0x55
        READ_MSR 0xc1
        cmp $10000, %rax
        CHECK "one that counts instructions: all of the wait", a
        READ_MSR 0x1d9
        HAS "IA32_DEBUGCTL", 1
        WRITE_MSR 0x1d9, 0, 0
        READ_MSR 0x1c9
        mov %eax, %ecx
        add $0x680, %ecx                        /* MSR_LASTBRANCH_0_FROM_IP and on */
        rdmsr
        test %eax, %eax
        CHECK "a branch record", nz
        movq %xmm7, %r12
        mov $0x1122334455667788, %r13
        EQUAL "XMM7", %r12, %r13
        stmxcsr mxcsr
        mov mxcsr, %eax
        HAS "MXCSR", 0x9f80
        fstpt real
        mov real, %r12
        mov $0xc90fdaa22168c235, %r13
        EQUAL "ST(0)", %r12, %r13
        jmp finish

        .section .data
        .balign 16
mxcsr:  .long 0
memory: .long 0
real:   .skip 16
