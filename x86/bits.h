/* 64-bit constants that both C and GNU as read. */
#ifndef PMULAB_X86_BITS_H
#define PMULAB_X86_BITS_H

#ifdef __ASSEMBLER__
#define ARCH_U64(x) x
#else
#define ARCH_U64(x) x##ULL
#endif
#define ARCH_BIT(n) (ARCH_U64(1) << (n))

#endif
