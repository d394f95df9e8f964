/* The local APIC's registers and their bits, SDM vol. 3 "Advanced Programmable Interrupt
 * Controller". Read by C and by GNU as. */
#ifndef PMULAB_X86_APIC_H
#define PMULAB_X86_APIC_H

#include "x86/bits.h"

/* Local APIC, SDM vol. 3 "Local APIC Register Address Map" (offsets in the xAPIC page; the x2APIC
 * MSR is MSR_X2APIC_BASE + offset / 16). */
#define APIC_DEFAULT_BASE           0xfee00000
#define APIC_ID                     0x20
#define APIC_VERSION                0x30
#define APIC_TPR                    0x80
#define APIC_PPR                    0xa0
#define APIC_EOI                    0xb0
#define APIC_LDR                    0xd0
#define APIC_DFR                    0xe0
#define APIC_SVR                    0xf0
#define APIC_ISR                    0x100
#define APIC_TMR                    0x180
#define APIC_IRR                    0x200
#define APIC_ESR                    0x280
#define APIC_LVT_CMCI               0x2f0
#define APIC_ICR                    0x300
#define APIC_ICR_HIGH               0x310
#define APIC_LVT_TIMER              0x320
#define APIC_LVT_THERMAL            0x330
#define APIC_LVT_PERFMON            0x340
#define APIC_LVT_LINT0              0x350
#define APIC_LVT_LINT1              0x360
#define APIC_LVT_ERROR              0x370
#define APIC_TIMER_INITIAL          0x380
#define APIC_TIMER_CURRENT          0x390
#define APIC_TIMER_DIVIDE           0x3e0
#define APIC_SELF_IPI               0x3f0
#define APIC_ESR_SEND_CHECKSUM      (1 << 0)
#define APIC_ESR_RECEIVE_CHECKSUM   (1 << 1)
#define APIC_ESR_SEND_ACCEPT        (1 << 2)
#define APIC_ESR_RECEIVE_ACCEPT     (1 << 3)
#define APIC_ESR_REDIRECTIBLE_IPI   (1 << 4)
#define APIC_ESR_SEND_ILLEGAL       (1 << 5)
#define APIC_ESR_RECEIVE_ILLEGAL    (1 << 6)
#define APIC_ESR_ILLEGAL_REGISTER   (1 << 7)
#define APIC_SVR_VECTOR             0xff
#define APIC_SVR_ENABLE             (1 << 8)
#define APIC_LVT_VECTOR             0xff
#define APIC_LVT_DELIVERY           (7 << 8)
#define APIC_LVT_DELIVERY_FIXED     (0 << 8)
#define APIC_LVT_DELIVERY_NMI       (4 << 8)
#define APIC_LVT_PENDING            (1 << 12)
#define APIC_LVT_ACTIVE_LOW         (1 << 13)
#define APIC_LVT_REMOTE_IRR         (1 << 14)
#define APIC_LVT_TRIGGER_LEVEL      (1 << 15)
#define APIC_LVT_MASK               (1 << 16)
#define APIC_LVT_TIMER_MODE         (3 << 17)
#define APIC_LVT_TIMER_PERIODIC     (1 << 17)
#define APIC_LVT_TIMER_TSC_DEADLINE (2 << 17)
#define APIC_ICR_VECTOR             0xff
#define APIC_ICR_DELIVERY           (7 << 8)
#define APIC_ICR_INIT               (5 << 8)
#define APIC_ICR_STARTUP            (6 << 8)
#define APIC_ICR_LOGICAL            (1 << 11)
#define APIC_ICR_PENDING            (1 << 12)
#define APIC_ICR_LEVEL_ASSERT       (1 << 14)
#define APIC_ICR_TRIGGER_LEVEL      (1 << 15)
#define APIC_ICR_SHORTHAND          (3 << 18)
#define APIC_ICR_SHORTHAND_SHIFT    18
#define APIC_ICR_DESTINATION        ARCH_U64(0xffffffff00000000) /* in the x2APIC */

#endif
