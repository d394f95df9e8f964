#!/usr/bin/env python3
"""Random machines: the kernel on processors that nobody has built.

usage: random_profiles.py [COUNT [FIRST-SEED]]     (2000 from seed 1; --show SEED prints one machine)

Each seed gives a profile, a command line and perhaps a fault. Most machines are consistent: their registers do
what CPUID and the capability registers announce, as the manual has it. On those nothing may be `not ok`. The
others contradict themselves (raw CPUID leaves against other registers, ignored writes, missing registers); there
a check may fail, because the machine is wrong, but the run must end in order all the same: exit 0 or 1 that
agrees with the checks, and a complete, valid TAP stream.
"""

import concurrent.futures
import pathlib
import random
import re
import sys
import tempfile

import harness
from harness import KERNEL, PMUSIM, run

PROFILES = pathlib.Path("sim/profiles")
BASES = [
    "alderlake", "arrowlake", "core2", "goldmont", "gracemont", "haswell", "icelake", "kvm", "sandybridge", "sapphirerapids",
    "skylake", "westmere",
]  # fmt: skip
AMD = ["k8", "zen1", "zen3", "zen4", "zen5"]
PERFCTR_CORE, IRPERF, READ_ONLY_CLOCKS, PREC_RET, PERFMON_V2, FREEZE = 1 << 23, 2, 1 << 10, 1 << 12, 1, 4
USUAL = ["15-1", "15-2", "15-3", "15-4"]
# What rests on the architectural PMU alone: something of it is left on every machine.
ARCHITECTURAL = [*harness.SEVEN, *(number for number in harness.ALL if number.startswith("22-"))]
CONTRADICTORY = 0.4  # of the machines
MEASURED_EVENTS = 7  # the architectural events that every base's event list has
LBR_FMT_ARCHITECTURAL, ADAPTIVE, PEBS_TIMING = 0x3F, 4, 1 << 17  # IA32_PERF_CAPABILITIES
LIMIT_CPUID = 1 << 22  # IA32_MISC_ENABLE
X2APIC, HYPERVISOR = 1 << 21, 1 << 31  # CPUID.1:ECX
MASK32 = (1 << 32) - 1


class Machine:
    """The profile as text that can be changed line by line, and how to run it."""

    def __init__(self, base, r):
        text = (PROFILES / f"{base}.profile").read_text(encoding="utf-8")
        common, *kinds = re.split(r"^\[\w+\]\n", text, flags=re.MULTILINE)
        if kinds:  # of a hybrid processor's kinds of core, one for all processors
            common = re.sub(r"^processors = .*\n", "", common, flags=re.MULTILINE) + r.choice(kinds)
        # Leaf 23H has the last word on the counters, which vary() chooses.
        self.text = re.sub(r"^(cpuid\.0x23\.|cpuid\.0x7\.1|pmu\.(general|fixed)_more).*\n", "", common, flags=re.MULTILINE)
        self.words = []
        self.fault = []
        self.consistent = True

    def get(self, key, otherwise="0"):
        line = re.search(rf"^{re.escape(key)} = (.*)$", self.text, re.MULTILINE)
        return line[1] if line else otherwise

    def set(self, key, value):
        value = {True: "yes", False: "no"}.get(value, value) if isinstance(value, bool) else value
        line = re.compile(rf"^{re.escape(key)} = .*\n", re.MULTILINE)
        self.text = line.sub("", self.text) + f"{key} = {value}\n"

    def number(self, key):
        return int(self.get(key).split("#")[0], 0)

    def flip(self, leaf, register, bits, on):
        """Sets or clears bits of a CPUID leaf; register 0 to 3 is EAX to EDX."""
        values = [int(v, 0) for v in self.get(f"cpuid.{leaf}").split()]
        values[register] = values[register] | bits if on else values[register] & ~bits
        self.set(f"cpuid.{leaf}", " ".join(f"0x{v:08x}" for v in values))


