/* Paging in 64-bit mode. SDM vol. 3 "Paging" and "Interrupt 14—Page-Fault Exception (#PF)". */
#include "long.inc"

        .set RW, 0x40000000     /* the window's pages: writable, for both rings */
        .set RO, 0x40001000     /* read-only */
        .set SUPERVISOR, 0x40002000
        .set NOT_PRESENT, 0x40003000
        .set NO_EXECUTE, 0x40004000
        .set RESERVED, 0x40005000 /* bit 51 is above every MAXPHYADDR here */
        .set UNTOUCHED, 0x40006000 /* A and D are 0 */
        .set GLOBAL, 0x40007000
        .set LARGE, 0x40200000  /* 2 MiB pages */
        .set LARGE_BAD, 0x40400000 /* with bit 13, reserved in a 2 MiB page, set */
        .set TABLE_RO, 0x40600000 /* read-only by its directory entry */
        .set TABLE_NX, 0x40800000 /* no-execute by its directory entry */
        .set TABLE_SUPERVISOR, 0x40a00000
        .set HUGE, 0xc000000000 /* a page of 1 GiB: PML4 entry 1, PDPT entry 256 */

main:
        movl $page + 7, window_table
        movl $page + 5, window_table + 8
        movl $page + 3, window_table + 16
        movl $page, window_table + 24
        movl $page + 7, window_table + 32
        movl $0x80000000, window_table + 36
        movl $page + 7, window_table + 40
        movl $0x00080000, window_table + 44
        movl $page + 7, window_table + 48
        movl $page + 0x107, window_table + 56
        movl $0x87, window_directory + 8
        movl $0x2087, window_directory + 16
        movl $window_table + 5, window_directory + 24
        movl $window_table + 7, window_directory + 32
        movl $0x80000000, window_directory + 36
        movl $window_table + 3, window_directory + 40

        TRY "read of a page that is not present", 14, 0
        mov NOT_PRESENT + 8, %eax
        END
        mov %cr2, %rax
        EQUAL "CR2 holds the address", %rax, $NOT_PRESENT + 8
        TRY "write of a page that is not present: W", 14, 2
        mov %eax, NOT_PRESENT
        END
        TRY "fetch from a page that is not present: I", 14, 0x10
        mov $NOT_PRESENT, %eax
        jmp *%rax
        END
        TRY "write of a read-only page: P W", 14, 3
        movl $1, RO + 0x10
        END
        TRY "write of a page that its directory entry makes read-only", 14, 3
        movl $1, TABLE_RO
        END
        TRY "reserved bit 51 in a page table entry: P RSVD", 14, 9
        mov RESERVED, %eax
        END
        TRY "reserved bit 13 in a 2 MiB directory entry: P RSVD", 14, 9
        mov LARGE_BAD, %eax
        END
        TRY "fetch from a no-execute page: P I", 14, 0x11
        mov $NO_EXECUTE, %eax
        jmp *%rax
        END
        TRY "fetch below a no-execute directory entry: P I", 14, 0x11
        mov $TABLE_NX, %eax
        jmp *%rax
        END
        TRY "an access across two pages faults on the second", 14, 0
        mov RO + 0x1ffe, %eax
        END
        mov %cr2, %rax
        EQUAL "CR2 holds the second page", %rax, $NOT_PRESENT

        mov %cr0, %rax
        and $~0x10000, %rax
        mov %rax, %cr0
        TRY "CR0.WP = 0: the supervisor writes read-only pages", none
        movl $5, RO + 0x10
        END
        mov %cr0, %rax
        or $0x10000, %rax
        mov %rax, %cr0
        TRY "CR0.WP = 1: no more, at once", 14, 3
        movl $1, RO + 0x10
        END

        testb $0x60, window_table + 48
        CHECK "A and D are 0 before the first access", z
        mov UNTOUCHED, %eax
        mov window_table + 48, %eax
        and $0x60, %eax
        EQUAL "a read sets A", %rax, $0x20
        mov %eax, UNTOUCHED
        mov window_table + 48, %eax
        and $0x60, %eax
        EQUAL "a write sets D", %rax, $0x60
        testb $0x60, window_directory + 8
        CHECK "A and D of a 2 MiB page are 0 before", z
        mov LARGE, %eax
        mov window_directory + 8, %eax
        and $0x60, %eax
        EQUAL "a read sets A of the 2 MiB page", %rax, $0x20
        mov LARGE + 0x100000, %eax
        mov %eax, LARGE + 0x100000
        mov window_directory + 8, %eax
        and $0x60, %eax
        EQUAL "a write sets D of the 2 MiB page", %rax, $0x60
        testb $0x20, pml4
        CHECK "A is set in the PML4 entry", nz
        testb $0x20, pdpt + 8
        CHECK "A is set in the PDPT entry", nz
        testb $0x40, pdpt + 8
        CHECK "D is not set in an entry that refers to a table", z

        mov $0x80000001, %eax
        cpuid
        bt $26, %edx
        jnc 1f
        movl $pdpt + 7, pml4 + 8
        movl $0x87, pdpt + 256 * 8
        movl $0x2087, pdpt + 257 * 8
        movl $0x12345678, page
        movabs $HUGE + page, %rbx
        TRY "a page of 1 GiB", none
        mov (%rbx), %eax
        END
        EQUAL "it shows the memory at its offset", (%rbx), page
        movabs $HUGE + 0x40000000, %rbx
        TRY "reserved bit 13 in a 1 GiB entry: P RSVD", 14, 9
        mov (%rbx), %eax
        END
        jmp 2f
