#!/usr/bin/env python3
"""Without a boot loader, by PVH: QEMU starts build/pmulab.elf itself, and the kernel prints what it prints with GRUB.

A loader of our own between QEMU and the kernel changes the start info into what a bad one would write. With KVM: t_kvm.py.
"""

import difflib
import os
import pathlib
import re
import select
import shlex
import subprocess
import time

import harness
from harness import ALL, BUILD, KERNEL, SCRATCH, check_clean, equal, ok, run
from machine import Machine


def direct(cmdline, *settings, seconds=60):
    return run("scripts/qemu", KERNEL, "medium=kernel", f"append={cmdline}", *settings, seconds=seconds)


def through_grub(cmdline, *settings):
    image = SCRATCH / "pvh.iso"
    made = run("scripts/iso", image, cmdline)
    if made.status:
        ok(False, "the image is made", made)
    result = run("scripts/qemu", image, *settings, seconds=100)
    result.out = result.out[max(result.out.rfind("TAP version 14"), 0) :]  # GRUB's own lines are before it
    return result


def comparable(result):
    """The lines, without the loader's name, the measured frequency and the checksum over both."""
    text = re.sub(r"# (BIOS|started directly \(PVH\)), a virtual machine", "# (loader)", result.out)
    return re.sub(r"CRC-32 \w{8}", "CRC-32", re.sub(r"TSC \d+ kHz", "TSC", text)).splitlines()


def compare(cmdline, *settings):
    one, other = through_grub(cmdline, *settings), direct(cmdline, *settings)
    name = " ".join([repr(cmdline), *settings])
    diff = list(difflib.unified_diff(comparable(one), comparable(other), "GRUB", "direct", n=1, lineterm=""))
    ok(not diff, f"{name}: prints what it prints with GRUB", "\n".join(diff))
    equal(other.status, one.status, f"{name}: and ends as with GRUB")
    return other


result = compare("run=all", "cpus=2")
check_clean(result, "all", ALL, skips=True)
ok("# started directly (PVH), a virtual machine: TCGTCGTCGTCG\n" in result.out, "how it was started, and in what", result)
ok('\n# hypervisor "TCGTCGTCGTCG" (CPUID.40000000H)\n' in result.out, "QEMU's own processor gives its name", result)
compare("run=99-1")
result = compare("run=15-1,18-15", "machine=pc", "cpus=4", "memory=8G")
ok("# 4 of 4 processors run" in result.out, "8 GiB and 4 processors: all run", result)
check_clean(direct(""), "no command line", ALL, skips=True)

# What make run does with it: no image, and all of the command line's letters.
result = run("scripts/run", env={"ENGINE": "tcg", "EX": "list", "CMDLINE": 'watchdog=5"; $x'})
ok('watchdog=5";' in result.out and "$x" in result.out and result.status == 1, "each letter arrives", result)
result = run("scripts/run", env={"ENGINE": "tcg", "EX": "15-1", "CMDLINE": "a" * 1100})
ok("Bail out! the command line is longer than 1023 bytes" in result.out, "1,100 letters: it says so", result)
ok(not result.tap.points and not result.tap.errors and result.status == 1, "1,100 letters: nothing is run", result)
UEFI = ["medium=kernel", "firmware=uefi", "vars=none"]
for words, right in [(["append=list"], "medium=kernel"), (["medium=kernel", "append=a\nb"], "one line"),
                     (UEFI, "medium=kernel firmware=uefi: "), (UEFI[::-1], "firmware=bios does")]:  # fmt: skip
    result = run("scripts/qemu-command", KERNEL, *words)
    ok(result.status == 2 and right in result.err, f"scripts/qemu-command {words}: refused", result)

# The command of the documentation, to the letter.
page = pathlib.Path("docs/real-hardware.md").read_text(encoding="utf-8")
command = re.search(r"^    (qemu-system-x86_64 -kernel .*)$", page, re.MULTILINE)
said = b""
if ok(command, "docs/real-hardware.md has the command"):
    words = [word.replace("build/", f"{BUILD}/") for word in shlex.split(command[1])]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as child:
        end = time.monotonic() + 60
        while b"switched off" not in said and select.select([child.stdout], [], [], max(0, end - time.monotonic()))[0]:
            if not (text := os.read(child.stdout.fileno(), 65536)):
                break
            said += text
        child.kill()
    ok(b"15-2 skip" in said and b"switched off" in said, "the command of docs/real-hardware.md runs", said.decode())

# ---- Loaders that are wrong ----

