#!/usr/bin/env python3
"""pmusim's command line: each error says what is wrong and ends with 2; what the options promise holds."""

import pathlib
import re
import struct

import harness
from harness import KERNEL, PMUSIM, SCRATCH, equal, ok, run, sim

PROFILES = sorted(path.stem for path in pathlib.Path("sim/profiles").glob("*.profile"))
SKYLAKE = pathlib.Path("sim/profiles/skylake.profile").read_text(encoding="utf-8")
SCRATCH.mkdir(parents=True, exist_ok=True)


def file(name, content):
    """A scratch file of text or bytes."""
    path = SCRATCH / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def elf(**change):
    """The head of an ELF file, with one field wrong."""
    field = {"cls": 2, "data": 1, "type": 2, "machine": 62, "phoff": 64, "phentsize": 56, "phnum": 1, **change}
    return (
        b"\x7fELF" + bytes([field["cls"], field["data"], 1]) + bytes(9)
        + struct.pack("<HHIQQQIHHHHHH", field["type"], field["machine"], 1, 0x100000, field["phoff"], 0, 0, 64,
                      field["phentsize"], field["phnum"], 64, 0, 0)
        + struct.pack("<IIQQQQQQ", 1, 5, 0, 0x100000, 0x100000, 64, 64, 4096)
    )


def multiboot(flags=0, checksum=0):
    """A Multiboot (1) header."""
    return struct.pack("<III", 0x1BADB002, flags, -(0x1BADB002 + flags) + checksum & 0xFFFFFFFF)


# ---- Errors of use: words on the command line, what the message must show ----
for words, said in {
    (): "no image given",
    ("a", "b"): "more than one image given: 'a' and 'b'",
    ("--nonsense", "a"): "option '--nonsense'",
    ("-x", "a"): "unknown option '-x'",
    ("--ma", "1", "a"): "ambiguous option '--ma'",
    ("--stats=1", "a"): "takes no argument",
    ("--profile",): "option '--profile' needs an argument",
    ("--cpus", "0", "a"): "--cpus '0': must be a number from 1 to 8",
    ("--cpus", "two", "a"): "--cpus 'two'",
    ("--memory", "1", "a"): "--memory '1': must be a number from 2 to 3071",
    ("--memory", "99999999999999999999", "a"): "--memory '99999999999999999999'",
    ("--max-insns", "-1", "a"): "--max-insns '-1'",
    ("--max-seconds", "0", "a"): "--max-seconds '0': must be a number from 0.000000001 to 1000000",
    ("--max-seconds", "1.", "a"): "--max-seconds '1.'",
    ("--max-seconds", ".5", "a"): "--max-seconds '.5'",
    ("--max-seconds", "0.0000000001", "a"): "--max-seconds '0.0000000001'",
    ("--max-seconds", "1000000.5", "a"): "--max-seconds '1000000.5'",
    ("--trace", "all", "a"): "--trace 'all': must be of msr, pmi, irq, exc, branch, insn",
    ("--trace", "msr,", "a"): "--trace ''",
    ("--trace-from", "kmain", "a"): "need --trace",
    ("--profile", "skylak", KERNEL): 'unknown profile "skylak"; the nearest is "skylake"',
    ("--profile", "sandbridge", KERNEL): 'the nearest is "sandybridge"',
    ("--profile", "./absent", KERNEL): "./absent: cannot open the profile",
    ("--set", "pmu.version", KERNEL): "--set",
    ("--set", "pmu.verison=3", KERNEL): "pmu.verison",
    ("--set", "pmu.version=seven", KERNEL): "pmu.version",
    ("--set", "pmu.general=99", KERNEL): "pmu.general",
    ("--set", "cache.l1d=1 2 3", KERNEL): "cache.l1d",
    ("--trace", "msr", "--trace-from", "absent", KERNEL): "--trace-from 'absent': the image has no such symbol",
    ("/absent/image",): "/absent/image: No such file",
    (".",): "is a directory",
    (file("text", "no kernel"),): "not an ELF file",
    (file("empty", ""),): "not an ELF file",
    (file("bare", elf()),): "no Multiboot2 header",
    (file("class", elf(cls=3)),): "ELF class 3",
    (file("order", elf(data=2)),): "ELF data encoding 2",
    (file("machine", elf(machine=183)),): "machine 183",
    (file("type", elf(type=3)),): "ELF type 3",
    (file("table", elf(phoff=1 << 40) + multiboot()),): "do not lie within the file",
    (file("phnum", elf(phnum=0) + multiboot()),): "without program headers",
    (file("sum", elf() + multiboot(checksum=4)),): "wrong checksum",
    (file("flags", elf() + multiboot(flags=0x8000)),): "requires unknown features",
}.items():
    result = run(PMUSIM, *words, seconds=10)
    shown = " ".join(str(word).rsplit("/", maxsplit=1)[-1] for word in words)
    ok(result.status == 2 and said in result.err and result.out == "", f"'{shown}' is refused", result)

