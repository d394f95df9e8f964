/*
 * Who made a processor, and what follows from that alone: facts that no CPUID bit tells. vendor is
 * the twelve letters of CPUID.0. Pure.
 */
#ifndef PMULAB_X86_MAKER_H
#define PMULAB_X86_MAKER_H

#include <stdbool.h>
#include <stdint.h>

/* AMD's processors are also made by Hygon. */
enum maker { MAKER_OTHER, MAKER_INTEL, MAKER_AMD };
enum maker maker_of(const char *vendor);

/* SYSENTER runs in 64-bit mode too, where CPUID.1:EDX[11] has it. */
bool maker_has_sysenter64(const char *vendor);

/* Where the revision of the loaded microcode update stands in IA32_BIOS_SIGN_ID (8BH): in which
 * half, in the upper after the register was cleared and CPUID run, in the lower at any time. */
enum maker_revision { REVISION_UNKNOWN, REVISION_UPPER, REVISION_LOWER };
enum maker_revision maker_revision(const char *vendor);

/* The crystal that CPUID.15H:ECX does not tell, in Hz; 0: unknown. */
uint32_t maker_crystal_hz(const char *vendor, uint32_t family, uint32_t model);

#endif
