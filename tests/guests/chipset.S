/*
 * The I/O APIC, the HPET, ACPI's timer. Intel 82093AA data sheet, "Register Description"; SDM vol. 3 "Logical
 * Destination Mode", "Lowest Priority Delivery Mode"; Intel, "IA-PC HPET Specification", "Register Definitions"; ACPI
 * Specification, "Power Management Timer".
 */
#include "long.inc"
#include "pc.inc"

        .set IOAPIC, 0xfec00000
        .set HPET, 0xfed00000
        .set LDR, 0xd0
        .set TMR, 0x180
        .set LEVEL, 0x8000
        .set LOW, 0x2000
        .set REMOTE_IRR, 0x4000
        .set LOGICAL, 0x800
        .set CONF, 0x10         /* of the HPET */
        .set STATUS, 0x20
        .set COUNTER, 0xf0
        .set TIMER, 0x100
        .set PM_TIMER, 0x608

/* PIN n, low[, destination]: an entry of the redirection table. */
        .macro PIN n, low, to=0
        movl $0x11 + 2 * (\n), (%r14)
        movl $(\to) << 24, 0x10(%r14)
        movl $0x10 + 2 * (\n), (%r14)
        movl $\low, 0x10(%r14)
        .endm
/* ENTRY n: its low half in RAX. */
        .macro ENTRY n
        movl $0x10 + 2 * (\n), (%r14)
        mov 0x10(%r14), %eax
        .endm
        .macro LOCAL_EOI
        movl $0, EOI(%r15)
        .endm
/* FROM_NOW ticks, timer: its comparator. */
        .macro FROM_NOW ticks, timer=0
        mov COUNTER(%r13), %rax
        add $\ticks, %rax
        mov %rax, TIMER + 8 + 0x20 * (\timer)(%r13)
        .endm

main:   mov $0xfee00000, %r15d
        mov $IOAPIC, %r14d
        mov $HPET, %r13d
        movl $IOAPIC + 0x87, high_directory + 0x1f6 * 8
        mov %cr3, %rax
        mov %rax, %cr3
        movl $0x1ff, SVR(%r15)
        movl $MASKED + EXTINT, LVT_LINT0(%r15)
        PIT 0x30, 0xff, 0xff
        PIC_INIT 1
        OPEN 0

        /* ---- I/O APIC ---- */
        movl $1, (%r14)
        mov 0x10(%r14), %eax
        shr $16, %eax
        movzbl %al, %eax
        EQUAL "the I/O APIC's last pin is 23", %rax, $23
        ENTRY 5
        and $MASKED, %eax
        EQUAL "a pin is masked at first", %rax, $MASKED
        PIN 4, MASKED + 0x44
        RAISE_4
        PIN 4, 0x44
        NOT_COME "an edge on a masked pin is lost"
        RAISE_4
        COMES "one on an open pin comes", 0x44
        mov TMR + 0x20(%r15), %eax
        EQUAL "TMR: an edge", %rax, $0
        LOCAL_EOI
        NOT_COME "an edge comes once"
        LOCAL_EOI
        PIN 4, LOW + 0x45
        GET UART
        COMES "active low: the falling edge", 0x45
        LOCAL_EOI

        PIN 4, MASKED + LEVEL + 0x44
        RAISE_4
        NOT_COME "a level on a masked pin does not come"
        LOCAL_EOI
        PIN 4, LEVEL + 0x44
        COMES "unmasked, it comes", 0x44
        mov TMR + 0x20(%r15), %eax
        EQUAL "TMR: a level", %rax, $0x10
        ENTRY 4
        and $REMOTE_IRR, %eax
        EQUAL "Remote IRR is set", %rax, $REMOTE_IRR
        LOCAL_EOI
        COMES "after EOI it comes again", 0x44
        GET UART
        LOCAL_EOI
        ENTRY 4
        and $REMOTE_IRR, %eax
        EQUAL "EOI clears Remote IRR", %rax, $0
        NOT_COME "and no level, no interrupt"

        movl $0x02000000, LDR(%r15)
        PIN 4, LOGICAL + 0x44, 1
        RAISE_4
        NOT_COME "another logical destination"
        PIN 4, LOGICAL + 0x44, 3
        RAISE_4
        COMES "its own among others", 0x44
        LOCAL_EOI
        PIN 4, 0x44, 0x55
        RAISE_4
        NOT_COME "another physical destination"
        PIN 4, 0x44, 0xff
        RAISE_4
        COMES "all", 0x44
        LOCAL_EOI
        PIN 4, 0x100 + 0x46
        RAISE_4
        COMES "lowest priority: there is only one", 0x46
        LOCAL_EOI
        PIN 4, 0x400 + 0x46
        TRY "NMI", 2
        RAISE_4
        nop
        END
        IRET_TO 1f
