#!/usr/bin/env python3
"""Linux's and PVH's ways into a kernel: what pmusim's loader leaves, as a kernel finds it.

One guest for each protocol, written to Linux's Documentation/x86/boot.rst ("64-bit Boot Protocol") and zero-page.rst
and to Xen's docs/misc/pvh.pandoc; it prints what it was given, one "name value" a line. The PVH guest runs in QEMU,
too, and the bzImage is a file made by hand of the same code as the vmlinux.
"""

import re
import struct

import harness
from harness import PMUSIM, SCRATCH, equal, ok, run

# Prints without a stack: none is promised. SAY uses RCX, RDX, RSI, RDI.
COMMON = r"""
        .macro SAY name, value
        mov \value, %ecx
        mov $9f, %esi
        mov $8f, %edi
        jmp say
9:      .asciz "\name "
8:
        .endm
        .macro TEXT at
        mov \at, %esi
        mov $8f, %edi
        jmp text
8:
        .endm
        .text
SIZE
say:    mov $0x3f8, %edx
1:      lodsb
        test %al, %al
        jz 2f
        out %al, %dx
        jmp 1b
2:      mov $8, %ah
3:      rol $4, %ecx
        mov %cl, %al
        and $15, %al
        add $'0', %al
        cmp $'9', %al
        jbe 4f
        add $7, %al
4:      out %al, %dx
        dec %ah
        jnz 3b
5:      mov $'\n', %al
        out %al, %dx
        jmp *JUMP
text:   mov $0x3f8, %edx
6:      lodsb
        test %al, %al
        jz 5b
        out %al, %dx
        jmp 6b
leave:  mov $0x10, %al
        out %al, $0xf4
        hlt
"""
LINUX = r"""
        .section .note.Linux, "a", @note
        .long 6, 4, 0x100
        .asciz "Linux"
        .balign 4
        .long 0
        .section .head, "ax"
        .code64
        .globl _start
_start: jmp start64
        .org 0x200
        jmp start64
        .text
start64:
        mov %rsi, %r12
        cld
        mov %cs, %ecx
        SAY cs, %ecx
        mov %ds, %ecx
        SAY ds, %ecx
        mov %ss, %ecx
        SAY ss, %ecx
        lea _start(%rip), %eax
        SAY start, %eax
        mov $stack, %esp        /* what is given is said; now the tables must hold */
        pushfq
        pop %rcx
        SAY rflags, %ecx
        mov %cr0, %rax
        SAY cr0, %eax
        mov $0xc0000080, %ecx
        rdmsr
        SAY efer, %eax
        pushq $0x10             /* __BOOT_CS and __BOOT_DS from the table that GDTR names */
        pushq $1f
        lretq
1:      mov $0x18, %eax
        mov %eax, %ds
        mov %eax, %es
        mov %eax, %ss
        SAY reloaded, %eax
        SAY sentinel, 0x1ef(%r12)
        SAY magic, 0x202(%r12)
        SAY loader, 0x210(%r12)
        SAY entries, 0x1e8(%r12)
        movzbl 0x1e8(%r12), %ebp
        lea 0x2d0(%r12), %r13
2:      SAY base, (%r13)
        SAY length, 8(%r13)
        SAY type, 16(%r13)
        add $20, %r13
        dec %ebp
        jnz 2b
        mov 0x70(%r12), %rax
        mov (%rax), %ebp
        SAY rsdp, %ebp
        SAY initrd, 0x218(%r12)
        SAY size, 0x21c(%r12)
        mov 0x218(%r12), %r13d
        SAY first, (%r13)
        mov $bss, %eax
        SAY bss, (%rax)
        mov $0xbffffffc, %eax           /* mapped, though nothing is there */
        mov (%rax), %ecx
        TEXT 0x228(%r12)
        jmp leave
        .bss
bss:    .skip 4
        .skip 256
stack:
"""
PVH = r"""
        .section .note.Xen, "a", @note
        .balign 4
        .long 4, 4, 18
        .asciz "Xen"
        .long pvh
        .section .head, "ax"
        .code32
        .globl _start
_start: ud2                     /* the entry is the note's */
pvh:    mov %ebx, %ebp
        cld
        mov %cr0, %eax
        SAY cr0, %eax
        mov %cr4, %eax
        SAY cr4, %eax
        SAY magic, 0(%ebp)
        SAY modules, 12(%ebp)
        mov 16(%ebp), %ebx
        SAY size, 8(%ebx)
        mov (%ebx), %ebx
        SAY first, (%ebx)
        mov 32(%ebp), %ebx
        SAY rsdp, (%ebx)
        mov 40(%ebp), %ebx
        SAY base, (%ebx)
        SAY type, 16(%ebx)
        TEXT 24(%ebp)
        mov $stack, %esp
        str %ax
        movzx %ax, %eax
        SAY tr, %eax
        jmp leave
        .bss
        .skip 256
stack:
"""
LAYOUT = """PHDRS { load PT_LOAD; note PT_NOTE; }
SECTIONS {
    . = 0x1000000;
    .text : { *(.head) *(.text) } :load
    .note : { *(.note.Linux) *(.note.Xen) } :load :note
    .bss : { *(.bss) } :load
    /DISCARD/ : { *(.note.GNU-stack) *(.note.gnu.property) }
}
"""
MIB = 1 << 20
folder = SCRATCH / "loader"
folder.mkdir(parents=True, exist_ok=True)
(folder / "layout").write_text(LAYOUT, encoding="utf-8")


