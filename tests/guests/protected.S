/*
 * 32-bit protected mode and real mode: paging with 32-bit and PAE entries, segments and their limits, rings, call
 * gates, the LDT, SYSENTER; real mode and back. SDM vol. 3 "32-Bit Paging", "PAE Paging", "Protection",
 * "8086 Emulation".
 */
#define GUEST32
        .set CODE, 0x08
        .set DATA, 0x10
        .set UCODE, 0x18
        .set UDATA, 0x20
        .set TSSSEL, 0x28
        .set GATE, 0x30
        .set CODE16, 0x38
        .set DATA16, 0x40
        .set SMALL, 0x48
        .set LDTSEL, 0x50

        .section .header, "a"
        .balign 4
        .long 0x1BADB002, 0, -0x1BADB002

        .code32
        .macro SET variable, to
        movl $\to, \variable
        .endm
        .macro COMPARE variable, to
        cmpl $\to, \variable
        .endm
#include "report.inc"
        .macro USER label
        mov $UDATA+3, %eax
        mov %eax, %ds
        mov %eax, %es
        pushl $UDATA+3
        pushl $ustack_top
        pushl $2
        pushl $UCODE+3
        pushl $\label
        iret
        .endm

        .section .text
        .globl _start
_start: cli
        mov $stack_top, %esp
        lgdt gdtr
        ljmp $CODE, $1f
1:      mov $DATA, %eax
        mov %eax, %ds
        mov %eax, %es
        mov %eax, %ss
        /* IDT */
        mov $idt, %edi
        mov $stubs, %esi
        mov $256, %ecx
1:      mov %si, (%edi)
        movw $CODE, 2(%edi)
        movw $0x8e00, 4(%edi)
        mov %esi, %eax
        shr $16, %eax
        mov %ax, 6(%edi)
        add $8, %edi
        add $16, %esi
        loop 1b
        movb $0xee, idt+0x80*8+5
        lidt idtr
        mov $tss, %eax
        mov %ax, gdt+TSSSEL+2
        shr $16, %eax
        mov %al, gdt+TSSSEL+4
        mov $ldt, %eax
        mov %ax, gdt+LDTSEL+2
        shr $16, %eax
        mov %al, gdt+LDTSEL+4
        mov $gate_target, %eax
        mov %ax, gdt+GATE
        shr $16, %eax
        mov %ax, gdt+GATE+6
        movl $rsp0_top, tss+4
        movl $DATA, tss+8
        mov $TSSSEL, %eax
        ltr %ax
        /* 32-bit paging: PDE 0 a 4 MiB user page, PDE 256 a table */
        movl $0x87, pd
        movl $pt+7, pd+256*4
        movl $page0+7, pt
        movl $page0+5, pt+4
        movl $page0+3, pt+8
        movl $0, pt+12
        movl $0x00200087, pd+4         /* reserved bit 21 of a 4 MiB PDE */
        mov $pd, %eax
        mov %eax, %cr3
        mov %cr4, %eax
        or $0x10, %eax
        mov %eax, %cr4
        mov %cr0, %eax
        or $0x80010020, %eax
        mov %eax, %cr0
        jmp main

main:
        TRY "read of a page that is not present", 14, 0
        mov 0x40003000, %eax
        END
        mov %cr2, %eax
        cmp $0x40003000, %eax
        CHECK "CR2 holds the address", e
        TRY "write of a read-only page: P W", 14, 3
        movl $1, 0x40001010
        END
        TRY "reserved bit 21 in a 4 MiB directory entry: P RSVD", 14, 9
        mov 0x400000, %eax
        END
        TRY "IRET to ring 3 and INT n back", 0x80, 0
        USER u1
u1:     int $0x80
        END
        cmpl $rsp0_top-20, frame_at
        CHECK "the frame lies at the top of ESP0", e
        cmpl $UDATA+3, frame_ss
        CHECK "it holds the SS of ring 3", e
        cmpl $ustack_top, frame_sp
        CHECK "and its stack pointer", e
        TRY "ring 3 reads a supervisor page: P U", 14, 5
        USER u2
u2:     mov 0x40002000, %eax
        END
        TRY "INT n through a gate of DPL 0: #GP, IDT", 13, 0x81*8+2
        USER u3
