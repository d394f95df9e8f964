#!/usr/bin/env python3
"""Multiboot (1) images, the ELF and the flat kind, and what a bare-metal test finds at QEMU's ports.

One guest, written to the Multiboot Specification 0.6.96 ("Machine state", "Boot information format"), built in
both kinds: it prints what it was given, one "name value" a line.
"""

import pathlib
import re

import harness
from harness import PMUSIM, SCRATCH, equal, ok, run

HEADER_ELF = ".long 0x1BADB002, 3, -0x1BADB005"
HEADER_FLAT = ".long 0x1BADB002, 0x10003, -0x1BAEB005\n.long header, 0x100000, load_end, bss_end, _start"
SOURCE = r"""
        .section .header, "ax"
        .code32
        .balign 4
header: %s
        .section .text
        .macro SAY name, value
        mov \value, %%ecx
        mov $9f, %%esi
        call say
        jmp 8f
9:      .asciz "\name "
8:
        .endm
        .globl _start
_start: mov $0, %%esp           /* the specification leaves ESP undefined: set before it is used */
        mov $stack, %%esp
        mov %%eax, %%ebp
        SAY magic, %%ebp
        SAY flags, (%%ebx)
        SAY lower, 4(%%ebx)
        SAY upper, 8(%%ebx)
        mov %%cr0, %%eax
        and $0x80000001, %%eax
        SAY cr0, %%eax
        pushf
        pop %%eax
        and $0x20200, %%eax
        SAY eflags, %%eax
        SAY bss, bss
        mov 44(%%ebx), %%edi    /* mmap_length, mmap_addr */
        mov 48(%%ebx), %%ebp
        add %%ebp, %%edi
1:      cmp %%edi, %%ebp
        jae 2f
        SAY base, 4(%%ebp)
        SAY length, 12(%%ebp)
        SAY type, 20(%%ebp)
        add (%%ebp), %%ebp
        add $4, %%ebp
        jmp 1b
2:      mov $0, %%ax            /* fw_cfg: signature, processors, memory */
        call select
        SAY signature, %%eax
        mov $5, %%ax
        call select
        movzx %%ax, %%eax
        SAY processors, %%eax
        mov $3, %%ax
        call select
        SAY memory, %%eax
        mov 16(%%ebx), %%esi    /* cmdline */
        call puts
        mov $0, %%eax           /* as kvm-unit-tests do: 32 bits, 0 for success */
        out %%eax, $0xf4
        hlt
select: mov $0x510, %%edx
        out %%ax, %%dx
        inc %%edx
        mov $4, %%ecx
1:      in %%dx, %%al
        ror $8, %%eax
        loop 1b
        ret
puts:   lodsb
        test %%al, %%al
        jz 1f
        mov $0x3f8, %%edx
        out %%al, %%dx
        jmp puts
1:      ret
say:    push %%eax
        push %%ecx
        call puts
        mov $8, %%ah
        pop %%ecx
1:      rol $4, %%ecx
        mov %%cl, %%al
        and $15, %%al
        add $'0', %%al
        cmp $'9', %%al
        jbe 2f
        add $7, %%al
2:      out %%al, %%dx
        dec %%ah
        jnz 1b
        mov $'\n', %%al
        out %%al, %%dx
        pop %%eax
        ret
load_end:
        .bss
bss:    .skip 4
        .skip 4096
stack:
bss_end:
"""


def build(name, header):
    """The image as 32-bit ELF, and as the plain bytes."""
    folder = SCRATCH / "multiboot"
    folder.mkdir(parents=True, exist_ok=True)
    source, elf64, elf, flat = (folder / f"{name}.{kind}" for kind in ("S", "64", "elf", "flat"))
    source.write_text(SOURCE % header, encoding="utf-8")
    linker = pathlib.Path("tests/guests/link.ld")
    flags = ["-m64", "-fno-pie", "-static", "-nostdlib", "-no-pie", f"-Wl,-T,{linker}", "-Wl,--build-id=none"]
    steps = [
        ["gcc", *flags, "-Wl,-z,noexecstack", "-Wl,-z,max-page-size=4096", source, "-o", elf64],
        ["objcopy", "-O", "elf32-i386", elf64, elf],
        ["objcopy", "-O", "binary", "-j", ".text", elf64, flat],
    ]
    for step in steps:
        built = run(*step)
        if built.status:
            ok(False, f"{name}: builds", built)
    return elf, flat


for kind, image in {"ELF": build("elf", HEADER_ELF)[0], "flat": build("flat", HEADER_FLAT)[1]}.items():
    result = run(PMUSIM, "--cpus", 3, "--memory", 64, "--cmdline", "one two=3", image, seconds=10)
    said = re.findall(r"^(\w+) ([0-9A-F]{8})$", result.out, re.MULTILINE)
    value = {name: int(number, 16) for name, number in said}
    equal(value.get("magic"), 0x2BADB002, f"{kind}: EAX holds the magic")
    ok(value.get("flags", 0) & 0x45 == 0x45, f"{kind}: memory, command line and memory map are given", result)
    equal((value.get("lower"), value.get("upper")), (639, 63 * 1024), f"{kind}: lower and upper memory in KiB")
    equal((value.get("cr0"), value.get("eflags")), (1, 0), f"{kind}: protected, no paging, no interrupts")
    equal(value.get("bss"), 0, f"{kind}: the bss is zero")
    ranges = [int(number, 16) for name, number in said if name in ("base", "length", "type")]
    regions = list(zip(ranges[0::3], ranges[1::3], ranges[2::3]))
    ok((0, 0x9FC00, 1) in regions and (0x100000, 63 << 20, 1) in regions, f"{kind}: the memory map", result)
    ok(result.out.endswith("one two=3"), f"{kind}: the command line", result)
    equal(value.get("signature"), 0x554D4551, f"{kind}: fw_cfg's signature is QEMU")
    equal((value.get("processors"), value.get("memory")), (3, 64 << 20), f"{kind}: fw_cfg's processors and memory")
    ok(result.status == 1 and "wrote 00H" in result.err, f"{kind}: kvm-unit-tests' exit, 2 * 0 + 1 as in QEMU", result)
harness.done()
