#!/usr/bin/env python3
"""System instructions, paging and exceptions: small guests in the simulator, and the same ones in QEMU.

Each guest of tests/guests/ prints TAP, with a result that comes from the manual. In pmusim every point must be
ok. In QEMU (TCG) every point must be ok as well, unless it is listed here: where QEMU is known to differ from the
manual, or to implement less of it, with the reason.
"""

import pathlib
import re
import resource
import shutil
import subprocess
import time

import harness
from harness import BUILD, PMUSIM, ok, run, skip

GUESTS = BUILD / "test" / "guests"

# guest: processors, profiles. Profiles differ in 1 GiB pages, x2APIC, the PMU.
SYSTEM = {
    "paging": (1, ["skylake", "core2"]),
    "code": (1, ["skylake", "core2"]),
    "exceptions": (1, ["skylake"]),
    "announced": (1, sorted(path.stem for path in pathlib.Path("sim/profiles").glob("*.profile"))),
    "amd": (1, ["k8", "zen1", "zen5"]),
    "privilege": (1, ["skylake"]),
    "control": (1, ["skylake", "icelake"]),
    "registers": (1, ["skylake", "westmere", "core2", "kvm", "icelake"]),
    "xsave": (1, ["skylake", "core2", "sandybridge", "sapphirerapids"]),
    "debug": (1, ["skylake"]),
    "interrupts": (1, ["skylake", "core2"]),
    "devices": (1, ["skylake"]),
    "chipset": (1, ["skylake"]),
    "processors": (2, ["skylake", "alderlake"]),
    "protected": (1, ["skylake", "core2", "k8"]),
    "x87": (1, ["skylake"]),
    "simd": (1, ["skylake"]),
    "float": (1, ["skylake"]),
    "pmu": (1, ["core2", "kvm", "westmere", "sandybridge", "haswell", "skylake", "icelake", "sapphirerapids", "alderlake", "goldmont", "gracemont", "arrowlake"]),
}