u3:     int $0x81
        END
        /* call gate with two parameters */
        TRY "a call gate with two parameters, and the far return", 0x80, 0
        USER u4
u4:     pushl $0x1111
        pushl $0x2222
        lcall $GATE+3, $0
        int $0x80
        END
        cmpl $0x2222, param
        CHECK "the second parameter was copied", e
        cmpl $0x1111, param+4
        CHECK "and the first", e
        cmpl $ustack_top, frame_sp
        CHECK "the return takes them off both stacks", e
        /* limit */
        mov $SMALL, %eax
        mov %eax, %fs
        TRY "a read past the limit: #GP", 13, 0
        mov %fs:0x1000, %eax
        END
        TRY "a read up to the limit", none
        mov %fs:0xffc, %eax
        END
        TRY "a read across the limit: #GP", 13, 0
        mov %fs:0xffd, %eax
        END
        TRY "a write through CS: #GP", 13, 0
        mov %eax, %cs:0x100000
        END
        TRY "a read through a null selector: #GP", 13, 0
        xor %eax, %eax
        mov %eax, %gs
        mov %gs:0, %eax
        END
        TRY "SS takes no null selector: #GP", 13, 0
        xor %eax, %eax
        mov %eax, %ss
        END
        /* LDT */
        mov $LDTSEL, %eax
        lldt %ax
        TRY "a selector of the LDT", none
        mov $4, %eax
        mov %eax, %gs
        END
        TRY "a selector past the LDT: #GP, selector", 13, 12
        mov $12, %eax
        mov %eax, %gs
        END
        /* INTO, BOUND, INT3 */
        TRY "INTO", 4, 0
        mov $0x7fffffff, %eax
        inc %eax
        into
        END
        /* LES, PUSH/POP sreg */
        TRY "LES, PUSH and POP of a segment register", none
        les farp, %eax
        push %es
        pop %es
        END
        mov %es, %eax
        cmp $DATA, %eax
        CHECK "LES loaded it", e
        /* far call and return */
        TRY "far call and far return", none
        lcall $CODE, $f1
        jmp f2
f1:     lret
f2:
        END
        /* ARPL */
        mov $DATA, %eax
        mov $3, %ebx
        arpl %bx, %ax
        CHECK "ARPL sets ZF when it raises the RPL", z
        cmp $DATA+3, %ax
        CHECK "and it did", e
        /* SDM vol. 2 "ARPL": the destination must be writable, whether or not anything is written. */
        TRY "ARPL through CS: #GP", 13, 0
        xor %ebx, %ebx
        .byte 0x2e
        arpl %bx, 0x100000
        END
        /* sysenter */
        mov $0x174, %ecx
        mov $CODE, %eax
        xor %edx, %edx
        wrmsr
        inc %ecx
        mov $rsp0_top, %eax
        wrmsr
        inc %ecx
        mov $fast_entry, %eax
        wrmsr
        TRY "SYSENTER and SYSEXIT", 0x80, 0
        USER u5
u5:     sysenter
u5b:    int $0x80
        END
        cmpl $u5b+2, frame_ip
        CHECK "SYSEXIT came back after the SYSENTER", e
        /* SYSCALL: AMD's is of protected mode too. APM vol. 3 "SYSCALL", "SYSRET". */
        xor %eax, %eax
        cpuid
        cmp $0x68747541, %ebx           /* "Auth" */
        jne 8f
        mov $0xc0000080, %ecx
        rdmsr
        or $1, %eax                     /* SCE */
        wrmsr
        inc %ecx                        /* STAR */
        mov $legacy_call, %eax
        mov $0x00180008, %edx
        wrmsr
        TRY "SYSCALL and SYSRET", 0x80, 0
        USER u6
u6:     syscall
u6b:    int $0x80
        END
        cmpl $u6b+2, frame_ip
        CHECK "SYSRET came back after the SYSCALL", e
        cmpl $u6b, call_ecx
        CHECK "ECX held its address", e
        cmpl $CODE, call_cs
        CHECK "it was in ring 0", e
        testl $0x200, frame_flags
        CHECK "SYSRET sets IF", nz
        jmp 9f
8:      TRY "SYSCALL: #UD", 6, 0
        syscall
        END
