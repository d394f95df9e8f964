/*
 * The devices of a PC that interrupt through the 8259 pair and LINT0: 8254, 16550, clock. Intel 8259A data sheet,
 * "Fully Nested Mode", "Rotation", "Special Mask Mode", "Poll Command"; Intel 82C54 data sheet, "Mode Definitions";
 * National Semiconductor PC16550D data sheet, "Registers"; Motorola MC146818A data sheet, "Registers"; SDM vol. 3
 * "Local Vector Table" for ExtINT.
 *
 * IRQ 4 is raised at once by a byte in loopback; IRQ 0 and IRQ 8 come with the time. OUT2 lets IRQ 4 through, and
 * what this guest prints goes out by the same chip: no interrupt of the transmitter outlasts a line of it.
 */
#include "long.inc"
#include "pc.inc"

main:   mov $0xfee00000, %r15d
        movl $0x1ff, SVR(%r15)
        movl $MASKED + EXTINT, LVT_LINT0(%r15)
        PIT 0x30, 0xff, 0xff    /* IRQ 0 is low */
        PIC_INIT 1
        PUT SLAVE + 1, 0xff
        PUT MASTER + 1, 0xfb
        GET MASTER + 1
        EQUAL "the 8259's mask reads back", %rax, $0xfb

        /* ---- The way to the processor ---- */
        OPEN 0x10
        RAISE_4
        READ_IRR
        and $0x10, %eax
        EQUAL "IRR shows the request", %rax, $0x10
        NOT_COME "with LINT0 masked it does not come"
        movl $EXTINT, LVT_LINT0(%r15)
        movl $0xf0, 0x80(%r15)
        COMES "with ExtINT it comes, whatever the TPR", BASE + 4
        movl $0, 0x80(%r15)
        mov 0x100 + 0x10(%r15), %eax
        EQUAL "it is not the local APIC that has it in service", %rax, $0
        READ_ISR
        EQUAL "it is the 8259", %rax, $0x10
        READ_IRR
        and $0x10, %eax
        EQUAL "an edge asks once", %rax, $0
        RAISE_4
        NOT_COME "in service, it waits for EOI"
        PUT MASTER, 0x20
        COMES "and comes after it", BASE + 4
        PUT MASTER, 0x63
        READ_ISR
        EQUAL "a specific EOI of another level ends nothing", %rax, $0x10
        PUT MASTER, 0x64
        READ_ISR
        EQUAL "a specific EOI ends its own", %rax, $0
        RAISE_4
        PUT UART + 1, 0
        READ_IRR
        and $0x10, %eax
        EQUAL "a request whose line falls is gone", %rax, $0
        PIC_INIT 1
        OPEN 0
        RAISE_4
        NOT_COME "masked, it does not come"
        movl $MASKED + EXTINT, LVT_LINT0(%r15)
        OPEN 0x10
        movl $EXTINT, LVT_LINT0(%r15)
        COMES "unmasked, it comes", BASE + 4
        PUT MASTER, 0x20

        /* LINT0 with a vector of its own */
        OPEN 0
        RAISE_4
        movl $0x55, LVT_LINT0(%r15)
        OPEN 0x10
        COMES "LINT0 as a fixed interrupt", 0x55
        movl $0, EOI(%r15)
        READ_IRR
        and $0x10, %eax
        EQUAL "is not acknowledged to the 8259", %rax, $0x10
        movl $EXTINT, LVT_LINT0(%r15)
        COMES "which still has it", BASE + 4
        PUT MASTER, 0x20

        /* ---- Priorities ---- */
        PIT 0x30, 0xff, 0xff
        PIC_INIT 1
        OPEN 0x11
        RAISE_4
        COMES "IRQ 4 is taken", BASE + 4
        PIT 0x30, 0x10, 0
        COMES "IRQ 0 comes over it", BASE
        READ_ISR
        EQUAL "both are in service", %rax, $0x11
        PUT MASTER, 0x20
        READ_ISR
        EQUAL "EOI ends the higher", %rax, $0x10
        PUT MASTER, 0x20
        PIT 0x30, 0x10, 0
        COMES "IRQ 0 is taken", BASE
        RAISE_4
        NOT_COME "IRQ 4 does not come over it"
        PUT MASTER, 0x68        /* special mask mode */
        PUT MASTER + 1, 0xef    /* with IRQ 0 masked */
        COMES "in special mask mode it does", BASE + 4
        READ_ISR
        EQUAL "now both are in service", %rax, $0x11
        PUT MASTER, 0x64
        PUT MASTER, 0x60
        PUT MASTER, 0x48
        READ_ISR
        EQUAL "specific EOIs end both", %rax, $0
        PUT MASTER, 0xc0        /* IRQ 0 is the lowest */
        OPEN 0x11
        PIT 0x30, 0x10, 0
        call wait
        RAISE_4
        COMES "after a rotation IRQ 4 is above IRQ 0", BASE + 4
        PUT MASTER, 0xa0        /* rotate on EOI */
        RAISE_4
        COMES "rotated on EOI, it is below", BASE
        PUT MASTER, 0x20
        COMES "and comes then", BASE + 4
        PUT MASTER, 0x20
        PUT MASTER, 0xc7

        /* ---- Poll, automatic EOI, levels ---- */
        RAISE_4
        PUT MASTER, 0x0c
        GET MASTER
        EQUAL "a poll answers with the level", %rax, $0x84
        READ_ISR
        EQUAL "and has acknowledged it", %rax, $0x10
        PUT MASTER, 0x0c
        GET MASTER
        and $0x80, %eax
        EQUAL "a poll of nothing has bit 7 clear", %rax, $0
        PUT MASTER, 0x20
        PIC_INIT 3
        OPEN 0x10
        RAISE_4
        COMES "with automatic EOI it comes", BASE + 4
        READ_ISR
        EQUAL "and is not in service", %rax, $0
        PIC_INIT 1
        GET MASTER + 1
        EQUAL "ICW1 clears the mask", %rax, $0
        OPEN 0x10
        PUT 0x4d0, 0xff
        GET 0x4d0
        EQUAL "IRQ 0, 1 and 2 are edges always", %rax, $0xf8
        PUT 0x4d0, 0x10
        RAISE_4
        COMES "a level comes", BASE + 4
        PUT MASTER, 0x20
        COMES "and comes again while it lasts", BASE + 4
        GET UART
        PUT MASTER, 0x20
        NOT_COME "and no more afterwards"
        PUT 0x4d0, 0

        /* ---- The slave: the clock's periodic interrupt, 1024 Hz ---- */
        CLOCK 0x0a, 0x26
        CLOCK 0x0b, 0x42
        READ_CLOCK 0x0c
        OPEN 0x104
        COMES "IRQ 8 comes through the slave", SLAVE_BASE
        READ_ISR
        EQUAL "the master has IRQ 2 in service", %rax, $4
        READ_ISR SLAVE
        EQUAL "the slave IRQ 8", %rax, $1
        READ_CLOCK 0x0c
        EQUAL "register C: IRQF and PF", %rax, $0xc0
        PUT SLAVE, 0x20
        PUT MASTER, 0x20
        COMES "the next period", SLAVE_BASE
        PUT SLAVE, 0x20
        PUT MASTER, 0x20
        NOT_COME "IRQF not cleared: no other edge"
        CLOCK 0x0b, 0x12
        READ_CLOCK 0x0c
        READ_CLOCK 0x0c
        and $0xc0, %eax
        EQUAL "a read of register C clears it", %rax, $0
        COMES "the update-ended interrupt", SLAVE_BASE
        READ_CLOCK 0x0c
        and $0x90, %eax
        EQUAL "register C: IRQF and UF", %rax, $0x90
        PUT SLAVE, 0x20
        PUT MASTER, 0x20
        CLOCK 1, 0xc0
        CLOCK 3, 0xc0
        CLOCK 5, 0xc0
        CLOCK 0x0b, 0x22
        COMES "an alarm of don't-care codes", SLAVE_BASE
        READ_CLOCK 0x0c
        and $0xa0, %eax
        EQUAL "register C: IRQF and AF", %rax, $0xa0
        PUT SLAVE, 0x20
        PUT MASTER, 0x20
        CLOCK 0x0b, 0x02
        READ_CLOCK 0x0d
        EQUAL "register D: valid RAM and time", %rax, $0x80
        CLOCK 0x0b, 0x82
        CLOCK 0, 0x59
        CLOCK 2, 0x59
        CLOCK 4, 0x23
        CLOCK 6, 0x03
        CLOCK 7, 0x28
        CLOCK 8, 0x02
        CLOCK 9, 0x23
        CLOCK 0x0b, 0x12
        READ_CLOCK 0x0c
        COMES "set to the last second of 28 February 2023", SLAVE_BASE
        PUT SLAVE, 0x20
        PUT MASTER, 0x20
        READ_CLOCK 8
        EQUAL "then it is March", %rax, $3
        READ_CLOCK 7
        EQUAL "the first", %rax, $1
        READ_CLOCK 4
        EQUAL "at midnight", %rax, $0
        READ_CLOCK 6
        EQUAL "and the next day of the week", %rax, $4
        CLOCK 0x0b, 0x02
        READ_CLOCK 0x0c
        OPEN 0

        /* ---- 8254 ---- */
        OPEN 1
        PIT 0x34, 0xa9, 4       /* mode 2: 1 kHz */
        COMES "mode 2 interrupts", BASE
        PUT MASTER, 0x20
        COMES "again and again", BASE
        PUT MASTER, 0x20
        PIT 0x36, 0xa9, 4
        COMES "mode 3 interrupts", BASE
        PUT MASTER, 0x20
        COMES "once a period", BASE
        PUT MASTER, 0x20
        PUT 0x43, 0
        call latched
        test $1, %eax
        CHECK "it counts by two", z
        PIT 0x38, 0xa9, 4
        COMES "mode 4 interrupts", BASE
        PUT MASTER, 0x20
        NOT_COME "the strobe comes once"
        PIT 0x30, 0xff, 0xff
        PUT 0x43, 0xe2
        GET 0x40
        and $0xbf, %eax
        EQUAL "mode 0: the output is low while it counts", %rax, $0x30
        PIT 0x30, 0x20, 0
        COMES "and its rise interrupts", BASE
        PUT MASTER, 0x20
        PUT 0x43, 0xe2
        GET 0x40
        EQUAL "it stays high", %rax, $0xb0
        NOT_COME "without another interrupt"
        PUT 0x43, 0x30
        PUT 0x43, 0xe2
        GET 0x40
        EQUAL "a control word makes it low, with a null count", %rax, $0x70
        OPEN 0

        /* Channel 2 */
        PUT 0x61, 0
        PUT 0x43, 0xb0
        PUT 0x42, 0x40
        PUT 0x42, 0
        call wait
        GET 0x61
        and $0x20, %eax
        EQUAL "with its gate low channel 2 does not count", %rax, $0
        PUT 0x61, 1
        mov $ROUNDS, %ecx
