/*
 * The segments of the GDT. Read by C and by GNU as.
 *
 * The order serves both fast system calls. SYSCALL loads CS from IA32_STAR[47:32] and SS from the
 * next descriptor; SYSRET takes SS 8 and the 64-bit CS 16 above IA32_STAR[63:48] (SDM vol. 2
 * "SYSCALL", "SYSRET"). SYSENTER takes CS from IA32_SYSENTER_CS and SS 8 above; SYSEXIT to 64-bit
 * code takes CS 32 and SS 40 above, to 32-bit code CS 16 and SS 24 above (SDM vol. 2 "SYSENTER",
 * "SYSEXIT"). So: IA32_STAR = SEG_USER_CODE32 << 48 | SEG_KERNEL_CODE << 32, IA32_SYSENTER_CS =
 * SEG_KERNEL_CODE, and the user data segment stands twice.
 */
#ifndef PMULAB_SEGMENTS_H
#define PMULAB_SEGMENTS_H

#define SEG_KERNEL_CODE       0x08
#define SEG_KERNEL_DATA       0x10
#define SEG_USER_CODE32       0x18
#define SEG_USER_DATA         0x20
#define SEG_USER_CODE64       0x28
#define SEG_USER_DATA_SYSEXIT 0x30
#define SEG_TSS               0x38 /* 16 bytes in 64-bit mode */
#define SEG_PERCPU            0x48
#define GDT_ENTRIES           10

/* Descriptors, SDM vol. 3 "Segment Descriptors": base 0, limit 4 GiB, accessed already set. */
#define DESCRIPTOR_KERNEL_CODE 0x00af9b000000ffff
#define DESCRIPTOR_KERNEL_DATA 0x00cf93000000ffff
#define DESCRIPTOR_USER_CODE32 0x00cffb000000ffff
#define DESCRIPTOR_USER_DATA   0x00cff3000000ffff
#define DESCRIPTOR_USER_CODE64 0x00affb000000ffff
#define DESCRIPTOR_CODE32      0x00cf9b000000ffff

#define SEG_RPL 3

#endif
