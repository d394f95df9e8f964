#!/usr/bin/env python3
"""Machines as hypervisors make them. Each was wrong once, or was not named."""

import harness
from misbehaving import CLEAN, see


def text(name, eax=0x40000001):
    """Leaf 40000000H of a hypervisor of that name: EAX the highest leaf, EBX, ECX and EDX the name."""
    raw = name.encode("latin-1").ljust(12, b"\0")
    words = [int.from_bytes(raw[i : i + 4], "little") for i in (0, 4, 8)]
    return "cpuid.0x40000000=" + " ".join(f"0x{word:x}" for word in [eax, *words])


SIGNATURES = [
    ("kvm", [], [], "run=15-2", CLEAN,
     ['\n# hypervisor "KVMKVMKVM" (CPUID.40000000H)\n1..', "\n# BIOS, a virtual machine: KVMKVMKVM\n"], ["?"]),
    ("kvm", [text("Microsoft Hv", 0x40000006)], [], "run=15-2", CLEAN,
     ['\n# hypervisor "Microsoft Hv" (CPUID.40000000H)\n1..', "\n# BIOS, a virtual machine: Microsoft Hv\n"], []),
    # "Note also that old hosts set eax value to 0x0" (Linux, Documentation/virt/kvm/x86/cpuid.rst).
    ("kvm", [text("KVMKVMKVM", 0)], [], "run=15-2", CLEAN,
     ['\n# hypervisor "KVMKVMKVM" (CPUID.40000000H)\n1..', "\n# BIOS, a virtual machine: KVMKVMKVM\n"], []),
    # What would spoil a line, or a screen, is not printed.
    ("kvm", [text("a\nb\x1b\x7f\xff")], [], "run=15-2", CLEAN,
     ['\n# hypervisor "a?b???" (CPUID.40000000H)\n1..', "\n# BIOS, a virtual machine: a?b???\n"], []),
    ("kvm", [text("")], [], "run=15-2", CLEAN,
     ["\n# a hypervisor (CPUID.1:ECX[31]) that gives no name in CPUID.40000000H\n1..",
      "\n# BIOS, a virtual machine\n"], ['hypervisor "']),
    # No such leaf: the data of the highest basic leaf stand there (SDM vol. 2 "CPUID"), here a frequency.
    ("skylake", ["cpuid.0x1=0x000506e3 0x00010800 0x81a02010 0x000bab7c"], [], "run=15-2", CLEAN,
     ["\n# a hypervisor (CPUID.1:ECX[31]) that gives no name in CPUID.40000000H\n1..",
      "\n# BIOS, a virtual machine\n"], ['hypervisor "']),
    # On a processor nothing is asked there.
    ("skylake", [text("KVMKVMKVM")], [], "run=15-2", CLEAN, ["\n# BIOS\n"], ["hypervisor", "virtual", "KVM"]),
]  # fmt: skip

see(SIGNATURES)
harness.done()
