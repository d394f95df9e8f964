#!/usr/bin/env python3
"""Machines as hypervisors make them. Each was wrong once, or was not named."""

import re

import harness
from misbehaving import CLEAN, FAILS, see


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

# Icelake as a guest: counters, LBR and PEBS, no BTS, which no hypervisor offers.
GUEST = ["cpuid.0x1=0x000706e5 0x00010800 0x81a02010 0x000bab7c", "pmu.bts=no"]
MASKED = "ex15-3 the local APIC left the LVT entry as it has to: masked, or open where it never masks\n"
OPEN = '  known: "KVM before Linux 6.6 (a16eb25b09c0) delivers a PMI without masking the entry"\n'
INJECTED = '  known: "a #DB that a hypervisor injects is recorded, and leaves LBR and BTF set (KVM)"\n'
LOST = '  known: "the WRMSR that opens the window is not counted: '
ONE_NOT_OK = ["\nnot ok - ex15-3 exactly", "\nnot ok - ex14", "\nnot ok - ex15-4", "\nnot ok - ex15-5", "\nnot ok - ex15-7",
              "\nnot ok - ex15-8", "\nnot ok - ex18", "unexpected NMI", "unexpected PMI", "one PMI twice"]  # fmt: skip
KNOWN = [
    # The LVT entry stays open: one check, by either delivery, on the other processor too.
    ("kvm", [], ["hypervisor=lvt-open", "cpus=2"], "run=all", FAILS, [f"\nnot ok - {MASKED}", OPEN], ONE_NOT_OK),
    ("kvm", [], ["hypervisor=lvt-open", "cpus=2"], "run=all pmi=nmi", FAILS, [f"\nnot ok - {MASKED}", OPEN], ONE_NOT_OK),
    ("icelake", GUEST, ["hypervisor=lvt-open"], "run=14-5,15-* pmi=nmi", FAILS, [f"\nnot ok - {MASKED}", OPEN], ONE_NOT_OK),
    # Version 1 has no status: the counter itself tells.
    ("merom", [], ["hypervisor=lvt-open", "cpus=2"], "run=15-3,18-15 pmi=nmi", FAILS, [f"\nnot ok - {MASKED}"],
     [*ONE_NOT_OK, "known:"]),
    # The same KVM may deliver one PMI twice: the second finds nothing.
    *[("kvm", [], ["hypervisor=lvt-open", "pmi=double"], f"run=15-3 pmi={pmi}", FAILS,
       ["\nnot ok - ex15-3 exactly one PMI arrives\n  ---\n  pmis: 1\n  unexpected: 1\n",
        '  known: "KVM before Linux 6.6 (73554b29bd70) may deliver one PMI twice"\n', ", 2 failed, "], [])
      for pmi in ("fixed", "nmi")],
    ("skylake", [], ["hypervisor=lvt-open", "pmi=double"], "run=15-3", FAILS,
     ["\nnot ok - ex15-3 exactly one PMI arrives\n  ---\n  pmis: 1\n  unexpected: 1\n"], ["known:"]),
    # What is past a fixed counter's width, dropped without #GP: on a processor it is a fault.
    ("kvm", [], ["hypervisor=fixed-drops"], "run=22-6", CLEAN, ['  known: "a hypervisor takes the write and drops the bit: KVM"\n'], []),
    ("skylake", [], ["hypervisor=fixed-drops"], "run=22-6", FAILS, ["\nnot ok - ex22-6 a bit more in a fixed counter is #GP", ", 1 failed, "],
     ["known:"]),
    # A processor's own fault has no excuse; and where all is well nothing is said.
    ("skylake", [], ["hypervisor=lvt-open"], "run=15-3", FAILS, [f"\nnot ok - {MASKED}"], [*ONE_NOT_OK, "known:"]),
    ("kvm", [], [], "run=15-3 pmi=nmi", CLEAN, [f"\nok - {MASKED}"], ["known:"]),
    # An NMI from elsewhere without an overflow is none of ours.
    ("kvm", [], ["hypervisor=lvt-open", "nmi=every:50000"], "run=15-3 pmi=nmi", FAILS,
     ["unexpected NMIs, the first at RIP", "\nok - ex15-3 the overflow status has the counter's bit in the handler\n"], ["unexpected PMI"]),
    # Instructions that the hypervisor executes are not counted: each exact count says why it is too low.
    ("kvm", [], ["hypervisor=uncounted", "cpus=2"], "run=15-*,18-*", FAILS,
     [f"\nnot ok - ex15-2 the empty window counts exactly the instructions of its listing\n  ---\n  measured: 5\n{LOST}",
      f"\n  window: 5\n  function: 10009\n{LOST}",
      "\nok - ex15-11 two counters of instructions agree exactly\n", f"\n  other0: 100013\n{LOST}",
      re.compile(rf"\n  nominal_cpi: \d\.\d+\n{re.escape(LOST)}"), f"\n  pmc0: 600005\n  expected: 600006\n{LOST}",
      f"\n  pmc0: 1200005\n  expected: 1200006\n{LOST}", ", 7 failed, "], ["\nnot ok - ex15-1 ", "\nnot ok - ex15-12"]),
    # They are the same in both of what is compared here.
    ("kvm", [], ["hypervisor=uncounted", "cpus=2"], "run=22-1,22-2,22-3", CLEAN, [], ["known:"]),
    ("skylake", [], ["hypervisor=uncounted"], "run=15-2,15-11,15-13", FAILS,
     ["\nnot ok - ex15-2 the empty window", ", 5 failed, "], ["known:"]),
    # A #DB that is injected: recorded, and the switches stay on. No other check suffers.
    ("icelake", GUEST, ["hypervisor=injects-db"], "run=14-5,14-8", FAILS,
     ["\nok - ex14-5 one #DB, at the breakpoint, with DR6.B0\n",
      f"\nnot ok - ex14-5 the #DB has switched the recording off before its handler ran\n  ---\n"
      f"  debugctl_in_handler: 0x4001\n{INJECTED}", f"\n  ---\n{INJECTED}  recorded: 4\n", f"\n  with_btf_still_set: 8\n{INJECTED}", ", 3 failed, ",
      "\nok - ex14-5 without FREEZE_LBRS_ON_PMI the records go on in the PMI handler\n"], []),
    ("icelake", GUEST[:1], ["hypervisor=injects-db"], "run=14-5", FAILS,
     [f"\n  debugctl_in_handler: 0x4041\n{INJECTED}", ", 3 failed, "], []),
    ("icelake", GUEST, [], "run=14-5,14-8", CLEAN, ["\nok - ex14-5 the #DB has switched"], ["known:"]),
    ("icelake", [], ["hypervisor=injects-db"], "run=14-5,14-8", FAILS, ["\nnot ok - ex14-5 the #DB has switched"], ["known:"]),
]  # fmt: skip