NO_P = "QEMU leaves P out of the error code for reserved bits"
NO_FAULT = "QEMU does not check what is written to this register"
IDT_ERROR = "QEMU forms the error code with 16 in place of 8 for each vector in 64-bit mode"
NO_LIMIT = "QEMU checks no segment limits and no null selectors on data accesses"
QEMU_DIFFERS = {
    "paging": [(r"reserved|PS in a PML4 entry", NO_P)],
    "exceptions": [
        (r"a fault pushes RF = 1", "QEMU pushes the RF that was"),
        (r"null SS of another RPL", "QEMU takes any null selector"),
        (r"INT n through a gate that is not present|#UD through|INT n past the IDT", IDT_ERROR),
        (r"it is the jump that faults", "QEMU jumps, and faults on the fetch"),
        (r"an access across the last canonical byte", "QEMU raises #PF for the second half"),
    ],
    "announced": [
        (r"XBEGIN|RDSEED|TPAUSE|XOP", "QEMU executes it, or the opcode beneath, without a look at CPUID"),
        (r"(RD|WR)PKRU|VMRUN", "QEMU has it, but it wants CR4.PKE, EFER.SVME as well"),
    ],
    "privilege": [
        (r"INT n through a gate of DPL 0", IDT_ERROR),
        (r"in ring 0$", "QEMU's SYSRET faults in ring 3, as AMD's does"),
    ],
    "control": [
        (r"CR0 bit 6|CR4.PCIDE without", "QEMU keeps the bit"),
        (r"CR0.NW|CR8 above|EFER|(RD|WR)MSR of one|not canonical is #GP|IA32_PAT|IA32_FMASK", NO_FAULT),
        (r"IA32_TIME_STAMP_COUNTER", "QEMU ignores the write"),
        (r"IA32_BIOS_SIGN_ID keeps the 0", "QEMU shows the revision at any time"),
    ],
    "registers": [(r"#GP$", NO_FAULT)],
    "debug": [
        (r"ICEBP|a trap$|one for both", "QEMU has no INT1: #UD"),
        (r"pushes RF = 0$", "QEMU pushes the RF that was"),
        (r"general detect|a fault$|DR7.GD|DR6.BD", "QEMU has no general detect"),
    ],
    "x87": [
        (r"nothing was popped|FNSTENV: (status|tag) word", "QEMU pops, and stores, though the exception is unmasked"),
        (r"the instruction that raised it|its opcode", "QEMU's FNSTENV has another instruction there"),
        (r"FNSTENV masks|\.\.\. and nothing waits|in the control word", "QEMU's FNSTENV masks no exceptions"),
        (r"FLDCW waits|comes first", "QEMU raises #MF for FWAIT and arithmetic alone, and after the access"),
        (r"raises it at the next waiting", "QEMU's FLDCW raises no exception that was masked before"),
        (r"16390|is adjusted", "QEMU sees no exact result as tiny"),
        (r"underflow:|overflow:|TOP stays", "QEMU has no stack faults"),
        (r": #AC", "QEMU checks no alignment"),
    ],
    "interrupts": [(r"sending a vector below 16", "QEMU sends it without an error")],
    "devices": [
        (r"whose line falls", "QEMU's 8259 keeps a request whose edge is over"),
        (r"CTS changed", "QEMU reports no changes made by loopback"),
        (r"counts by two", "QEMU's 8254 shows odd counts in mode 3"),
        (r"a control word|with its gate low", "QEMU's 8254 has no null count, and channel 2 counts without its gate in mode 0"),
        (r"of 8: no interrupt yet|8 bytes: received", "QEMU's character timeout goes by the host's clock: on a busy host it is early"),
        (r"LINT0 as a fixed|not acknowledged to|still has it", "QEMU answers LINT0 with the 8259's vector first"),
    ],
    "xsave": [
        (r"XSAVE with CR0.TS", "QEMU's XSAVE has no look at TS"),
        (r"reserved bit of MXCSR", "QEMU takes reserved bits of MXCSR"),
        (r"AVX alone saves MXCSR|XSAVEOPT: MXCSR", "QEMU takes MXCSR for a part of SSE alone"),
    ],
    "simd": [
        (r"EM: MMX|EM and TS: SSE", "QEMU's EMMS has no look at EM; TS goes first"),
        (r"leaves the first page", "QEMU stores 16 bytes in two parts"),
        (r"sign and exponent", "QEMU leaves them"),
        (r"x87 exception pending|shows ES", "QEMU's MMX does not wait for x87, and clears TOP"),
        (r"reserved bit of MXCSR|LDMXCSR of one|changes nothing", "QEMU takes reserved bits of MXCSR"),
    ],
    "float": [
        (r"= 0: #XM|#XM (pushes|leaves)|destination stays|leaves the register|OSXMMEXCPT", "QEMU sets the flags and raises no #XM"),
        (r"overflow was not computed|with (UE|OE) alone", "QEMU's flags are those of masked exceptions"),
        (r"CVTTPS2PI from memory", "QEMU does not ask for CR4.OSFXSR there"),
        (r"CVTTPD2PI of 16 bytes", "QEMU checks no alignment there"),
        (r"no MMX instruction", "QEMU takes it for one"),
    ],
    "protected": [
        (r"reserved bit 21", NO_P),
        (r"past the limit|across the limit|null selector: #GP$|through CS", NO_LIMIT),
        (r"that of the operand|FLDENV and FNSTENV keep", "QEMU stores the operand's offset in place of its linear address"),
        (r"PDPTEs are registers|reserved bit in a PDPTE", "QEMU reads PDPTEs from memory at each walk"),
    ],
}

QEMU_SETTINGS = ["medium=kernel", "cpu=max,vendor=GenuineIntel", "memory=64M", "seconds=30"]


# QEMU's I/O APIC keeps an edge that comes while its pin is masked and knows no polarity: what comes then is another's.
NOT_IN_QEMU = ["chipset", "amd"]  # the vendor is Intel here


def qemu(image, *settings):
    """The guest's end in QEMU, with exit statuses as pmusim's."""
    return run("scripts/qemu", image, *QEMU_SETTINGS, *settings)


def points(result):
    """The points of a guest's TAP by number: (ok, text, reason to skip); None when the stream is not whole."""
    found = re.findall(r"^(ok|not ok) (\d+) - (.*?)(?: # SKIP (.*))?$", result.out, re.MULTILINE)
    plan = re.findall(r"^1\.\.(\d+)$", result.out, re.MULTILINE)
    if [int(number) for _, number, _, _ in found] != list(range(1, len(found) + 1)) or plan != [str(len(found))]:
        return None
    return [(verdict == "ok", text, reason) for verdict, _, text, reason in found]


def in_pmusim(guest, cpus, profile):
    """Everything is ok in the simulator."""
    result = run(PMUSIM, "--profile", profile, "--cpus", cpus, GUESTS / f"{guest}.elf", seconds=30)
    seen = points(result)
    good = seen and result.status == 0 and all(verdict for verdict, _, _ in seen)
    ok(good, f"{guest} in pmusim, {profile}: {len(seen or [])} points", result)