LOADER = r"""
        .section .note.Xen, "a", @note
        .balign 4
        .long 4, 4, 18
        .asciz "Xen"
        .long start
        .text
        .code32
start:  mov %ebx, %esi
        mov $info, %edi
        mov $14, %ecx
        cld
        rep movsl
        mov $info, %ebx
        CHANGE
        mov $ENTRY, %eax
        jmp *%eax
        .balign 8
info:   .skip 56
map:    .quad 0, 0x9fc00, 1, 0x100000, 0x0ff00000, 1, RESERVED, 0x1000, 2
"""
LAYOUT = """PHDRS { load PT_LOAD; note PT_NOTE; }
SECTIONS {
    . = 0x4000000;
    .note : { *(.note.Xen) } :load :note
    .text : { *(.text) *(.data) *(.bss) } :load
}
"""
symbols = {name: int(at, 16) for at, _, name in (line.split() for line in run("nm", KERNEL).out.splitlines())}
first, last = symbols["image_start"], symbols["image_end"]
MAP = "movl $map, 40(%ebx); movl $3, 48(%ebx)"
# Name, what the loader changes, where the map has a reserved page, the exit status, what must be said.
TOLD, RUNS = 1, 0
LOADERS = [
    ("all as QEMU has it", "", 0, RUNS, "# 15-2 skip"),
    ("reserved memory before the image", MAP, first - 0x1000, RUNS, "# 15-2 skip"),
    ("reserved memory behind it", MAP, last, RUNS, "# 15-2 skip"),
    ("reserved memory at its head", MAP, first, TOLD, f"0x{first:x}..0x{first + 0x1000:x} is not free (type 2)"),
    ("reserved memory at its end", MAP, last - 0x1000, TOLD, f"0x{last - 0x1000:x}..0x{last:x} is not free (type 2)"),
    ("no memory map", "movl $0, 4(%ebx)", 0, RUNS, "# 15-2 skip"),
    ("another magic", "movl $0, (%ebx)", 0, TOLD, "does not begin with 336ec578h"),
    ("a command line above 4 GiB", "movl $1, 28(%ebx)", 0, TOLD, "memory that cannot be read"),
    ("no command line", "movl $0, 24(%ebx)", 0, RUNS, " 15-1 skip"),
    ("an RSDP that is none", "movl $map, 32(%ebx)", 0, RUNS, "# boot information: the ACPI RSDP"),
]
folder = SCRATCH / "pvh"
folder.mkdir(parents=True, exist_ok=True)
(folder / "layout").write_text(LAYOUT, encoding="utf-8")


def build(change, reserved):
    source, loader = folder / "loader.S", folder / "loader.elf"
    text = LOADER.replace("CHANGE", change).replace("RESERVED", str(reserved))
    source.write_text(text.replace("ENTRY", str(symbols["pvh_start"])), encoding="utf-8")
    built = run("gcc", "-m64", "-static", "-nostdlib", "-no-pie", "-Wl,--build-id=none", "-Wl,-z,noexecstack",
                f"-Wl,-T,{folder}/layout", source, "-o", loader)  # fmt: skip
    if built.status:
        ok(False, f"{change}: the loader is built", built)
    return loader


for name, change, reserved, status, words in LOADERS:
    loader = build(change, reserved)
    described = run("scripts/qemu-command", loader, "medium=kernel", "append=run=15-2")
    result = run(*described.out.splitlines(), "-device", f"loader,file={KERNEL}", seconds=30)
    result.out = result.out.replace("\r\n", "\n")
    ok(words in result.out, f"a loader with {name}: {words}", result)
    equal(result.status, 2 * (0x10 + status) + 1, f"a loader with {name}: the exit status")
    equal(result.tap.errors, [], f"a loader with {name}: valid TAP")
    if status == TOLD:
        ok("Bail out!" in result.out and not result.tap.points, f"a loader with {name}: nothing is run", result)

# The refusal comes late enough for the end that was asked for, and for the screen.
loader = build(MAP, first)
more = ["-device", f"loader,file={KERNEL}"]
with Machine(loader, medium="kernel", append="end=poweroff", debug_exit="no", more=[*more, "-S"]) as m:
    m.watch()
    equal(m.stop_reason(30), "guest-shutdown", "reserved memory and end=poweroff: it goes off")
    ok("Bail out! the loader put" in m.serial and "# end=poweroff: ACPI's state S5\n" in m.serial, "and says both", m.serial)
with Machine(loader, medium="kernel", append="", debug_exit="no", more=more) as m:
    m.wait_for("switched off", 30)
    ok("Bail out! the loader put" in m.text_screen(), "reserved memory: the text screen says so", m.text_screen())

harness.done()
