#!/usr/bin/env python3
"""A kernel that its loader had to put elsewhere, because the memory from 1 MiB on was taken: it goes home, or says why not.

In the simulator (--fault memory=), whose loader follows the relocatable tag; and with GRUB and UEFI in QEMU, where a
program that GRUB starts first takes the memory.
"""

import re
import shutil

import harness
from harness import ALL, KERNEL, PMUSIM, SCRATCH, check_clean, equal, ok, run
from machine import Machine

REFUSAL = (
    "TAP version 14\nBail out! The memory from 1 MiB on, where this kernel has to be, is not free by the "
    "memory map: it cannot be started on this machine.\n"
)
HOME, TAKEN = 1 << 20, b"\xa5"


def simulated(fault, *words, image=KERNEL, cmdline="run=15-1,15-2,14-6,18-15"):
    faults = ["--fault", f"memory={fault}"] if fault else []
    return run(PMUSIM, "--cpus", 2, *faults, *words, "--max-seconds", 20, "--cmdline", cmdline, image, seconds=60)


def comparable(text):
    """Without the measured figures that depend on what ran before."""
    text = re.sub(r"(mis)?predicted, \d+ cycles?", "predicted", text)
    return re.sub(r"CRC-32 \w{8}", "CRC-32", re.sub(r"TSC \d+ kHz", "TSC", text))


# ---- The kernel in the simulator ----

usual = simulated("")
check_clean(usual, "the memory is free", skips=True)
for fault in ("busy", "busy:2", "busy:3", "busy:64"):  # with 2 and 3 where it lies and where it goes overlap
    result = simulated(fault)
    check_clean(result, f"memory={fault}", skips=True)
    equal(comparable(result.out), comparable(usual.out), f"memory={fault}: it prints what it prints at home")
check_clean(simulated("busy", cmdline="run=all"), "memory=busy, all experiments", ALL, skips=True)
# The command line stands in the boot information, which goes with the image when it is not too large.
result = simulated("busy", cmdline="list " + "x=" * 6000)
ok("longer than 1023 bytes" in result.out, "boot information of 12 KB goes with the image", result)
result = simulated("reserved")
equal(result.out, REFUSAL, "memory=reserved: one line says why")
equal(result.status, 1, "memory=reserved: exit status 1")
result = simulated("busy", "--memory", 16)
ok(result.status == 2 and "the machine has only 16 MiB" in result.err, "no memory is left: said", result)
for word, wrong in [("memory=low", "busy or reserved"), ("memory=busy:1", "from 2 to 64"), ("memory=busyx", "busy or")]:
    result = run(PMUSIM, "--fault", word, KERNEL)
    ok(result.status == 2 and word in result.err and wrong in result.err, f"--fault {word}: refused", result)

# ---- The simulator's loader ----

# Says where it lies, by its own instructions and by the load base tag, in hexadecimal.
GUEST = r"""
        .section .header, "a"
        .balign 8
header: .long 0xe85250d6, 0, end - header, -(0xe85250d6 + (end - header))
        TAG
        .balign 8
        .short 0, 0
        .long 8
end:
        .text
        .code32
        .globl _start
_start: lea 8(%ebx), %esp
        call 1f
1:      pop %ebp
        sub $1b, %ebp
        lea header(%ebp), %ecx
        lea 8(%ebx), %esi
2:      cmpl $21, (%esi)
        je 3f
        mov 4(%esi), %eax
        lea 7(%esi, %eax), %esi
        and $-8, %esi
        cmpl $0, (%esi)
        jne 2b
        lea zero-8(%ebp), %esi
3:      mov $0x3f8, %edx
        call say
        mov 8(%esi), %ecx
        call say
        mov $0x10, %al
        out %al, $0xf4
say:    mov $8, %edi
4:      rol $4, %ecx
        mov %cl, %al
        and $15, %al
        add $'0', %al
        cmp $'9', %al
        jbe 5f
        add $7, %al
5:      out %al, %dx
        dec %edi
        jnz 4b
        mov $'\n', %al
        out %al, %dx
        ret
        .bss
zero:   .skip 8192
"""
folder = SCRATCH / "home"
folder.mkdir(parents=True, exist_ok=True)


def guest(tag):
    source, elf, layout = folder / "guest.S", folder / "guest.elf", folder / "layout"
    source.write_text(GUEST.replace("TAG", tag), encoding="utf-8")
    layout.write_text("ENTRY(_start) SECTIONS { . = 0x100000; .text : { *(.header) *(.text) } .bss : { *(.bss) } }", encoding="utf-8")
    flags = ["-m64", "-static", "-nostdlib", "-no-pie", "-Wl,--build-id=none", "-Wl,-z,noexecstack"]
    built = run("gcc", *flags, "-Wl,-z,max-page-size=4096", f"-Wl,-T,{layout}", source, "-o", elf)
    if built.status:
        ok(False, "the guest is built", built)
    return elf