def in_qemu(guest, cpus):
    """QEMU agrees with the manual, but for the differences that are known."""
    result = qemu(GUESTS / f"{guest}.tcg.elf", f"cpus={cpus}")
    seen = points(result)
    known = QEMU_DIFFERS.get(guest, [])
    surprises = [text for verdict, text, _ in seen or [] if not verdict and not any(re.search(p, text) for p, _ in known)]
    differ = sum(not verdict for verdict, _, _ in seen or [])
    good = seen and not surprises and result.status == (1 if differ else 0)
    skipped = sum(bool(reason) for _, _, reason in seen or [])
    ok(good, f"{guest} in QEMU: {len(seen or []) - differ - skipped} points agree, {differ + skipped} known not to", f"{surprises}\n{result}")
    for _, reason in known:
        print(f"# {guest}: {reason}")


for name, (n, profiles) in SYSTEM.items():
    for one in profiles:
        in_pmusim(name, n, one)
    if name in NOT_IN_QEMU:
        continue
    if shutil.which("qemu-system-x86_64"):
        in_qemu(name, n)
    else:
        skip(f"{name} in QEMU", "qemu-system-x86_64 is not installed")

# What is announced and not executed ends the run, named.
AES = "cpuid.0x1=0x000506e3 0x00010800 0x03a82211 0x078bfbfd"  # skylake's, and ECX[25]
absent = run(PMUSIM, GUESTS / "lacking.elf", seconds=30)
ok(absent.status == 0 and absent.out.startswith("ok 1"), "AESENC without AES in CPUID: #UD", absent)
lacking = run(PMUSIM, "--set", AES, GUESTS / "lacking.elf", seconds=30)
named = re.search(r"the simulator lacks this: aesenc, at rip 0x[0-9a-f]+, bytes 66 0f 38 dc", lacking.err)
ok(lacking.status == 3 and named, "AESENC with it: exit 3, and why", lacking)

# The guest of a TDX module, which QEMU does not play; and TDCALL where there is none: #UD.
TRUST = ["--fault", "msr-ve=0x1d9,cpuid-ve=0x40000000,nmi=every:20000"]
asked = run(PMUSIM, *TRUST, GUESTS / "domain.elf", seconds=30)
seen = points(asked)
ok(seen and asked.status == 0 and all(verdict for verdict, _, _ in seen), f"domain in pmusim: {len(seen or [])} points", asked)
nowhere = run(PMUSIM, "--max-insns", 100000, GUESTS / "domain.elf", seconds=30)
ud = "not ok 1 - TDCALL is there\n# vector=0000000000000006\n"
ok(nowhere.status != 0 and nowhere.out.startswith(ud), "TDCALL outside: #UD", nowhere)

# Input by interrupts, from somebody who types slowly: what waits costs no time of the host's.
before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
typed = subprocess.Popen([PMUSIM, "--stdin", GUESTS / "echo.elf"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for text in (b"a", b"bc", b"q"):
    time.sleep(0.4)
    typed.stdin.write(text)
    typed.stdin.flush()
said = typed.communicate(timeout=30)[0]
spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
ok(said.startswith(b"abcq\nok 1") and typed.returncode == 0, "a guest in HLT is woken by what is typed", said)
ok(spent < 0.2, "meanwhile pmusim sleeps", f"{spent:.2f} s of processor time in 1.2 s")
deaf = run(PMUSIM, GUESTS / "echo.elf", seconds=30)
ok(deaf.status == 3 and "no processor can ever run again" in deaf.err, "without --stdin nothing will ever come", deaf)

# A guest that switches the machine off, and one that resets it; in QEMU -no-reboot makes an exit of that.
off = run(PMUSIM, GUESTS / "off.elf", seconds=30)
ok(off.status == 0 and off.out.startswith("ok 1") and "1.." not in off.out and not off.err, "switched off by ACPI: exit 0", off)
reset = run(PMUSIM, GUESTS / "reset.elf", seconds=30)
ok(reset.status == 3 and "the guest reset the machine" in reset.err and "1.." not in reset.out, "reset by port CF9H: exit 3, and why", reset)

# A triple fault: pmusim ends with 3 and says why; QEMU resets, which -no-reboot makes an exit.
fallen = run(PMUSIM, GUESTS / "triple.elf", seconds=30)
ok(fallen.status == 3 and "triple fault" in fallen.err and fallen.out.startswith("ok 1"), "a triple fault in pmusim: exit 3", fallen)
if shutil.which("qemu-system-x86_64"):
    fallen = qemu(GUESTS / "triple.tcg.elf")
    ok(fallen.status == 3 and fallen.out.startswith("ok 1"), "a triple fault in QEMU resets: exit 3", fallen)
else:
    skip("a triple fault in QEMU", "qemu-system-x86_64 is not installed")

harness.done()
