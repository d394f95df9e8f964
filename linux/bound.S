/*
 * bound: most of its slots go where its argument says: "retiring", "frontend", "speculation" or "backend" (the first
 * letter counts). Each loop has a reason for that which holds on every processor.
 */
#include "linux/system.inc"

    .globl _start
    .type _start, @function
_start:
    mov 16(%rsp), %rax /* the first argument, behind their number and the program's name */
    movzbl (%rax), %eax
    cmp $'r', %al
    je retiring
    cmp $'f', %al
    je frontend
    cmp $'s', %al
    je speculation
    cmp $'b', %al
    je backend
    mov $1, %edi
    jmp end
done:
    xor %edi, %edi
end:
    mov $SYS_EXIT, %eax
    syscall
    .size _start, . - _start

/* Nothing to wait for, and a byte each. */
    .type retiring, @function
retiring:
    mov $200000, %ecx
    .balign 64
1:  .rept 254
    nop
    .endr
    dec %ecx
    jnz 1b
    jmp done
    .size retiring, . - retiring

/* Its code is four times the largest L1I of the profiles, 64 KiB: of each line, one instruction. */
#define LINES 4096
#define LINE  64
    .type frontend, @function
frontend:
    mov $400, %ecx
    .balign LINE
1:  .rept LINES
    jmp 2f
    .balign LINE
2:
    .endr
    dec %ecx
    jnz 1b
    jmp done
    .size frontend, . - frontend

/* Whether each of the 16 branches is taken is a bit of a random number (Marsaglia's xorshift). */
    .type speculation, @function
speculation:
    mov $100000, %ecx
    mov $88172645463325252, %rax
1:  mov %rax, %rdx
    shl $13, %rdx
    xor %rdx, %rax
    mov %rax, %rdx
    shr $7, %rdx
    xor %rdx, %rax
    mov %rax, %rdx
    shl $17, %rdx
    xor %rdx, %rax
    .set bit, 0
    .rept 16
    bt $bit, %eax
    jc 2f
    inc %ebx
2:
    .set bit, bit + 1
    .endr
    dec %ecx
    jnz 1b
    jmp done
    .size speculation, . - speculation

/* Each multiplication waits for the one before it. */
    .type backend, @function
backend:
    mov $50000, %ecx
1:  .rept 126
    imul %rax, %rax
    .endr
    dec %ecx
    jnz 1b
    jmp done
    .size backend, . - backend
