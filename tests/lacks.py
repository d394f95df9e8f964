"""Why an experiment is skipped on a profile: whether what its reason says is so.

A reason names the bits that tell ("CPUID.7:EDX[19] = 0", "CPUID.7.1:EAX[8] = 0"): they are looked up in the profile,
so that a new experiment needs no line here. What names no bit stands in PECULIAR with the only profiles that may say it.
"""

import functools
import pathlib
import re

# How a profile's own registers are told by its fields: leaf 0AH is made of them.
LEAF_0AH = {
    ("EAX", 0, 7): "pmu.version",
    ("EAX", 8, 15): "pmu.general",
    ("EAX", 16, 23): "pmu.general_width",
}
BITS = re.compile(
    r"(?:CPUID\.(?P<leaf>[0-9A-F]+?)H?(?:\.(?P<sub>\d+))?:(?P<register>E[ABCD]X)|(?P<msr>IA32_PERF_CAPABILITIES))"
    r"\[(?:(?P<high>\d+):)?(?P<low>\d+)\](?: \(\w+\))? (?P<how>=|<) (?P<value>\d+)"
)
HIGHEST = re.compile(r"CPUID maximum extended leaf is (?P<is>[0-9A-F]+)H < (?P<wanted>[0-9A-F]+)H")
FORMAT = re.compile(r"PEBS record format (?P<value>\d+) \(IA32_PERF_CAPABILITIES\[11:8\]\)")
PROFILES = {path.stem: path.read_text(encoding="utf-8") for path in pathlib.Path("sim/profiles").glob("*.profile")}
AMD = {name for name, text in PROFILES.items() if re.search(r"^cpuid\.0x0 = \S+ 0x68747541 ", text, re.MULTILINE)}  # "Auth"
PECULIAR = {
    "events of eight bits: CPUID.1:EAX tells family FH < 10H": {"k8"},
    "IA32_DEBUGCTL[6] (TR) cannot be set": AMD,
    "no SYSENTER in 64-bit mode on this vendor's processors": AMD,
    "no call-stack mode: LbrSelect (C000010EH) has no such bit": AMD,
    "no PEBS: IA32_MISC_ENABLE[12] = 1": {"merom"},
    "no PMU of AMD's: the vendor in CPUID.0 is GenuineIntel": PROFILES.keys() - AMD,
    "no single branch record: MSR 1DBH raises #GP": PROFILES.keys() - AMD,
    "the counters have one address, which takes their whole width": AMD,
    "no event of masked interrupts is known but of Goldmont and Goldmont Plus (CPUID.1:EAX)":
        PROFILES.keys() - {"goldmont"},
    "no second level: MSR_PERF_METRICS[63:32] = 0 whatever runs": {"icelake"},
    "no LBR filter (MSR_LBR_SELECT) on Core 2": {"core2", "merom"},
    "TR and LBR exclude each other on this processor": {"core2", "merom"},
    "no load latency: Goldmont has no such event (CPUID.1:EAX)": {"goldmont"},
    "no call-stack mode: MSR_LBR_SELECT[9] cannot be set": {"westmere", "sandybridge"},
    "only the event with precise distribution is precise on Sandy Bridge, Ivy Bridge (CPUID.1:EAX)": {"sandybridge"},
    "only the event with precise distribution is precise on Haswell, Broadwell (CPUID.1:EAX)": {"haswell"},
    "only the event with precise distribution is precise on Skylake to Comet Lake (CPUID.1:EAX)": {"skylake"},
    "no precise distribution of instructions on Core (CPUID.1:EAX)": {"core2"},
    "no precise distribution of instructions on Nehalem, Westmere (CPUID.1:EAX)": {"westmere"},
    "no precise distribution of instructions on Goldmont (CPUID.1:EAX)": {"goldmont"},
    "no LBR stack: MSR 1C9H raises #GP on model 0x55": {"kvm"},
    "no LBR stack: MSR 1C9H raises #GP on model 0x5e": {"none"},
}


@functools.cache
def fields(profile):
    """Of a hybrid processor: what is common, and what the kind of core of its first processor has."""
    text = pathlib.Path(f"sim/profiles/{profile}.profile").read_text(encoding="utf-8")
    common, *sections = re.split(r"^\[(\w+)\]$", text, flags=re.MULTILINE)
    first = re.search(r"^processors = (\w+)", common, re.MULTILINE)
    text = common + (dict(zip(sections[::2], sections[1::2]))[first[1]] if first else "")
    return {key: value.split("#")[0].strip() for key, value in re.findall(r"^([\w.]+) = (.*)$", text, re.MULTILINE)}


def register(profile, bits):
    """The value of the register's bits in that profile; None where the profile does not tell."""
    have = fields(profile)
    low = int(bits["low"])
    high = int(bits["high"] or low)
    if bits["msr"]:
        whole = int(have.get("pmu.capabilities", "0"), 0)
    else:
        leaf, name = int(bits["leaf"], 16), bits["register"]
        if leaf == 0x0A:
            field = LEAF_0AH.get((name, low, high))
            return int(have[field], 0) if field else None
        if (leaf, name, low) == (1, "EDX", 21):  # DS follows from what there is
            return int(have.get("pmu.bts") == "yes" or int(have.get("pmu.pebs_counters", "0"), 0) != 0)
        words = have.get(f"cpuid.{leaf:#x}.{bits['sub'] or 0}") or have.get(f"cpuid.{leaf:#x}") or "0 0 0 0"
        whole = int(words.split()[("EAX", "EBX", "ECX", "EDX").index(name)], 0)
    return whole >> low & (1 << high - low + 1) - 1


def untrue(reason, profile):
    """What is wrong with this reason of a SKIP there, or nothing."""
    if reason in PECULIAR:
        return "" if profile in PECULIAR[reason] else f"only {sorted(PECULIAR[reason])} may say so"
    told = list(BITS.finditer(reason))
    if match := HIGHEST.search(reason):
        highest = int(fields(profile).get("cpuid.0x80000000", "0").split()[0], 0)
        return "" if highest == int(match["is"], 16) < int(match["wanted"], 16) else f"it is {highest:08X}H"
    if match := FORMAT.search(reason):
        is_format = int(fields(profile)["pmu.capabilities"], 0) >> 8 & 15
        return "" if is_format == int(match["value"]) else f"the format is {is_format}"
    if not told:
        return "it names no bit and its value: name one, or add it to PECULIAR of tests/lacks.py"
    for bits in told:
        is_so = register(profile, bits)
        wanted = int(bits["value"])
        if is_so is None:
            return f"{bits[0]}: LEAF_0AH of tests/lacks.py does not know this field"
        if not (is_so < wanted if bits["how"] == "<" else is_so == wanted):
            return f"{bits[0]}, but it is {is_so}"
    return ""