# A debug store that is announced and not there: CPUID.1:EDX[21], ECX[2] and IA32_MISC_ENABLE[12:11] say that it is.
STORE = ["pmu.contradictory=yes", "cpuid.0x1=0x000606a6 0x00010800 0x81a0a004 0x002bab7c", "cpuid.0xa=0x07300402 0 0 0x603",
         "pmu.misc_enable=0x81"]  # fmt: skip
NO_AREA = "IA32_DS_AREA (600H) cannot be set"
NO_ENABLE = "IA32_PEBS_ENABLE[0] cannot be set"
AGAINST = ", against CPUID.1:EDX[21] (DS) = 1\n"
ALL_DS = ["pmu.bts=yes", "pmu.ds64=yes", "pmu.pebs_counters=0xf"]
PROBED = [
    # KVM -cpu host on Ice Lake-SP: the writes are refused, or dropped.
    ("kvm", STORE, [], "run=all", CLEAN,
     [f"\n# note: no PEBS: {NO_AREA}{AGAINST}# note: no BTS: {NO_AREA}{AGAINST}",
      f"\nok - ex14-9 the debug store can be set up # SKIP no BTS: {NO_AREA}\n",
      f"\nok - ex15-5 the debug store can be set up and a counter samples the event # SKIP no PEBS: {NO_AREA}\n",
      "refused with #GP: WRMSR to 0x3f1, WRMSR to 0x600"], ["not ok"]),
    ("kvm", [*STORE, *ALL_DS], ["msr-ignore=0x1d9", "msr-ignore=0x3f1", "msr-ignore=0x600", "cpus=2"], "run=all", CLEAN,
     [f"\n# note: no PEBS: {NO_AREA}{AGAINST}# note: no BTS: {NO_AREA}{AGAINST}"], ["not ok"]),
    # Of it only IA32_DS_AREA: KVM keeps what is written there for whom it shows CPUID.1:EDX[21].
    ("kvm", [*STORE, *ALL_DS], ["msr=0x1d9", "msr=0x3f1"], "run=all", CLEAN,
     [f"\n# note: no PEBS: {NO_ENABLE}{AGAINST}# note: no BTS: IA32_DEBUGCTL[6] cannot be set{AGAINST}",
      f"\nok - ex15-5 the debug store can be set up and a counter samples the event # SKIP no PEBS: {NO_ENABLE}\n"], ["not ok"]),
    ("kvm", [*STORE, *ALL_DS], ["msr-ignore=0x3f1"], "run=14-9,15-5,15-9", CLEAN,
     [f"\n# note: no PEBS: {NO_ENABLE}{AGAINST}", "\nok - ex14-9 the index wraps and stays in the buffer\n"], ["not ok", "no BTS"]),
    # A processor that announces them has to have them.
    ("skylake", [], ["msr-ignore=0x3f1"], "run=15-5", FAILS, ["\nnot ok - ex15-5"], ["SKIP no PEBS"]),
    ("skylake", [], ["msr-ignore=0x600"], "run=14-9", FAILS, [f'ds_setup: "{NO_AREA}"'], ["SKIP no BTS"]),
    # What stands beside the counters, dropped as well.
    ("icelake", GUEST, ["msr-ignore=0x1c8"], "run=14-2,14-3,14-7", CLEAN,
     ["\nok - ex14-3 without a filter all branches are recorded # SKIP no LBR filter: MSR_LBR_SELECT (1C8H) cannot be set\n"], ["not ok"]),
    ("icelake", GUEST, ["msr-ignore=0x3f6"], "run=15-10", CLEAN,
     ["SKIP no load latency: MSR_PEBS_LD_LAT_THRESHOLD (3F6H) cannot be set\n"], ["not ok"]),
    ("icelake", [], ["msr-ignore=0x1c8"], "run=14-3", FAILS, ["\nnot ok - ex14-3 NEAR_RET"], ["cannot be set"]),
    ("icelake", [], ["msr-ignore=0x3f6"], "run=15-10", FAILS, ["\nnot ok - ex15-10 with a high threshold"], ["cannot be set"]),
    # The counters themselves are no SKIP, but the head says what makes everything fail.
    ("kvm", [], ["msr-ignore=0xc1", "msr=0x186"], "run=15-2", FAILS,
     ["\n# note: IA32_PMC0 (C1H) cannot be set, against CPUID.0AH\n"
      "# note: IA32_PERFEVTSEL0 (186H) cannot be set, against CPUID.0AH\n1..", "\nnot ok - ex15-2 "], ["note: IA32_FIX", "note: IA32_A"]),
    ("kvm", [], ["msr-ignore=0x4c1"], "run=15-3", FAILS,
     ["\n# note: IA32_A_PMC0 (4C1H) cannot be set, against IA32_PERF_CAPABILITIES[13]\n1..", "\nnot ok - ex15-3 "], []),
    ("kvm", [], ["msr-ignore=0x309", "msr-ignore=0x38d", "msr-ignore=0x38f"], "run=15-1", FAILS,
     ["\n# note: IA32_FIXED_CTR0 (309H) cannot be set, against CPUID.0AH\n"
      "# note: IA32_FIXED_CTR_CTRL (38DH) cannot be set, against CPUID.0AH\n"
      "# note: IA32_PERF_GLOBAL_CTRL (38FH) cannot be set, against CPUID.0AH\n1..",
      "\nnot ok - ex15-1 an all-ones write to a fixed counter"], ["note: IA32_PMC0"]),
    # AMD's as well; but no bit announces its four counters of old: without their registers there is no PMU.
    ("zen4", [], ["msr-ignore=0xc0010200", "msr=0xc0010201", "msr-ignore=0xc0000301"], "run=24-2", FAILS,
     ["\n# note: PERF_CTR0 (C0010201H) cannot be set, against CPUID.80000022H:EBX[3:0] = 6\n"
      "# note: PERF_CTL0 (C0010200H) cannot be set, against CPUID.80000022H:EBX[3:0] = 6\n"
      "# note: PerfCntrGlobalCtl (C0000301H) cannot be set, against CPUID.80000022H:EBX[3:0] = 6\n1..", "\nnot ok - ex24-2 "], []),
    *[("k8", [], [f"{fault}=0xc0010000"], "run=15-2,24-1", CLEAN,
       ["# SKIP no PMU: CPUID.80000001H:ECX[23] = 0, and no PerfEvtSel0 (C0010000H)\n"], ["not ok", "note:"])
      for fault in ("msr", "msr-ignore")],
    # What KVM's PMU for its guests lacks, and a processor must have.
    ("zen4", ["cpuid.0x1=0x00a60f12 0x00000800 0x94f82203 0x078bfbfd"], ["msr=0xc0000303"], "run=24-1,24-4", CLEAN,
     ["# SKIP this hypervisor (CPUID.1:ECX[31] = 1) refuses PerfCntrGlobalStatusSet (C0000303H)\n"], ["not ok"]),
    ("zen4", [], ["msr=0xc0000303"], "run=24-1", FAILS, ["\nnot ok - ex24-1 PerfMonV2: "], []),
    # Bits that contradict each other: the counters of old are those that are believed.
    ("zen4", ["cpuid.0x80000001=0x00a60f12 0 0x00400529 0x2dd3fbfd"], [], "run=24-1,24-2", CLEAN,
     [" · AMD legacy counters: 4 x 48-bit general",
      "\n# note: CPUID.80000022H:EAX[0] = 1 (PerfMonV2), but CPUID.80000001H:ECX[23] = 0\n1.."], ["not ok"]),
    ("kvm", [], ["msr-ignore=0x834"], "run=15-3", FAILS,
     ["\n# note: LVT perfmon (340H) cannot be set: no PMI can come\n1..", "\nnot ok - ex15-3 exactly one PMI arrives\n"], []),
    ("kvm", [], [], "run=15-3 pmi=nmi", CLEAN, [], ["note:"]),
    # One that is there is used, in a guest too, and is as it was found.
    ("icelake", GUEST, [], "run=15-*", CLEAN, ["\nok - ex15-5 the records are in the order of the run\n"], ["not ok", "cannot be set"]),
]  # fmt: skip