# ---- The checker of profiles: a line put in, what is said of it ----
LAST = SKYLAKE.count("\n") + 1
for line, said in {
    "no equals sign": "",
    "pmu.unknown = 1": "pmu.unknown",
    "pmu.version = 4": "pmu.version",
    "uarch.retire_width = 0": "uarch.retire_width",
    "clock.core_hz = many": "clock.core_hz",
    "pmu.bts = perhaps": "pmu.bts",
    "event.0xc0.0x00 = TWICE insn": "event.0xc0.0x00",
    "event.0x1ff.0x00 = WIDE insn": "event.0x1ff.0x00",
    "event.0x11.0x00 = STRANGE nothing": "event.0x11.0x00",
    "event.0x11.0x00 = STRANGE insn precise": "event.0x11.0x00",
    "cpuid.0x77 = 1 2 3": "cpuid.0x77",
    "cpuid.0x77 = 1 2 3 4 5": "cpuid.0x77",
    "cpuid.0x77 = 1 2 3 0x100000000": "cpuid.0x77",
    "cache.l1d = 32768 8 64 4": "cache.l1d",
    "x" * 600 + " = 1": "longer than",
}.items():
    result = run(PMUSIM, "--profile", file("bad.profile", SKYLAKE + line + "\n"), KERNEL, seconds=10)
    right = result.status == 2 and re.search(rf"bad\.profile:{LAST}: .*{re.escape(said)}", result.err)
    ok(right, f"a profile with '{line[:40]}' is refused, with file and line", result)
for key in ("pmu.version", "cache.l1d", "uarch.lat_pause", "name"):
    text = re.sub(rf"(?m)^{re.escape(key)} = .*\n", "", SKYLAKE)
    result = run(PMUSIM, "--profile", file("bad.profile", text), KERNEL, seconds=10)
    ok(result.status == 2 and key in result.err, f"a profile without {key} is refused", result)
for key, value in {"cache.l2": "262144 4 32 12", "cache.llc": "8388608 16 64 3", "pmu.general_width": "99"}.items():
    result = run(PMUSIM, "--set", f"{key}={value}", KERNEL, seconds=10)
    ok(result.status == 2 and key.split(".")[0] in result.err, f"{key}={value} does not fit the rest", result)
# Architectural branch records against leaf 1CH, which says how many there are.
for words, said in {
    ("pmu.lbr_format=7",): "pmu.lbr_format: 7 is out of range: 0 to 6, or 63 (architectural)",
    ("pmu.lbr_format=63", "pmu.lbr_depth=32"): "pmu.lbr_format: 63 (architectural) needs CPUID leaves 7 and 1CH",
    ("pmu.lbr_depth=64",): "pmu.lbr_depth: must be a power of two up to 32",
}.items():
    result = run(PMUSIM, *(w for word in words for w in ("--set", word)), KERNEL, seconds=10)
    ok(result.status == 2 and said in result.err, f"{' '.join(words)} is refused", result)
for words, said in {
    ("pmu.lbr_depth=16",): "pmu.lbr_depth: CPUID.1CH:EAX[7:0] announces 32 at most",
    ("pmu.general=3", "cpuid.0x1c=0x4000000b 7 0xf0007 0"): "cpuid.0x1c: ECX[19:16] logs a counter past pmu.general",
    ("cpuid.0x0=0x1b 0 0 0",): "CPUID.0:EAX of 1CH or more",
}.items():
    more = [w for word in words for w in ("--set", word)]
    result = run(PMUSIM, "--profile", "sapphirerapids", *more, KERNEL, seconds=10)
    ok(result.status == 2 and said in result.err, f"sapphirerapids with {' '.join(words)} is refused", result)

