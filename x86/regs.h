/*
 * The processor's own registers: control registers, RFLAGS, debug registers, paging-structure
 * entries, page-fault error codes, exception vectors. Intel SDM vol. 3. Read by C and by GNU as.
 */
#ifndef PMULAB_X86_REGS_H
#define PMULAB_X86_REGS_H

#include "x86/bits.h"

/* Control registers, SDM vol. 3 "Control Registers". */
#define CR0_PE         (1 << 0)
#define CR0_MP         (1 << 1)
#define CR0_EM         (1 << 2)
#define CR0_TS         (1 << 3)
#define CR0_ET         (1 << 4)
#define CR0_NE         (1 << 5)
#define CR0_WP         (1 << 16)
#define CR0_AM         (1 << 18)
#define CR0_NW         (1 << 29)
#define CR0_CD         (1 << 30)
#define CR0_PG         ARCH_BIT(31)
#define CR3_PCID       0xfff        /* with CR4.PCIDE */
#define CR3_NO_FLUSH   ARCH_BIT(63) /* of what is written to it, likewise */
#define CR4_VME        (1 << 0)
#define CR4_PVI        (1 << 1)
#define CR4_TSD        (1 << 2)
#define CR4_DE         (1 << 3)
#define CR4_PSE        (1 << 4)
#define CR4_PAE        (1 << 5)
#define CR4_MCE        (1 << 6)
#define CR4_PGE        (1 << 7)
#define CR4_PCE        (1 << 8)
#define CR4_OSFXSR     (1 << 9)
#define CR4_OSXMMEXCPT (1 << 10)
#define CR4_UMIP       (1 << 11)
#define CR4_VMXE       (1 << 13)
#define CR4_SMXE       (1 << 14)
#define CR4_FSGSBASE   (1 << 16)
#define CR4_PCIDE      (1 << 17)
#define CR4_OSXSAVE    (1 << 18)
#define CR4_SMEP       (1 << 20)
#define CR4_SMAP       (1 << 21)
#define CR4_PKE        (1 << 22)

/* RFLAGS, SDM vol. 1 "EFLAGS Register". */
#define RFLAGS_CF     (1 << 0)
#define RFLAGS_FIXED1 (1 << 1)
#define RFLAGS_PF     (1 << 2)
#define RFLAGS_AF     (1 << 4)
#define RFLAGS_ZF     (1 << 6)
#define RFLAGS_SF     (1 << 7)
#define RFLAGS_TF     (1 << 8)
#define RFLAGS_IF     (1 << 9)
#define RFLAGS_DF     (1 << 10)
#define RFLAGS_OF     (1 << 11)
#define RFLAGS_IOPL   (3 << 12)
#define RFLAGS_NT     (1 << 14)
#define RFLAGS_RF     (1 << 16)
#define RFLAGS_VM     (1 << 17)
#define RFLAGS_AC     (1 << 18)
#define RFLAGS_VIF    (1 << 19)
#define RFLAGS_VIP    (1 << 20)
#define RFLAGS_ID     (1 << 21)

/* Debug registers, SDM vol. 3 "Debug Registers". */
#define DR6_B0     (1 << 0)
#define DR6_BD     (1 << 13)
#define DR6_BS     (1 << 14)
#define DR6_BT     (1 << 15)
#define DR6_FIXED1 ARCH_U64(0xffff0ff0)
#define DR7_FIXED1 (1 << 10)
#define DR7_GD     (1 << 13)

/* Paging-structure entries, SDM vol. 3 "Paging". */
#define PTE_P    ARCH_BIT(0)
#define PTE_RW   ARCH_BIT(1)
#define PTE_US   ARCH_BIT(2)
#define PTE_PWT  ARCH_BIT(3)
#define PTE_PCD  ARCH_BIT(4)
#define PTE_A    ARCH_BIT(5)
#define PTE_D    ARCH_BIT(6)
#define PTE_PS   ARCH_BIT(7)
#define PTE_G    ARCH_BIT(8)
#define PTE_XD   ARCH_BIT(63)
#define PTE_ADDR ARCH_U64(0x000ffffffffff000)

/* Page-fault error code, SDM vol. 3 "Interrupt 14 - Page-Fault Exception". */
#define PF_P    (1 << 0)
#define PF_W    (1 << 1)
#define PF_U    (1 << 2)
#define PF_RSVD (1 << 3)
#define PF_I    (1 << 4)

/* Exception vectors, SDM vol. 3 "Exception and Interrupt Vectors". */
#define VEC_DE  0
#define VEC_DB  1
#define VEC_NMI 2
#define VEC_BP  3
#define VEC_OF  4
#define VEC_BR  5
#define VEC_UD  6
#define VEC_NM  7
#define VEC_DF  8
#define VEC_TS  10
#define VEC_NP  11
#define VEC_SS  12
#define VEC_GP  13
#define VEC_PF  14
#define VEC_MF  16
#define VEC_AC  17
#define VEC_MC  18
#define VEC_XM  19
#define VEC_VE  20

#endif