1:      GET 0x61
        test $0x20, %al
        loopz 1b
        CHECK "with it high it does, and OUT 2 rises", nz
        PUT 0x61, 0

        /* ---- 16550 ---- */
        PUT UART + 1, 0
        GET UART + 1
        EQUAL "IER: 0", %rax, $0
        PUT UART + 1, 0xff
        GET UART + 1
        EQUAL "IER has four bits", %rax, $0xf
        PUT UART + 1, 0
        PUT UART + 4, 0x1a
        GET UART + 6
        and $0xf0, %eax
        mov %eax, %r12d
        GET UART + 6
        PUT UART + 4, 0x18
        GET UART + 6
        and $1, %eax
        mov %eax, %r13d
        GET UART + 6
        and $1, %eax
        mov %eax, %r14d
        PUT UART + 4, 8         /* before anything is printed */
        EQUAL "loopback: RTS is CTS, OUT2 is DCD", %r12, $0x90
        EQUAL "MSR says that CTS changed", %r13, $1
        EQUAL "and says so once", %r14, $0
        PUT UART + 2, 1
        GET UART + 2
        EQUAL "IIR: FIFOs, no interrupt", %rax, $0xc1
        PUT UART + 3, 0x83
        GET UART
        mov %eax, %r12d
        PUT UART, 0x55
        PUT UART + 3, 3
        GET UART + 1
        EQUAL "the divisor latch is not IER", %rax, $0
        PUT UART + 3, 0x83
        GET UART
        mov %eax, %r13d
        mov %r12d, %eax
        out %al, %dx
        PUT UART + 3, 3
        EQUAL "and keeps what it is given", %r13, $0x55
        PUT UART + 2, 0x87      /* trigger at 8 bytes, FIFOs empty */
        PUT UART + 1, 1
        mov $7, %ecx
        call send
        GET UART + 2
        EQUAL "7 bytes of 8: no interrupt yet", %rax, $0xc1
        mov $1, %ecx
        call send
        GET UART + 2
        EQUAL "8 bytes: received data available", %rax, $0xc4
        GET UART
        EQUAL "they come out as they went in", %rax, $7
        GET UART + 2
        EQUAL "7 bytes again", %rax, $0xc1
        mov $ROUNDS, %ecx