def vary(m, r):
    """A consistent PMU of any version, in all the sizes that the manual allows."""
    version = r.choice([0, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6])
    general = r.choice([1, 2, 3, 4, 4, 5, 6, 7, 8])
    m.set("pmu.version", version)
    m.set("pmu.general", general)
    m.set("pmu.general_width", r.choice([32, 33, 36, 39, 40, 40, 47, 48, 48, 48, 52, 56, 63, 64]))
    m.set("pmu.fixed", r.choice([0, 0, 1, 2, 3, 3, 3, 4]))
    m.set("pmu.fixed_width", r.choice([32, 36, 40, 40, 47, 48, 48, 48, 56, 64]))
    m.set("pmu.fixed_bitmap", f"0x{r.choice([0, 0, 1, 2, 4, 5, 6, 7, 15]):x}" if version >= 5 else 0)
    m.set("pmu.events_length", r.choice([0, 1, 2, 3, 5, 7, 7, 7, 7]))
    m.set("pmu.events_unavailable", f"0x{r.choice([0, 0, 0, r.getrandbits(MEASURED_EVENTS), 1 << r.randrange(7)]):x}")
    m.set("pmu.anythread", r.random() < 0.5)
    m.set("pmu.pin_control", r.random() < 0.5)
    m.set("pmu.skid", r.choice([0, 1, 5, 20, 20, 100, 300, 1000]))
    width = r.choice([1, 2, 3, 4, 4, 5, 6])
    # Out of order, a core that retires one or two a cycle works off 22-3's body while the division runs: none was built.
    m.set("uarch.retire_width", max(width, 3) if m.number("uarch.window") else width)
    hypervisor = r.random() < 0.25
    m.flip("0x1", 2, HYPERVISOR, hypervisor)
    m.flip("0x1", 2, X2APIC, r.random() < 0.7)
    m.set("pmu.no_freeze", hypervisor and r.random() < 0.5)
    # Without PEBS, BTS or branch records as often as with the base's.
    store = version >= 2 and r.random() < 0.6
    if not store:
        m.set("pmu.bts", False)
    if not store or r.random() < 0.3:
        m.set("pmu.pebs_counters", 0)
        m.set("pmu.pebs_load_latency", False)
    else:
        m.set("pmu.pebs_counters", f"0x{m.number('pmu.pebs_counters') & ((1 << general) - 1):x}")
        # A thousand cycles late the interrupt of a full buffer comes after the next record, which no silicon does.
        m.set("pmu.skid", min(m.number("pmu.skid"), 300))
    m.set("pmu.metrics", False)
    announced = r.random() < 0.8
    m.set("pmu.full_width", announced and r.random() < 0.7)
    m.set("pmu.has_capabilities", announced)
    if not announced:  # without the register the records have no format
        m.set("pmu.pebs_counters", 0)
        m.set("pmu.pebs_load_latency", False)
        m.set("pmu.lbr_depth", 0)
    capabilities = vary_records(m, r) & ~(1 << 15 | 1 << 13)
    m.set("pmu.capabilities", f"0x{capabilities | (m.get('pmu.full_width') == 'yes') << 13:x}")


def architectural(m, r):
    """Architectural branch records with any of what leaf 1CH can announce."""
    depths = r.choice([0x0B, 0x0B, 0x01, 0x02, 0x08, 0x03, 0x0F, 0x7F, 0x80])
    m.set("pmu.lbr_format", LBR_FMT_ARCHITECTURAL)
    m.set("pmu.lbr_depth", 8 * depths.bit_length())
    for word in ("lbr_select", "lbr_callstack", "lbr_info", "lbr_core2_addresses"):
        m.set(f"pmu.{word}", False)
    lip = r.choice([0, 1 << 31])
    logged = r.choice([0, 0xF, r.randrange(16)]) & ((1 << m.number("pmu.general")) - 1)
    info = r.choice([7, 7, r.randrange(8)]) | logged << 16
    m.set("cpuid.0x1c", f"0x{lip | depths:x} {r.choice([7, 7, r.randrange(8)])} 0x{info:x} 0")
    m.set("cpuid.0x7.0", m.get("cpuid.0x7.0", "0 0 0 0"))
    m.flip("0x0", 0, MASK32, False)
    m.flip("0x0", 0, 0x20, True)