NONE, LOW, HIGH = 0, 1, 2
TOP = 0xFFFFFFFF
# tag (lowest, highest, alignment, preference), what is taken; where it must lie (None: refused)
PLACES = [
    (None, "", HOME),
    (None, "busy", None),
    ((HOME, TOP, 4096, LOW), "", HOME),
    ((HOME, TOP, 4096, LOW), "busy:2", 2 << 20),
    ((HOME, TOP, 4096, NONE), "reserved", 16 << 20),
    ((HOME, TOP, 4 << 20, LOW), "busy:3", 4 << 20),
    ((HOME, (8 << 20) - 1, 1 << 20, HIGH), "", 7 << 20),
    ((0, TOP, 0, LOW), "", 0x1000),
    ((HOME, (3 << 20) - 1, 4096, LOW), "busy:3", None),
    ((HOME, HOME + 8191, 4096, LOW), "", None),
]
for tag, fault, place in PLACES:
    text = "" if tag is None else f".balign 8; .short 10, 0; .long 24, {', '.join(map(str, tag))}"
    result = simulated(fault, image=guest(text))
    name = f"tag {tag}, memory={fault or 'free'}"
    if place is None:
        ok(result.status == 2 and "free" in result.err, f"{name}: the loader refuses", result)
    else:
        equal(result.out, f"{place:08X}\n{place if tag else 0:08X}\n", f"{name}: it lies at {place:x}H")

# ---- The boot information that it is decided by ----

# A loader of our own in the simulator: the kernel's bytes at 32 MiB, and this boot information.
CARRIER = r"""
        .section .header, "a"
        .balign 8
header: .long 0xe85250d6, 0, end - header, -(0xe85250d6 + (end - header))
        .short 0, 0
        .long 8
end:
        .text
        .code32
        .globl _start
_start: mov $0x36d76289, %eax
        mov $info, %ebx
        mov $ENTRY, %ecx
        jmp *%ecx
        .section .kernel, "a"
        .incbin "KERNEL"
        .data
        .balign 8
info:   .long info_end - info, 0
        .long 1, 17
        .asciz "run=15-2"
        .balign 8
        TAGS
        .balign 8
        .long 0, 8
info_end:
"""
LAYOUT = """ENTRY(_start)
SECTIONS {
    . = 0x1000000; .text : { *(.header) *(.text) *(.data) }
    . = 0x2000000; .kernel : { *(.kernel) }
}
"""
MIB, LAST = 1 << 20, 64 << 20


def memory_map(*entries, entry_size=24, size=None, kind=6):
    """The tag with entries of base, length, type."""
    body = "".join(f".quad {base}, {length}; .long {type}, 0; " for base, length, type in entries)
    return f".long {kind}, {16 + 24 * len(entries) if size is None else size}, {entry_size}, 0; {body}"


ONE = (MIB, LAST - MIB, 1)
GOES, STAYS = "\n# 15-2 ok", "is not free by the memory map"
MAPS = [
    ("one entry", memory_map(ONE), GOES),
    ("from below on", memory_map((0, LAST, 1)), GOES),
    ("to beyond 4 GiB", memory_map((MIB, 1 << 40, 1)), GOES),
    ("two that meet", memory_map((MIB, MIB, 1), (2 * MIB, LAST, 1)), GOES),
    ("the same, the other way round", memory_map((2 * MIB, LAST, 1), (MIB, MIB, 1)), GOES),
    ("three with other kinds between", memory_map((3 * MIB, LAST, 1), (0, 0x9fc00, 1), (2 * MIB, MIB, 1), (0xf0000, 1 << 16, 2),
                                                  (MIB, MIB, 1)), GOES),
    ("behind another tag of odd size", ".long 2, 11; .ascii \"abc\"; .balign 8; " + memory_map(ONE), GOES),
    ("longer entries", f".long 6, {16 + 2 * 32}, 32, 0; .quad 0, {MIB}; .long 2, 0, 0, 0; .quad {MIB}, {LAST}; .long 1, 0, 0, 0",
     GOES),
    ("a hole", memory_map((MIB, MIB, 1), (2 * MIB + 4096, LAST, 1)), STAYS),
    ("its first page is missing", memory_map((MIB + 4096, LAST, 1)), STAYS),
    ("it ends too early", memory_map((MIB, 2 * MIB, 1)), STAYS),
    ("reserved", memory_map((MIB, LAST, 2)), STAYS),
    ("ACPI tables in it", memory_map((MIB, MIB, 1), (2 * MIB, MIB, 3), (3 * MIB, LAST, 1)), STAYS),
    ("above 4 GiB", memory_map(((1 << 32) + MIB, LAST, 1)), STAYS),
    ("no entries", memory_map(), STAYS),
    ("no map", "", STAYS),
    ("another tag", memory_map(ONE, kind=7), STAYS),
    ("entries of no size", memory_map((0, MIB, 2), ONE, entry_size=0), STAYS),
    ("entries too short", memory_map((0, MIB, 2), ONE, entry_size=16), STAYS),
    ("a tag of no size before it", ".long 2, 0; " + memory_map(ONE), STAYS),
    ("a tag without an end before it", ".long 2, 0xfffffff0; " + memory_map(ONE), STAYS),
    ("a tag that leads back to the one before it", ".long 9, 8, 2, 0xfffffff8; " + memory_map(ONE), STAYS),
    ("a tag that ends within its entry", memory_map(ONE, size=39), STAYS),
]
symbols = {name: int(at, 16) for at, _, name in (line.split() for line in run("nm", KERNEL).out.splitlines())}
run("objcopy", "-O", "binary", KERNEL, folder / "kernel.bin")
(folder / "carrier.layout").write_text(LAYOUT, encoding="utf-8")
for name, tags, said in MAPS:
    source, elf = folder / "carrier.S", folder / "carrier.elf"
    text = CARRIER.replace("TAGS", tags).replace("KERNEL", str((folder / "kernel.bin").absolute()))
    entry = symbols["_start"] - symbols["image_start"] + (32 << 20)
    source.write_text(text.replace("ENTRY", str(entry)), encoding="utf-8")
    flags = ["-m64", "-static", "-nostdlib", "-no-pie", "-Wl,--build-id=none", "-Wl,-z,noexecstack", "-Wl,--no-warn-rwx-segments"]
    built = run("gcc", *flags, "-Wl,-z,max-page-size=4096", f"-Wl,-T,{folder}/carrier.layout", source, "-o", elf)
    result = run(PMUSIM, "--max-seconds", 5, elf, seconds=20)
    if ok(built.status == 0 and said in result.out, f"boot information: {name}: {said.strip()}", f"{built}\n{result}"):
        equal(result.tap.errors, [], f"boot information: {name}: valid TAP")