# VMware: DS and IA32_MISC_ENABLE as on the processor, no DTES64. VirtualBox: a leaf 0AH of zeros, or none.
OTHERS = [
    ("kvm", [text("VMwareVMware", 0x40000010), "pmu.contradictory=yes",
             "cpuid.0x1=0x000606a6 0x00010800 0x81a0a000 0x002bab7c", "cpuid.0xa=0x07300402 0 0 0x603", "pmu.misc_enable=0x81"],
     ["cpus=2"], "run=all", CLEAN,
     ['\n# hypervisor "VMwareVMware"', "SKIP no 64-bit debug store for PEBS: CPUID.1:ECX[2] (DTES64) = 0\n",
      "SKIP no 64-bit debug store for BTS: CPUID.1:ECX[2] (DTES64) = 0\n", "\nok - ex15-3 exactly one PMI arrives\n"], ["not ok"]),
    ("none", [text("VBoxVBoxVBox"), "cpuid.0x1=0x000906ea 0x00010800 0x81a02010 0x000bab7c"], ["cpus=2"], "run=all", CLEAN,
     ['\n# hypervisor "VBoxVBoxVBox"', "CPUID.0AH:EAX[7:0] = 0", ", a virtual machine: VBoxVBoxVBox\n"], ["not ok"]),
    ("none", [text("VBoxVBoxVBox", 0), "cpuid.0x1=0x000906ea 0x00010800 0x81a02010 0x000bab7c",
              "cpuid.0x0=0x7 0x756e6547 0x6c65746e 0x49656e69"], [], "run=all", CLEAN,
     ['\n# hypervisor "VBoxVBoxVBox"', "CPUID maximum leaf is 07H < 0AH"], ["not ok"]),
]  # fmt: skip