9:
        /* PAE paging */
        mov %cr0, %eax
        and $0x7fffffff, %eax
        mov %eax, %cr0
        movl $0x83, pd
        movl $0, pd+4
        movl $pt+3, pd+8
        movl $0, pd+12
        movl $page0+3, pt
        movl $0, pt+4
        movl $0, pt+8
        movl $pd+1, pdpt
        movl $0, pdpt+4
        mov $pdpt, %eax
        mov %eax, %cr3
        mov %cr4, %eax
        or $0x20, %eax
        mov %eax, %cr4
        mov %cr0, %eax
        or $0x80000000, %eax
        mov %eax, %cr0
        TRY "PAE: a 2 MiB page", none
        mov 0x200000, %eax
        END
        TRY "PAE: a page that is not present", 14, 0
        mov 0x201000, %eax
        END
        TRY "PAE: a PDPTE that is not present", 14, 2
        mov %eax, 0x40000000
        END
        /* PDPTEs are registers: a change in memory is not seen before MOV CR3 */
        movl $pd+1, pdpt+8
        TRY "PAE: PDPTEs are registers, a change in memory is not seen", 14, 0
        mov 0x40000000, %eax
        END
        mov %cr3, %eax
        mov %eax, %cr3
        TRY "PAE: before MOV CR3", none
        mov 0x40000000, %eax
        END
        movl $pd+3, pdpt+16            /* reserved bit 1 */
        TRY "PAE: MOV CR3 with a reserved bit in a PDPTE: #GP", 13, 0
        mov %cr3, %eax
        mov %eax, %cr3
        END
        mov %cr0, %eax
        and $0x7fffffff, %eax
        mov %eax, %cr0
        /* real mode */
        mov $real, %esi
        mov $0x8000, %edi
        mov $real_end-real, %ecx
        rep movsb
        movl $0x00008000+(real_int-real), 0x60*4
        movl $0x00008000+(real_ud-real), 6*4
        lidt ivt
        ljmp $CODE16, $0x8000
back:   mov $DATA, %eax
        mov %eax, %ds
        mov %eax, %es
        mov %eax, %ss
        mov $stack_top, %esp
        lidt idtr
        cmpw $0x1234, 0x7000
        CHECK "real mode: INT n came to its handler", e
        cmpw $0x6666, 0x7002
        CHECK "real mode: #UD came to its handler", e
        testw $0x200, 0x7004           /* IF in the pushed image */
        CHECK "real mode: IF in the pushed flags", nz
        testw $0x200, 0x7006           /* IF cleared in the handler */
        CHECK "real mode: IF cleared in the handler", z
        cmpl $0x5555aaaa, 0x7008       /* unreal: 32-bit limit */
        CHECK "real mode: a 4 GiB limit stays from protected mode", e
        movzwl 0x7010+6, %eax
        EQUAL "real mode, FNSTENV of 16 bits: the linear address of the instruction", %eax, $0x8000+(real87-real)
        movzwl 0x7010+10, %eax
        EQUAL "real mode, FNSTENV of 16 bits: that of the operand", %eax, $0x7040
        movzwl 0x7020+12, %eax
        EQUAL "real mode, FNSTENV of 32 bits: the linear address of the instruction", %eax, $0x8000+(real87-real)
        movzwl 0x7020+20, %eax
        EQUAL "real mode, FNSTENV of 32 bits: that of the operand", %eax, $0x7040
        movzwl 0x7050+10, %eax
        EQUAL "real mode: FLDENV and FNSTENV keep it", %eax, $0x7040
        fninit
fld87:  flds 0x7040
        fnsave 0x7100
        mov 0x7100+12, %eax
        EQUAL "FNSAVE, 32 bits: offset of the instruction", %eax, $fld87
        mov 0x7100+20, %eax
        EQUAL "FNSAVE, 32 bits: offset of the operand", %eax, $0x7040
        mov $7, %eax
        xor %ecx, %ecx
        cpuid
        xor %eax, %eax
        mov $CODE, %esi
        test $1 << 13, %ebx     /* the selectors are deprecated: zeros */
        cmovnz %eax, %esi
        movzwl 0x7100+16, %eax
        EQUAL "FNSAVE, 32 bits: selector of the code, where there are selectors", %eax, %esi
        jmp finish