def build(name, source, bits):
    common = COMMON.replace("SIZE", f".code{bits}").replace("JUMP", "%rdi" if bits == 64 else "%edi")
    (folder / f"{name}.S").write_text(common + source, encoding="utf-8")
    image = folder / name
    built = run("gcc", f"-m{bits}", "-static", "-nostdlib", "-no-pie", "-fno-pie", "-Wl,--build-id=none", "-Wl,-z,noexecstack",
                f"-Wl,-T,{folder}/layout", f"{image}.S", "-o", image)  # fmt: skip
    if built.status:
        ok(False, f"{name}: builds", built)
    return image


def bzimage(vmlinux, **change):
    """A bzImage around the vmlinux's code: a setup part of two sectors, its header, the 64-bit part."""
    flat = folder / "flat"
    run("objcopy", "-O", "binary", "-j", ".text", vmlinux, flat)
    field = {"sects": 1, "version": 0x20F, "xloadflags": 1, "cmdline": 255, "pref": 0x1200000, "init": 0x100000, "max": 0x7FFFFFFF} | change
    setup = bytearray(1024)
    setup[0x1EF] = 0xFF  # not the loader's to copy
    setup[0x1F1] = field["sects"]
    for at, form, value in [
        (0x1FE, "H", 0xAA55), (0x200, "H", 0x6AEB), (0x202, "4s", b"HdrS"), (0x206, "H", field["version"]), (0x211, "B", 1),
        (0x22C, "I", field["max"]), (0x236, "H", field["xloadflags"]), (0x238, "I", field["cmdline"]), (0x258, "Q", field["pref"]),
        (0x260, "I", field["init"]),
    ]:  # fmt: skip
        struct.pack_into("<" + form, setup, at, value)
    image = folder / "bzImage"
    image.write_bytes(bytes(setup) + flat.read_bytes())
    return image


def values(result):
    return [(name, int(number, 16)) for name, number in re.findall(r"^(\w+) ([0-9A-F]{8})\r?$", result.out, re.MULTILINE)]


def check_linux(kind, image, words, start, most):
    result = run(PMUSIM, "--memory", 64, "--initrd", initrd, "--cmdline", words, image, seconds=10)
    said = values(result)
    value = dict(said)
    equal((value.get("cs"), value.get("ds"), value.get("ss")), (0x10, 0x18, 0x18), f"{kind}: selectors")
    equal(value.get("start"), start, f"{kind}: where it runs")
    equal(value.get("rflags", 0x200) & 0x200, 0, f"{kind}: interrupts are off")
    equal(value.get("cr0", 0) & 0x80000001, 0x80000001, f"{kind}: protected mode and paging")
    equal(value.get("efer", 0) & 0x500, 0x500, f"{kind}: EFER.LME and LMA")
    equal(value.get("reloaded"), 0x18, f"{kind}: the selectors can be loaded again")
    equal(value.get("sentinel", 1) & 0xFF, 0, f"{kind}: the sentinel is 0")
    equal(value.get("magic"), 0x53726448, f"{kind}: HdrS")
    equal(value.get("loader", 0) & 0xFF, 0xFF, f"{kind}: type_of_loader")
    numbers = [number for name, number in said if name in ("base", "length", "type")]
    regions = list(zip(numbers[0::3], numbers[1::3], numbers[2::3]))
    ok((0, 0x9FC00, 1) in regions and (MIB, 63 * MIB, 1) in regions, f"{kind}: the memory map", result)
    equal(value.get("entries", 0) & 0xFF, len(regions), f"{kind}: as many entries as it says")
    equal(value.get("rsdp"), 0x20445352, f"{kind}: acpi_rsdp_addr points at 'RSD '")
    equal((value.get("size"), value.get("first")), (5000, 0x74696E69), f"{kind}: the initrd's size and begin")
    equal(value.get("initrd"), 64 * MIB - 8192, f"{kind}: the initrd lies in the highest pages")
    equal(value.get("bss"), 0, f"{kind}: the bss is zero")
    ok(result.out.endswith(f"\n{words}\n"), f"{kind}: the command line", result)
    equal(result.status, 0, f"{kind}: it comes to its end")
    result = run(PMUSIM, "--memory", 64, "--cmdline", "a" * (most + 1), image, seconds=10)
    ok(result.status == 2 and f"the kernel takes {most})" in result.err, f"{kind}: {most + 1} letters are refused", result)
    equal(run(PMUSIM, "--memory", 64, "--cmdline", "a" * most, image, seconds=10).out[-most - 1 :], "a" * most + "\n", f"{kind}: {most} arrive")