# The guest of a TDX module gets #VE where others get #GP, and has to ask about each before the next one may come.
REFUSED = [
    ("kvm", [], ["msr-ve=0x1d9", "msr-ve=0x1c9", "msr-ve=0x1c8", "cpus=2"], "run=14-*,15-*,18-*", CLEAN,
     ["\n# refused with #GP: RDMSR of 0xc5, RDMSR of 0x18a\n# refused with #VE: ", "WRMSR to 0x1d9", "RDMSR of 0x1c8"], ["not ok"]),
    ("skylake", [], ["msr-ve=0x345", "msr-ve=0x1a0"], "run=15-1,15-2,15-5 pmi=nmi", CLEAN,
     ["\n# note: IA32_PERF_CAPABILITIES (345H) raises #GP", "SKIP no PEBS: IA32_MISC_ENABLE raises #GP",
      "# refused with #VE: RDMSR of 0x345, RDMSR of 0x1a0\n"], ["not ok"]),
    # One that is not on trial ends its experiment, and says what it was.
    ("skylake", [], ["msr-ve=0x38f"], "run=15-2,14-1", FAILS,
     ["\n  reason: \"#VE at 0x", ": WRMSR to 0x38f refused\"\n", "\nok - ex14-1 "], ["panic"]),
    ("skylake", [], ["msr-ve=0x400000ff"], "run=0-1,15-2 selftest", FAILS,
     [": RDMSR of 0x400000ff refused\"\n", "\nok - ex15-2 RDPMC reads what RDMSR reads\n"], ["panic", "#GP"]),
    # Leaves that nobody answers are zeros.
    ("kvm", [], ["cpuid-ve=0x40000000", "cpus=2"], "run=15-2,18-15", CLEAN,
     ["\n# a hypervisor (CPUID.1:ECX[31]) that gives no name in", "\n# refused with #VE: CPUID of 0x40000000\n"], ["not ok"]),
    ("skylake", [], ["cpuid-ve=0xa"], "run=all", CLEAN,
     ["SKIP no architectural PMU: CPUID.0AH:EAX[7:0] = 0\n", "# refused with #VE: CPUID of 0xa\n"], ["not ok"]),
    ("icelake", [], ["cpuid-ve=0x15", "cpuid-ve=0x16", "cpuid-ve=0x80000002"], "run=15-2", CLEAN,
     ["# refused with #VE: CPUID of 0x15, CPUID of 0x16, CPUID of 0x80000002\n"], ["by CPUID", "not ok"]),
]  # fmt: skip

see(SIGNATURES)
see(KNOWN)
see(PROBED)
see(OTHERS)
see(REFUSED)
harness.done()
