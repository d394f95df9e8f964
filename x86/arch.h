/* All of the numbers at once, for C and GNU as. */
#ifndef PMULAB_X86_ARCH_H
#define PMULAB_X86_ARCH_H

#include "x86/apic.h"
#include "x86/bits.h"
#include "x86/cpuid.h"
#include "x86/debug_exit.h"
#include "x86/events.h"
#include "x86/msr.h"
#include "x86/pmu.h"
#include "x86/regs.h"

#endif