def vary_records(m, r):
    """The newer kinds of branch records, and of PEBS where it is adaptive; returns the register that tells."""
    capabilities = m.number("pmu.capabilities")
    if m.get("cpuid.0x1c") != "0":  # a base may log four counters
        m.flip("0x1c", 2, 0xF0000 & MASK32 << 16 + m.number("pmu.general"), False)
    old = m.number("pmu.lbr_format") != LBR_FMT_ARCHITECTURAL
    if m.number("pmu.lbr_depth") and r.random() < (0.2 if old else 0.8):
        architectural(m, r)
        capabilities |= LBR_FMT_ARCHITECTURAL
    if m.number("pmu.pebs_format") >= ADAPTIVE:
        m.set("pmu.pebs_format", r.choice([4, 5, 6]))
        m.set("pmu.pebs_pdist", f"0x{r.choice([0, 1, 3, 1 << 32 | 1, 0xF000000FF]):x}")
        capabilities = capabilities & ~(0xF00 | PEBS_TIMING) | m.number("pmu.pebs_format") << 8 | r.choice([0, PEBS_TIMING])
    return capabilities


def contradict(m, r):
    """Announcements that the registers do not keep, and registers that do not work."""
    m.consistent = False
    leaf = [0, 0, 0, 0]
    style = r.randrange(4)
    if style == 0:  # anything
        leaf = [r.getrandbits(32) for _ in range(4)]
    elif style == 1:  # a plausible leaf with one odd field
        leaf = [0x07300404, 0, 0, 0x603]
        leaf[r.choice([0, 0, 0, 1, 2, 3])] ^= r.getrandbits(8) << r.choice([0, 8, 16, 24])
    elif style == 2:  # more than there is, or a version of the future
        leaf = [
            r.choice([5, 6, 7, 200, 255]) | r.randrange(256) << 8 | r.choice([0, 31, 32, 48, 64, 65, 255]) << 16
            | r.randrange(256) << 24,
            r.getrandbits(32), r.getrandbits(32), r.getrandbits(16),
        ]  # fmt: skip
    else:  # nothing, where there is a PMU
        leaf = [r.choice([0, 1, 0x0100, 0x300000]), 0, r.getrandbits(8), r.getrandbits(13)]
    # In front of the leaf: the reader takes it only from a profile that says so.
    m.text = "pmu.contradictory = yes\n" + m.text
    m.set("cpuid.0xa", " ".join(f"0x{v & MASK32:08x}" for v in leaf))
    for register, bit in [(2, 15), (3, 21), (2, 2), (2, 31), (2, 21), (3, 9)]:  # PDCM DS DTES64 HV X2APIC APIC
        if r.random() < 0.2:
            m.flip("0x1", register, 1 << bit, r.random() < 0.5)
    if r.random() < 0.1:
        m.flip("0x0", 0, MASK32, False)
        m.flip("0x0", 0, r.choice([1, 7, 9, 10, 0x80000008]), True)
    m.set("pmu.misc_enable", f"0x{r.getrandbits(40):x}")
    m.set("pmu.capabilities", f"0x{r.choice([0, r.getrandbits(17), r.getrandbits(64)]):x}")
    m.set("pmu.no_freeze", r.random() < 0.3)
    if r.random() < 0.5:
        msr = r.choice([0xC1, 0x186, 0x309, 0x345, 0x38D, 0x38E, 0x38F, 0x390, 0x1A0, 0x1D9, 0x3F1, 0x600, 0x834])
        m.fault.append(
            r.choice(
                [
                    f"msr=0x{msr:x}", f"msr-read=0x{msr:x}", f"msr-write=0x{msr:x}", f"msr-ignore=0x{msr:x}",
                    f"counters={r.randrange(9)}", "pmi=lost", "pmi=double", "pmi=spurious", "no-apic",
                    f"nmi=every:{r.choice([2000, 5000, 50000])}", "firmware=dirty", "firmware=x2apic",
                    f"msr-ve=0x{msr:x}", f"smi={r.choice([20_000, 200_000])}", "smi-spoils", "hypervisor=lvt-open",
                    "hypervisor=uncounted", "hypervisor=injects-db",
                ]
            )
        )  # fmt: skip