1:      GET UART + 2
        cmp $0xcc, %al
        loopne 1b
        CHECK "which lie there: character timeout", e
        GET UART + 5
        and $3, %eax
        EQUAL "LSR: data ready, no overrun", %rax, $1
        PUT UART + 1, 5
        mov $10, %ecx
        call send
        GET UART + 2
        EQUAL "the 17th byte: line status, before all others", %rax, $0xc6
        GET UART + 5
        and $2, %eax
        EQUAL "overrun", %rax, $2
        GET UART + 5
        and $2, %eax
        EQUAL "which the read clears", %rax, $0
        PUT UART + 2, 0x07
        GET UART + 5
        and $1, %eax
        EQUAL "FCR empties the receiver", %rax, $0
        PUT UART + 1, 2
        GET UART + 2
        mov %eax, %r12d
        GET UART + 2
        EQUAL "enabled, the empty transmitter interrupts", %r12, $0xc2
        EQUAL "until IIR has said so", %rax, $0xc1
        OPEN 0x10
#ifndef TCG     /* QEMU lets the interrupt through without OUT2 */
        OPEN 0
        RAISE_4
        PUT UART + 4, 0
        OPEN 0x10
        NOT_COME "without OUT2 nothing leaves the chip"
        PUT MASTER, 0x20
        RAISE_4
        COMES "with it it does", BASE + 4