1:      movl $pdpt + 7, pml4 + 8
        movl $0x87, pdpt + 256 * 8
        mov $HUGE, %rbx
        TRY "PS in a PDPT entry is reserved without 1 GiB pages: P RSVD", 14, 9
        mov (%rbx), %eax
        END
2:
        movl $pdpt + 7, pml4 + 16
        movl $0, pml4 + 20
        movl $pdpt + 0x87, pml4 + 24
        mov $0x18000000000, %rbx
        TRY "PS in a PML4 entry is reserved: P RSVD", 14, 9
        mov (%rbx), %eax
        END

        TRY "ring 3 reads a supervisor page: P U", 14, 5
        USER 1f
1:      mov SUPERVISOR, %eax
        END
        TRY "ring 3 writes a supervisor page: P W U", 14, 7
        USER 1f
1:      mov %eax, SUPERVISOR
        END
        TRY "ring 3 reads below a supervisor directory entry: P U", 14, 5
        USER 1f
1:      mov TABLE_SUPERVISOR, %eax
        END
        TRY "ring 3 writes a read-only page: P W U", 14, 7
        USER 1f
1:      movl $1, RO
        END
        TRY "ring 3 reads a page that is not present: U", 14, 4
        USER 1f
1:      mov NOT_PRESENT, %eax
        END
        TRY "ring 3 fetches from a no-execute page: P U I", 14, 0x15
        USER 1f
1:      mov $NO_EXECUTE, %eax
        jmp *%rax
        END
        mov %cr0, %rax
        and $~0x10000, %rax
        mov %rax, %cr0
        TRY "CR0.WP = 0 does not let ring 3 write: P W U", 14, 7
        USER 1f
1:      movl $1, RO
        END
        mov %cr0, %rax
        or $0x10000, %rax
        mov %rax, %cr0

        /* The translation stays until it is invalidated: INVLPG, MOV CR3; not so for global pages. */
        mov RW, %eax
        movl $0, window_table
        invlpg RW
        TRY "INVLPG makes a changed entry seen", 14, 0
        mov RW, %eax
        END
        movl $page + 7, window_table
        mov RW, %eax
        movl $0, window_table
        mov %cr3, %rax
        mov %rax, %cr3
        TRY "MOV CR3 makes a changed entry seen", 14, 0
        mov RW, %eax
        END
        TRY "a present entry needs no invalidation", none
        movl $page + 7, window_table
        mov RW, %eax
        END
        mov %cr4, %rax
        or $0x80, %rax          /* PGE */
        mov %rax, %cr4
        mov GLOBAL, %eax
        movl $0, window_table + 56
        invlpg GLOBAL
        TRY "INVLPG invalidates a global page", 14, 0
        mov GLOBAL, %eax
        END
        movl $page + 0x107, window_table + 56
        mov GLOBAL, %eax
        movl $0, window_table + 56
        mov %cr4, %rax
        and $~0x80, %rax
        mov %rax, %cr4
        TRY "clearing CR4.PGE invalidates global pages", 14, 0
        mov GLOBAL, %eax
        END
        TRY "INVLPG of an address that is not canonical does nothing", none
        mov $NONCANONICAL, %rax
        invlpg (%rax)
        END

        /* XD is reserved while EFER.NXE is 0. */
        READ_MSR 0xc0000080
        btr $11, %eax
        xor %edx, %edx
        wrmsr
        mov %cr3, %rax
        mov %rax, %cr3
        TRY "EFER.NXE = 0: bit 63 is reserved: P RSVD", 14, 9
        mov NO_EXECUTE, %eax
        END
        jmp finish