def surround(m, r):
    """What silicon, firmware and loaders do about a PMU that is as the manual has it."""
    general = m.number("pmu.general")
    if m.number("pmu.version") and general < 8 and "\ncpuid.0x7" in m.text and r.random() < 0.1:
        m.set("pmu.general_more", r.randrange(1, 9 - general))
    m.set("pmu.int_from_behind", r.random() < 0.2)
    if r.random() < 0.1:
        m.set("pmu.misc_enable", f"0x{m.number('pmu.misc_enable') | LIMIT_CPUID:x}")
    m.set("microcode", f"0x{r.choice([0, r.getrandbits(8), r.getrandbits(32)]):x}")
    if r.random() < 0.25:
        m.fault.append(r.choice(["firmware=dirty", "firmware=fixed", "firmware=claimed", "firmware=x2apic", "no-apic", "no-x2apic"]))
    if r.random() < 0.1:
        m.fault.append(f"memory=busy:{r.choice([2, 3, 4, 5, 16, 64])}")
    if r.random() < 0.1:
        m.set("msr.smi_count", True)  # without it nothing can be taken again
        m.fault.append(f"smi={r.choice([1_000_000, 3_000_000])}:{r.choice([100, 2000])}:{r.choice([0, 99])}")
    if r.random() < 0.1:
        m.fault.append(f"framebuffer=0x{r.choice([1 << 32, 1 << 38, 0x7f80 << 32, r.getrandbits(46) >> 21 << 21 | 1 << 33]):x}")


def machine(seed):
    r = random.Random(seed)
    m = Machine(r.choice(BASES), r)
    vary(m, r)
    if r.random() < CONTRADICTORY:
        contradict(m, r)
    else:
        surround(m, r)
    if not {"no-apic", "no-x2apic", "firmware=x2apic"} & set(m.fault) and r.random() < 0.3:
        m.words.append(r.choice(["apic=xapic", "pmi=nmi", "pmi=fixed"]))
    kind = r.random()
    if kind < 0.6:
        m.words.append("run=" + ",".join(r.sample(USUAL, r.choice([1, 2, 2, 4]))))
    elif kind < 0.96 or not m.consistent:
        m.words.append("run=" + ",".join(r.sample(harness.ALL, 4)))
    elif kind < 0.99:
        m.words.append("run=" + ",".join(ARCHITECTURAL))
    else:
        m.words.append("run=all")
    if "run=all" in m.words:  # drawing all that takes a minute
        m.fault = [fault for fault in m.fault if "framebuffer" not in fault]
    screen = ",vga" if any("framebuffer" in fault for fault in m.fault) else ""
    m.words.append(f"console=serial{screen} watchdog={500 if m.consistent else 20}")
    return m