#endif
        OPEN 0x10
        PUT MASTER, 0x20
        GET UART
        PUT UART + 1, 2
        GET UART + 2
        PUT UART, 10
        COMES "a byte sent: empty again", BASE + 4
        PUT MASTER, 0x20
        PUT UART + 1, 0
        mov $20000, %ecx        /* 20 s at 9600 baud, for one who would wait */
        call send
        PUT UART + 2, 0x07
        PUT UART + 1, 2
        GET UART + 2
        rdtsc
        mov %edx, %r12d
        PUT UART, 10
        COMES "after a long text that nobody waited for, too", BASE + 4
        rdtsc
        sub %r12d, %edx
        shr $1, %edx            /* 2^33 ticks are 2 s at least */
        EQUAL "as soon as a FIFO is empty", %rdx, $0
        PUT MASTER, 0x20
        PUT UART + 1, 0
        OPEN 0
#ifndef TCG     /* QEMU has them */
        GET 0x64
        EQUAL "nobody is at port 64H", %rax, $0xff
        GET 0x87
        EQUAL "nor at the DMA's page registers", %rax, $0xff
#endif
        jmp finish

/* Sends itself ECX bytes: 7, 7 ... */
send:   PUT UART + 4, 0x18
1:      PUT UART, 7
        loop 1b
        PUT UART + 4, 8
        ret

/* Channel 0's latched count in EAX. */
latched:
        xor %eax, %eax
        in $0x40, %al
        mov %eax, %ecx
        in $0x40, %al
        shl $8, %eax
        or %ecx, %eax
        ret