1:      PIN 4, MASKED

        /* Pin 0: the 8259s */
        PIN 0, EXTINT
        OPEN 0x10
        RAISE_4
        COMES "ExtINT through pin 0: the 8259's vector", BASE + 4
        PUT MASTER, 0x20
        RAISE_4
        OPEN 0
        COMES "masked before INTA: a spurious IRQ 7", BASE + 7
        READ_ISR
        EQUAL "which is not in service", %rax, $0
        GET UART
        PIN 0, MASKED
        OPEN 0

        /* Pin 2: IRQ 0 */
        PIN 2, 0x42
        PIT 0x34, 0xa9, 4
        COMES "IRQ 0 is at pin 2", 0x42
        LOCAL_EOI
        COMES "again and again", 0x42
        LOCAL_EOI
        PIT 0x30, 0xff, 0xff

        /* ---- HPET ---- */
        mov (%r13), %eax
        shr $8, %eax
        and $0x1f, %eax
        cmp $2, %eax
        CHECK "the HPET has three timers at least", ae
        mov 4(%r13), %eax
        dec %eax
        cmp $0x05f5e100, %eax
        CHECK "a period of 100 ns at most", b
        movl $0, CONF(%r13)
        movq $0, COUNTER(%r13)
        call wait
        mov COUNTER(%r13), %rax
        EQUAL "halted, it does not count", %rax, $0
        movl $3, CONF(%r13)     /* runs, stands for the 8254 and the clock */
        PIT 0x34, 0xa9, 4
        call wait
        cmpl $0, COUNTER(%r13)
        CHECK "running, it does", ne
        NOT_COME "the 8254 interrupts no more"
        movl $0x4, TIMER(%r13)
        FROM_NOW 20000
        COMES "timer 0 does", 0x42
        LOCAL_EOI
        NOT_COME "once"
        movl $0x4c, TIMER(%r13)
        FROM_NOW 20000
        movq $30000, TIMER + 8(%r13)
        COMES "periodic", 0x42
        LOCAL_EOI
        mov COUNTER(%r13), %r12
        COMES "the period after", 0x42
        LOCAL_EOI
        mov COUNTER(%r13), %rax
        sub %r12, %rax
        cmp $33000, %rax
        CHECK "is the one written last", b
        movl $0, TIMER(%r13)
        PIN 8, 0x48
        movl $0x4, TIMER + 0x20(%r13)
        FROM_NOW 20000, 1
        COMES "timer 1 is where the clock was", 0x48
        LOCAL_EOI
        movl $0, TIMER + 0x20(%r13)
        PIN 20, LEVEL + 0x54
        movl $(20 << 9) + 6, TIMER + 0x40(%r13)
        FROM_NOW 20000, 2
        COMES "timer 2 at pin 20, a level", 0x54
        mov STATUS(%r13), %rax
        EQUAL "its status", %rax, $4
        LOCAL_EOI
        COMES "lasts", 0x54
        movl $4, STATUS(%r13)
        LOCAL_EOI
        NOT_COME "until a 1 is written to it"
        mov STATUS(%r13), %rax
        EQUAL "and the status is clear", %rax, $0
        movl $0, CONF(%r13)
        COMES "without the HPET the 8254 interrupts again", 0x42
        LOCAL_EOI
        PIN 2, MASKED

        /* ---- ACPI's timer: 3.579545 MHz, a quarter of the HPET's ---- */
        mov $PM_TIMER, %edx
        in %dx, %eax
        mov %eax, %r12d
        call wait
        in %dx, %eax
        sub %r12d, %eax
        and $0xffffff, %eax
        mov %eax, %r11d
        CHECK "ACPI's timer counts", nz
        movl $1, CONF(%r13)
        in %dx, %eax
        mov %eax, %r12d
        mov COUNTER(%r13), %r11
        call wait
        in %dx, %eax
        sub %r12d, %eax
        mov COUNTER(%r13), %rcx
        sub %r11, %rcx
        shl $2, %eax
        sub %ecx, %eax
        add $8, %eax
        cmp $16, %eax
        CHECK "at a quarter of the HPET's rate", b

        /* What does not switch off: no SLP_EN, another type. */
        mov $0x604, %edx
        in %dx, %ax
        movzwl %ax, %eax
        and $1, %eax
        EQUAL "ACPI mode is on", %rax, $1
        mov $5 << 10, %eax
        out %ax, %dx
        mov $0x2000, %eax
        out %ax, %dx
        PUT 0xcf9, 2
        PUT 0xcf9, 2
        TRY "still here", none
        END
        jmp finish