initrd = folder / "initrd"
initrd.write_bytes(b"initrd" + bytes(4994))
vmlinux = build("vmlinux", LINUX, 64)
check_linux("vmlinux", vmlinux, "console=ttyS0 x", 0x1000000, 2047)
# The code of the vmlinux is at home at 1000000H: there its addresses hold.
check_linux("bzImage", bzimage(vmlinux, pref=0x1000000), "console=ttyS0 x", 0x1000000, 255)

result = run(PMUSIM, "--memory", 64, "--initrd", initrd, bzimage(vmlinux, pref=0x1000000, max=0x2FFFFFF), seconds=10)
equal(dict(values(result)).get("initrd"), 0x3000000 - 8192, "bzImage: initrd_addr_max holds")

pvh = build("pvh", PVH, 32)
words = ["append=one two", f"initrd={initrd}"]
mine = run(PMUSIM, "--memory", 256, "--initrd", initrd, "--cmdline", "one two", pvh, seconds=10)
value = dict(values(mine))
equal((value.get("cr0", 0) & 0x80000001, value.get("cr4")), (1, 0), "PVH: protected, no paging")
equal(value.get("magic"), 0x336EC578, "PVH: the magic")
equal((value.get("modules"), value.get("size"), value.get("first")), (1, 5000, 0x74696E69), "PVH: the initrd is the module")
equal(value.get("rsdp"), 0x20445352, "PVH: the RSDP")
equal((value.get("base"), value.get("type")), (0, 1), "PVH: the memory map begins with memory")
ok("\none two\n" in mine.out, "PVH: the command line", mine)
qemu = run("qemu-system-x86_64", "-display", "none", "-serial", "stdio", "-m", 256, "-device", "isa-debug-exit", "-kernel", pvh, "-initrd", initrd,
           "-append", "one two", seconds=30)  # fmt: skip
equal(values(qemu), values(mine), "PVH: QEMU's loader gives the same")

# ---- What is refused, and how ----
big = folder / "big"
big.write_bytes(bytes(49 * MIB))
for name, words, said in [
    ("an initrd too large", ["--memory", 64, "--initrd", big, vmlinux], "no room for the initrd of 51380224 bytes"),
    ("no initrd there", ["--initrd", folder / "absent", vmlinux], "absent: No such file"),
    ("a kernel too large", ["--memory", 16, vmlinux], "does not fit the memory"),
    ("bzImage without a 64-bit entry", [bzimage(vmlinux, xloadflags=0)], "without a 64-bit entry"),
]:
    result = run(PMUSIM, *words, seconds=10)
    ok(result.status == 2 and said in result.err and result.out == "", f"{name}: refused", result)
for name, change, said in [
    ("an old bzImage", {"version": 0x20B}, "boot protocol 2.11"),
    ("a bzImage that ends early", {"sects": 60}, "does not lie within"),
    ("a bzImage that needs less than it has", {"init": 64}, "does not lie within"),
    ("a bzImage at 64 GiB", {"pref": 1 << 36}, "must lie below 4 GiB"),
]:
    result = run(PMUSIM, bzimage(vmlinux, **change), seconds=10)
    ok(result.status == 2 and said in result.err and result.out == "", f"{name}: refused", result)
result = run(PMUSIM, "--initrd", initrd, harness.KERNEL, seconds=10)
ok(result.status == 2 and "an initrd is for" in result.err, "an initrd for a Multiboot kernel: refused", result)
harness.done()