legacy_call: mov %ecx, call_ecx
        mov %cs, %eax
        mov %eax, call_cs
        sysret
fast_entry: mov $u5b, %edx
        mov $ustack_top, %ecx
        sysexit
gate_target:
        mov 8(%esp), %eax
        mov %eax, param
        mov 12(%esp), %eax
        mov %eax, param+4
        lret $8
        .code16
real:   mov $DATA16, %ax
        mov %ax, %ds
        mov %ax, %ss
        mov $DATA, %ax
        mov %ax, %fs
        mov %cr0, %eax
        and $0xfe, %al
        mov %eax, %cr0
        ljmp $0, $0x8000+(real2-real)
real2:  xor %ax, %ax
        mov %ax, %ds
        mov %ax, %ss
        mov %ax, %es
        mov %ax, %fs
        mov $0x7000, %sp
        mov $0x0700, %ax
        mov %ax, %es
        fninit
real87: flds %es:0x40
        fnstenv 0x7010
        data32 fnstenv 0x7020
        mov $0x0700, %ax
        fldenv 0x7010
        fnstenv 0x7050
        xor %ax, %ax
        mov %ax, %es
        movw $0x1234, %ax
        sti
        nop
        int $0x60
        cli
        movl $0x200000, %ebx
        movl $0x5555aaaa, %fs:(%ebx)
        movl %fs:(%ebx), %eax
        movl %eax, 0x7008
        ud2
rres:   lgdtl gdtr16-real+0x8000
        mov %cr0, %eax
        or $1, %al
        mov %eax, %cr0
        ljmpl $CODE, $back
real_int:   mov %ax, 0x7000
        mov %sp, %bp
        mov 4(%bp), %bx
        mov %bx, 0x7004
        pushf
        pop %bx
        mov %bx, 0x7006
        iret
real_ud:    movw $0x6666, 0x7002
        mov %sp, %bp
        movw $0x8000+(rres-real), (%bp)
        iret
gdtr16: .word gdt_end - gdt - 1
        .long gdt
real_end:
        .code32
        .balign 16
stubs:
        .set v, 0
        .rept 256
        .balign 16
        .if v==8 || (v>=10 && v<=14) || v==17
        nop
        nop
        .else
        pushl $0
        .endif
        push $v
        jmp caught
        .set v, v+1
        .endr
caught: push %eax
        mov $DATA, %eax
        mov %eax, %ds
        mov %eax, %es
        pop %eax
        popl vector
        popl error_code
        cmpl $0, ended
        je 1f
        SET vector, none
        SET error_code, 0
1:
        mov %esp, frame_at
        popl frame_ip
        popl frame_cs
        popl frame_flags
        popl frame_sp
        popl frame_ss
        mov $DATA, %eax
        mov %eax, %ss
        mov saved_sp, %esp
        pushl $2
        popfl
        jmp *resume
        .section .data
        .balign 16
gdt:    .quad 0
        .quad 0x00cf9a000000ffff
        .quad 0x00cf92000000ffff
        .quad 0x00cffa000000ffff
        .quad 0x00cff2000000ffff
        .quad 0x0000890000000068
        .quad 0x0000ec0200080000
        .quad 0x00009a000000ffff
        .quad 0x000092000000ffff
        .quad 0x0040920000000fff
        .quad 0x0000820000000007
gdt_end:
gdtr:   .word gdt_end - gdt - 1
        .long gdt
idtr:   .word 256*8-1
        .long idt
ivt:    .word 0x3ff
        .long 0
ldt:    .quad 0x00cf92000000ffff
farp:   .long 0x1234
        .word DATA
        .balign 16
tss:    .skip 104
        .section .bss
        .balign 4096
pd:     .skip 4096
pt:     .skip 4096
page0:  .skip 4096
pdpt:   .skip 4096
idt:    .skip 4096
        .skip 4096
stack_top: .skip 4096
rsp0_top: .skip 4096
ustack_top:
resume: .skip 4
vector: .skip 4
error_code: .skip 4
ended:  .skip 4
saved_sp: .skip 4
frame_at: .skip 4
frame_ip: .skip 4
frame_cs: .skip 4
frame_flags: .skip 4
call_ecx: .skip 4
call_cs: .skip 4
frame_sp: .skip 4
frame_ss: .skip 4
param:  .skip 8