def amd_machine(seed):
    """AMD's, of any kind: each facility there or not, by its bit of CPUID."""
    r = random.Random(f"amd {seed}")
    m = Machine(r.choice(AMD), r)
    if m.number("pmu.general") > 4:
        m.flip("0x80000008", 1, IRPERF, r.random() < 0.7)
        m.flip("0x80000007", 3, READ_ONLY_CLOCKS, r.random() < 0.7)
        v2 = m.get("cpuid.0x80000022") != "0" and r.random() < 0.7
        core = v2 or r.random() < 0.7
        m.flip("0x80000001", 2, PERFCTR_CORE, core)
        m.set("pmu.general", r.choice([1, 2, 3, 4, 5, 6]) if v2 else 6 if core else 4)
        if m.get("cpuid.0x80000022") != "0":
            m.flip("0x80000022", 0, PERFMON_V2, v2)
            m.flip("0x80000022", 0, FREEZE, v2 and r.random() < 0.6)
            m.flip("0x80000022", 1, 0xF, False)
            m.flip("0x80000022", 1, m.number("pmu.general") if v2 else 0, True)
        if m.get("cpuid.0x80000021") != "0":
            m.flip("0x80000021", 0, PREC_RET, r.random() < 0.5)
    if r.random() < 0.1:  # a hypervisor's, which announces none
        m.set("pmu.general", 0)
        m.flip("0x80000001", 2, PERFCTR_CORE, False)
        if m.get("cpuid.0x80000022") != "0":
            m.flip("0x80000022", 0, PERFMON_V2 | FREEZE, False)
    m.set("pmu.skid", r.choice([0, 1, 5, 20, 40, 100, 300]))
    if r.random() < 0.3:
        m.fault.append(r.choice(["firmware=dirty", "firmware=x2apic", "no-x2apic", "memory=busy:4"]))
    m.words.append("run=" + ",".join(r.sample([n for n in harness.ALL if n.startswith(("15-", "22-", "24-"))], 4)))
    m.words.append("console=serial watchdog=500")
    return m


def go(seed, make=machine):
    """Runs the machine of a seed; gives what is wrong, or None, and the text that shows it."""
    m = make(seed)
    with tempfile.NamedTemporaryFile("w", suffix=".profile", encoding="utf-8") as file:
        file.write(m.text)
        file.flush()
        faults = [word for fault in m.fault for word in ("--fault", fault)]
        result = run(
            PMUSIM, "--profile", file.name, *faults, "--max-seconds", 60, "--cmdline", " ".join(m.words), KERNEL,
            seconds=60,
        )  # fmt: skip
    why = wrong(m, result)
    shown = f"# seed {seed}\n# --cmdline '{' '.join(m.words)}' {' '.join(faults)}\n{m.text}\n{result}"
    return why, shown


def wrong(m, result):
    tap = result.tap
    if result.status not in (0, 1):
        return f"exit {result.status}"
    if tap.errors:
        return f"invalid TAP: {tap.errors[0]}"
    if tap.bail_out is not None:
        return f"Bail out: {tap.bail_out}"
    if (result.status == 0) == bool(tap.failures) and "ended after its last check" not in result.out:
        return f"exit {result.status} with {len(tap.failures)} failures"
    if m.consistent and result.status != 0:
        first = tap.failures[0].text if tap.failures else "exit 1"
        return f"consistent, but not ok: {first}"
    return None


def check(first, count, make=machine):
    """Checks for the seeds first to first + count - 1."""
    seeds = range(first, first + count)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda seed: go(seed, make), seeds, chunksize=1))
    bad = [(seed, why, shown) for seed, (why, shown) in zip(seeds, results) if why]
    for seed, why, shown in bad[:10]:
        harness.ok(False, f"seed {seed}: {why}", shown)
    if len(bad) > 10:
        print("# and seeds " + ", ".join(f"{seed} ({why})" for seed, why, _ in bad[10:60]))
    harness.ok(not bad, f"{count} random machines, seeds {first} to {first + count - 1}: {len(bad)} go wrong")


def main():
    if sys.argv[1:2] == ["--show"]:
        print(go(int(sys.argv[2]))[1])
        return
    numbers = [int(word) for word in sys.argv[1:]] + [2000, 1][len(sys.argv) - 1 :]
    check(numbers[1], numbers[0])
    harness.done()


if __name__ == "__main__":
    main()
