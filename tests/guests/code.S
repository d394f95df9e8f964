/* Code that is another than it was when it ran last: what ran behind it must be found anew. SDM vol. 3
 * "Self-Modifying Code", "Invalidation of TLBs and Paging-Structure Caches". */
#include "long.inc"

        .set WINDOW, 0x40000000

main:
        /* The block that runs writes the one that it jumps to, which ran each time before. */
        xor %ebx, %ebx
        mov $100, %ecx
1:      incb patched + 2
        jmp patched
        .balign 64
patched:
        add $0, %ebx
        dec %ecx
        jnz 1b
        EQUAL "code written just before: 1 + 2 + ... + 100", %rbx, $5050

        /* And what stands behind a call, while the function runs. */
        movb $0, behind + 2
        xor %ebx, %ebx
        mov $100, %ecx
1:      call writer
behind: add $0, %ebx
        dec %ecx
        jnz 1b
        EQUAL "code behind a call, written before it returned", %rbx, $5050

        /* The page that a function is in is mapped elsewhere after 50 of 100 calls. What comes before the call
         * is the same each time, so that nothing but the page tells them apart. */
        movl $first + 7, window_table
        xor %ebx, %ebx
        mov $100, %ecx
1:      invlpg WINDOW
        call WINDOW
        cmp $51, %ecx
        jne 2f
        movl $second + 7, window_table
2:      dec %ecx
        jnz 1b
        EQUAL "a function mapped elsewhere: 50 times 1, 50 times 3", %rbx, $200

        /* The same by the whole TLB: MOV to CR3. */
        movl $first + 7, window_table
        xor %ebx, %ebx
        mov $100, %ecx
        mov %cr3, %rax
1:      mov %rax, %cr3
        call WINDOW
        cmp $51, %ecx
        jne 2f
        movl $second + 7, window_table
2:      dec %ecx
        jnz 1b
        EQUAL "and by MOV to CR3", %rbx, $200
        jmp finish

writer: incb behind + 2
        ret

        .balign 4096
first:  add $1, %ebx
        ret
        .balign 4096
second: add $3, %ebx
        ret
        .balign 4096
