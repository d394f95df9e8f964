#!/usr/bin/env python3
"""System-management interrupts that come at any time: --fault smi=N.

Without FREEZE_WHILE_SMM (IA32_PERF_CAPABILITIES[12] = 0) their instructions and branches are counted and recorded, and
with smi-spoils the records are wrong behind one all the same. MSR_SMI_COUNT is there from Nehalem on.
"""

import re

import harness
from harness import KERNEL, PMUSIM, ok, run
from misbehaving import CLEAN, FAILS, see

UNFROZEN = ["pmu.capabilities=0x23c5"]  # Skylake's, without bit 12
BUT_14_13 = "run=14-1,14-2,14-3,14-4,14-5,14-6,14-7,14-8,14-9,14-10,14-11,14-12,15-*,18-15,22-11,22-14,22-15"
RECORDS = "run=14-1,14-2,14-3,14-4,14-5,14-6,14-7,14-9,14-10,14-11,14-12"
AGAIN = "an SMI fell into the others (MSR_SMI_COUNT)"
EACH = "# taken 5 times: an SMI fell into each (MSR_SMI_COUNT)\n"
WRONG = "# taken 5 times: it was wrong each time\n"
EXACT = "\nnot ok - ex15-2 general counter 0 holds exactly the function's known number of instructions\n"

MACHINES = [
    # Every experiment, with an SMI in each quarter or half of a millisecond, and 14-13, which prints, with one in eight.
    # (18-15 counts for three quarters of a million cycles of skylake: much oftener, and each of its takes has one.)
    *[("skylake", UNFROZEN, [f"smi={n}", "cpus=2"], BUT_14_13, CLEAN, ["\n# SMIs while it ran: "], []) for n in (1500001, 1700001)],
    ("westmere", [], ["smi=1000001", "smi-spoils", "cpus=2"], BUT_14_13, CLEAN, ["\n# SMIs while it ran: "], []),
    ("core2", [], ["smi=1000001", "cpus=2"], BUT_14_13, CLEAN, [], ["SMIs while it ran", "MSR_SMI_COUNT"]),
    *[(profile, sets, ["smi=30000001"], "run=14-13", CLEAN, [], []) for profile, sets in (("skylake", UNFROZEN), ("core2", []))],
    # The records, so often that an SMI falls into one of a few takes.
    *[("skylake", UNFROZEN, [f"smi={n}"], RECORDS, CLEAN, [AGAIN], []) for n in (30001, 33001, 37003, 41011)],
    *[("westmere", [], [f"smi={n}", "smi-spoils"], RECORDS, CLEAN, [AGAIN], []) for n in (30001, 33001, 37003, 41011)],
    *[("core2", [], [f"smi={n}"], RECORDS, CLEAN, [], [EACH, WRONG]) for n in (20011, 30001, 33001)],
    *[("core2", [], [f"smi={n}"], "run=15-5,15-6,15-7,15-8", CLEAN, [], [EACH, WRONG]) for n in (30001, 44986, 53977)],
    # So often that each take has one: it ends, it is not ok, and it says why.
    ("skylake", UNFROZEN, ["smi=3000"], "run=15-2,15-11,15-13", FAILS, [EACH, EXACT], []),
    ("skylake", UNFROZEN, ["smi=2000", "cpus=2"], "", FAILS, [EACH, EXACT], ["panic"]),
    ("core2", [], ["smi=3000"], "run=15-2", FAILS, [WRONG, EXACT], ["MSR_SMI_COUNT"]),
    # A virtual machine has the register, and in it no SMI of the host.
    ("kvm", ["msr.smi_count=no"], ["smi=3000"], "run=15-2", FAILS, [WRONG, EXACT], ["MSR_SMI_COUNT"]),
    # Without SMIs nothing is said of them, and nothing is taken again.
    ("skylake", UNFROZEN, [], "", CLEAN, [], ["SMIs while", "# taken"]),
]  # fmt: skip
see(MACHINES)

# Every value of IA32_DEBUGCTL that is written, once the bit has been tried (written, and the register put back).
options = ["--profile", "skylake", "--trace", "msr", "--cmdline", "console=serial", KERNEL]
trace = run(PMUSIM, *options)
written = re.findall(r"WRMSR IA32_DEBUGCTL \(1D9H\) <- ([0-9A-F]+)H", trace.out + trace.err)
values = [int(value, 16) for value in written]
ok(len(values) > 100, "the writes of IA32_DEBUGCTL are found in the trace", f"{len(values)}\n{trace}"[:2000])
without = [n for n, value in enumerate(values) if not value & 1 << 14]
ok(without == [1], "IA32_DEBUGCTL[14] is set in each but the one that ends the probe", without)
harness.done()