# ---- Answers ----
helped = run(PMUSIM, "--help")
options = set(re.findall(r'\{"([a-z-]+)", (?:required|no)_argument', pathlib.Path("sim/host/options.c").read_text("utf-8")))
ok(helped.status == 0 and options and all(f"--{o}" in helped.out for o in options), "--help names every option", helped)
version = run(PMUSIM, "--version")
equal(version.out, f"pmusim {pathlib.Path('VERSION').read_text('utf-8').strip()}\n", "--version")
# Leaf 23H: what the model has, of the counters that the pmu fields say.
for word, message in {
    "p:cpuid.0x23.0=0x1b 3 0 0": "cpuid.0x23.0: EAX: sub-leaves 0 to 3 are modelled",
    "p:cpuid.0x23.0=0xb 7 0 0": "cpuid.0x23.0: EBX: UMASK2 and EQ are modelled, bits 0 and 1",
    "p:cpuid.0x23.1=0xff 0xf 0 0": "cpuid.0x23.1: should be 0x3ff 0xf, which are the counters of the pmu fields",
    "e:cpuid.0x23.2=0x1fc 3 0xfc 3": "cpuid.0x23.2: names counters that cpuid.0x23.1 does not",
    "p:pmu.general_more=3": "pmu.general_more: at most 10 counters are modelled, with pmu.general",
    "cpuid.0x7.1=0 0 0 0": "cpuid.0x23.0: needs bit 8 of EAX in cpuid.0x7.1, and CPUID.0:EAX of 23H or more",
    "event.0xc4.0x11.0x100=A.B insn": "event.0xc4.0x11.0x100: wants event.SELECT.UMASK or event.SELECT.UMASK.UMASK2, each 0 to 0xff",
    "event.0xc4.1.2.3=A.B insn": "event.0xc4.1.2.3: wants event.SELECT.UMASK or event.SELECT.UMASK.UMASK2",
    "event.0xc4=A.B insn": "event.0xc4: wants event.SELECT.UMASK or event.SELECT.UMASK.UMASK2",
}.items():
    result = run(PMUSIM, "--profile", "arrowlake", "--set", word, KERNEL, seconds=10)
    ok(result.status == 2 and message in result.err and not result.out, f"arrowlake --set {word}", result)

over = sim("run=15-1", more=("--set", "pmu.version=3", "--set", "pmu.general_width=40"))
ok("perfmon v3: 4 x 40-bit" in over.out, "--set overrides fields of the profile", over)

# ---- Traces: a line of each kind; no count changes ----
plain = sim("run=15-3")
for kind, line in {
    "msr": r"^[0-9a-f]{16} \w+\+[0-9a-f]+ +WRMSR IA32_PERFEVTSEL0 \(186H\) <- .*INST_RETIRED",
    "pmi": r"overflow IA32_PMC0",
    "irq": r"\be0H\b|\b224\b",
    "exc": r"#(GP|UD|BP|PF)",
    "branch": r"kmain",
}.items():
    traced = sim("run=15-3" if kind != "exc" else "run=15-1", more=("--trace", kind))
    ok(re.search(line, traced.err, re.MULTILINE | re.IGNORECASE), f"--trace {kind} shows its lines", traced.err[-1500:])
    if kind != "exc":
        equal(traced.out, plain.out, f"--trace {kind} changes no count")
# The kernel's trace=msr and pmusim's --trace msr say the same of an access: name, address, value, fields.
ACCESS = re.compile(r"(?:WRMSR|RDMSR) (?!to |of ).*[^P\n]$", re.MULTILINE)  # without those that fault, and their list
RESET = {"westmere": "IA32_PERF_GLOBAL_OVF_CTRL (390H)", "skylake": "IA32_PERF_GLOBAL_STATUS_RESET (390H)"}
for profile, reset in RESET.items():
    both = sim("run=14-1,15-3 trace=msr", profile=profile, more=("--trace", "msr"))
    kernel, machine = set(ACCESS.findall(both.out)), set(ACCESS.findall(both.err))
    ok(len(kernel) > 20 and kernel <= machine, f"{profile}: both traces say the same", "\n".join(kernel - machine))
    ok(any(reset in line for line in kernel), f"{profile}: of 390H the name of its version", "\n".join(kernel))
part = sim("run=15-3", more=("--trace", "insn", "--trace-from", "pmu_init", "--trace-to", "tap_plan"))
first = part.err.splitlines()[:1]
ok(first and "pmu_init+0" in first[0], "--trace-from begins at the symbol", first)
whole = sim("list console=serial", more=("--trace", "insn"))
ok("_start+0" in whole.err[:200] and len(whole.err) > len(part.err) > 0, "without it, at the start", whole.err[:300])
ok("tap_plan+0" not in part.err, "--trace-to ends before the symbol runs", part.err[-500:])

counted = sim("run=15-3", more=("--stats",))
ok(
    all(word in counted.err for word in ("instructions", "IPC", "PMIs 1", "interrupts", "MIPS")),
    "--stats ends with classes, IPC, PMIs, interrupts", counted.err,
)
equal(counted.out, plain.out, "--stats changes nothing")
limited = sim(more=("--max-insns", "12345", "--stats"))
taken = re.search(r"instructions +(\d+)", limited.err)
ok(limited.status == 124 and taken and int(taken[1]) == 12345, "--max-insns stops at the very instruction", limited.err)

# ---- Every profile runs everything ----
for profile in PROFILES:
    result = sim(profile=profile)
    ok(result.status == 0 and not result.tap.failures and result.tap.points, f"{profile}: nothing is not ok", result)
harness.done()