# ---- GRUB, under UEFI ----

# An EFI program that takes memory and fills it (UEFI Specification, "EFI System Table", "EFI_BOOT_SERVICES.
# AllocatePages()"); what it took stays taken when it has returned to GRUB.
TAKER = r"""
        .text
        .globl efi_main
efi_main:
        push %rbx
        push %rdi
        sub $0x38, %rsp
        mov 96(%rdx), %rax
        mov $2, %ecx            /* AllocateAddress */
        mov $TYPE, %edx
        mov $PAGES, %r8d
        lea at(%rip), %r9
        call *40(%rax)
        test %rax, %rax
        jnz 1f
        mov at(%rip), %rdi
        mov $(PAGES * 4096), %ecx
        mov $0xa5, %al
        rep stosb
        xor %eax, %eax
1:      add $0x38, %rsp
        pop %rdi
        pop %rbx
        ret
        .data
at:     .quad AT
"""
MENU = """
insmod all_video
chainloader /take.efi
boot
multiboot2 /boot/pmulab.elf run=15-2
boot
"""
MODULES = "normal iso9660 fat multiboot2 all_video chain part_msdos part_gpt part_acorn part_amiga part_apple part_bsd"
MODULES += " part_dfly part_dvh part_plan part_sun part_sunpc"
AT, PAGES = 2 << 20, 64
RESERVED, BOOT_SERVICES_DATA = 0, 4


def disc(memory_type):
    tree = folder / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    (tree / "boot/grub").mkdir(parents=True)
    shutil.copy(KERNEL, tree / "boot/pmulab.elf")
    (tree / "boot/grub/grub.cfg").write_text(MENU, encoding="utf-8")
    text = TAKER.replace("TYPE", str(memory_type)).replace("PAGES", str(PAGES))
    (folder / "take.S").write_text(text.replace(".quad AT", f".quad {AT}"), encoding="utf-8")
    image = folder / f"take-{memory_type}.iso"
    steps = [
        ["gcc", "-c", folder / "take.S", "-o", folder / "take.o"],
        ["ld", "-m", "i386pep", "--subsystem", "10", "-e", "efi_main", "--image-base", "0", folder / "take.o",
         "-o", tree / "take.efi"],
        ["grub-mkrescue", f"--install-modules={MODULES}", "--fonts=", "--locales=", "--themes=", "-o", image, tree],
    ]  # fmt: skip
    for step in steps:
        made = run(*step)
        if made.status:
            ok(False, "the disc is made", made)
    return image


def boots(memory_type, said):
    """Starts that disc; gives what the serial line said from the kernel's first line on, and the memory that was taken."""
    with Machine(disc(memory_type), firmware="uefi", debug_exit="no", memory="256M") as m:
        m.watch()
        m.wait_for(said, 90)
        path = m.scratch / "memory"
        m._command("pmemsave", val=AT, size=PAGES * 4096, filename=str(path))
        return m.serial[max(m.serial.find("TAP version"), 0) :], path.read_bytes()


out, memory = boots(RESERVED, "on this machine.\n")
equal(out, REFUSAL, "GRUB, memory that UEFI keeps: one line says why")
ok(set(memory) == set(TAKEN), "and what is kept is left alone", f"{len(memory)} bytes: {sorted(set(memory))[:8]}")
out, memory = boots(BOOT_SERVICES_DATA, "switched off")
ok("\n# 15-2 skip\n" in out and "# UEFI" in out, "GRUB, memory of the boot services: it goes home and runs", out)
ok(set(memory) != set(TAKEN), "where that memory was", f"{len(memory)} bytes")

harness.done()
