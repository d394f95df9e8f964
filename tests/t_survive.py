#!/usr/bin/env python3
"""Guests that misbehave: each ends with a clear report and the documented exit status, under the sanitizers.

A case is the 64-bit code of a guest (the frame is tests/guests/long.inc: paging on, an IDT whose handlers come back
to `spin`, the first GiB and the local APIC mapped), what status pmusim ends with, and what it says.
"""

import pathlib
import re

import harness
from harness import BUILD, SCRATCH, ok, run

SIMULATOR = BUILD / "fuzz" / "pmusim"
GUESTS = pathlib.Path("tests/guests")
LIMIT = 300_000
LIMIT_SAID = rf"the limit of {LIMIT} instructions was reached\n.*cpu0 running at RIP 0000000000[0-9A-F]{{6}}H \w+"
SPIN_SAID = r"the limit of .*cpu0 running at RIP 0000000000[0-9A-F]{6}H spin\+0"
TRIPLE = r"triple fault: the processor shut down\n.*cpu0 shut down at RIP"
HALTED = r"no processor can ever run again"
OK, PANIC, LIMITED = 0, 3, 124

NO_IDT = "        lidt nothing\n"
# A generator of pseudo-random numbers in R12; each value in RAX.
RANDOM = """
        jmp start
random: imul $1664525, %r12d, %r12d
        add $1013904223, %r12d
        mov %r12d, %eax
        ret
start:  mov $1, %r12d
"""

FRAME = """
        mov $spin, %eax
        mov %rax, resume
        mov %rsp, saved_sp
        jmp begin
spin:   jmp spin
begin:
"""

CASES = {
    # name: (code, more options, exit status, what stderr must show)
    "a wild jump": ("mov $0x123456789000, %rax\n jmp *%rax", [], LIMITED, SPIN_SAID),
    "a wild jump without an IDT": (NO_IDT + "mov $0x123456789000, %rax\n jmp *%rax", [], PANIC, TRIPLE),
    "a jump to a non-canonical address": (NO_IDT + "mov $1, %rax\n shl $47, %rax\n jmp *%rax", [], PANIC, TRIPLE),
    "a jump into the local APIC": (
        NO_IDT + "mov $0xfee00020, %eax\n jmp *%rax", [], PANIC, r"lacks this: instruction fetch from a device.*fee00020"
    ),
    "a jump beyond the memory": (
        "mov $0x3ffff000, %eax\n jmp *%rax", [], PANIC, r"lacks this: instruction fetch from a device or from nowhere"
    ),
    "a jump into the VGA memory": ("movw $0xfeeb, 0xb8000\n mov $0xb8000, %eax\n jmp *%rax", [], LIMITED, "limit of"),
    "a stack in ROM": ("mov $0xf0000, %esp\n call 1f\n1: ret", [], LIMITED, SPIN_SAID),
    "a stack in ROM without an IDT": (NO_IDT + "mov $0xf0000, %esp\n call 1f\n1: ret", [], PANIC, TRIPLE),
    "a stack in the local APIC": ("mov $0xfee00400, %esp\n int3\n push %rax\n call 1f\n1: ud2", [], LIMITED, SPIN_SAID),
    "a stack that is not mapped": (NO_IDT + "mov $0x7ffffffff000, %rsp\n push %rax", [], PANIC, TRIPLE),
    "page tables in the local APIC": ("mov $0xfee00000, %eax\n mov %rax, %cr3\n nop", [], PANIC, TRIPLE),
    "page tables beyond the memory": ("mov $0x7fff0000, %eax\n mov %rax, %cr3\n nop", [], PANIC, TRIPLE),
    "page tables that map themselves": (
        "movl $pml4 + 7, pml4 + 8\n mov %cr3, %rax\n mov %rax, %cr3\n mov $0x8040201000, %rax\n 1: incq (%rax)\n jmp 1b",
        [], LIMITED, "limit of",
    ),
    "an IDT in the local APIC": ("mov $0xfee00000, %eax\n mov %rax, idt_register + 2\n lidt idt_register\n int3", [], PANIC, TRIPLE),
    "an IDT beyond the memory": ("movq $0x3ffff000, idt_register + 2\n lidt idt_register\n int3", [], PANIC, TRIPLE),
    "a GDT in the local APIC": (
        "mov $0xfee00000, %eax\n mov %rax, gdt_register + 2\n lgdt gdt_register\n mov $DATA, %eax\n mov %eax, %ds", [], PANIC, TRIPLE
    ),
    "no code segment any more": (NO_IDT + "pushq $0x1000\n pushq $0\n lretq", [], PANIC, TRIPLE),
    "endless HLT, interrupts off": ("cli\n1: hlt\n jmp 1b", [], PANIC, HALTED),
    "endless HLT, interrupts on, none to come": ("sti\n1: hlt\n jmp 1b", [], PANIC, HALTED),
    "an endless loop": ("1: jmp 1b", [], LIMITED, LIMIT_SAID),
    "an endless loop of port reads": ("1: in $0x64, %al\n jmp 1b", [], LIMITED, LIMIT_SAID),
    "an endless REP": (
        "mov $-1, %rcx\n mov $0x200000, %edi\n cld\n1: mov $-1, %rcx\n rep lodsb\n jmp 1b",
        ["--max-seconds", "1", "--set", "clock.core_hz=1000000"], LIMITED, "limit of simulated time",
    ),
    "an endless REP INS": (
        "mov $0x40000000, %edi\n mov $-1, %rcx\n mov $0x80, %edx\n mov $0x200000, %edi\n rep insb",
        ["--max-seconds", "1", "--set", "clock.core_hz=10000000"], LIMITED, "limit of",
    ),
    "an interrupt storm": (
        "mov $0xfee00000, %ebx\n movl $0x1ff, 0xf0(%rbx)\n movl $0x20040, 0x320(%rbx)\n movl $1, 0x380(%rbx)\n sti\n1: jmp 1b", [], LIMITED, "limit of"
    ),
    "code that changes itself": (
        "mov $1000, %ecx\n1: incb 2f + 1\n2: mov $0, %al\n cmpb %al, 2b + 1\n jne 3f\n loop 1b\n"
        " mov $0x10, %al\n out %al, $0xf4\n3: mov $0x11, %al\n out %al, $0xf4", [], OK, "^$",
    ),
    "code that changes its next bytes": (
        "movw $0x9090, 1f\n1: ud2\n mov $0x10, %al\n out %al, $0xf4", [], OK, "^$"
    ),
    "an instruction across two mappings of one page": (
        "movl $page + 3, window_table\n movl $page + 3, window_table + 8\n movw $0xb848, page + 0xffe\n"
        " movb $0xe9, page + 8\n movl $0x1000 - 13, page + 9\n mov $WINDOW + 0xffe, %eax\n movb $1, page + 0x500\n jmp *%rax",
        [], LIMITED, "limit of",
    ),
    # But those that end the run: debug exit, CF9H, 64H, also where a wide access reaches them.
    "writes to every port": (
        RANDOM + "xor %edx, %edx\n1: call random\n lea -0xf1(%rdx), %ecx\n cmp $4, %ecx\n jb 2f\n"
        " lea -0xcf6(%rdx), %ecx\n cmp $4, %ecx\n jb 2f\n lea -0x61(%rdx), %ecx\n cmp $4, %ecx\n jb 2f\n"
        " out %al, %dx\n out %ax, %dx\n"
        " out %eax, %dx\n in %dx, %al\n in %dx, %ax\n in %dx, %eax\n2: inc %dx\n jnz 1b\n mov $0x10, %al\n out %al, $0xf4",
        ["--max-insns", "3000000"], OK, ".*",
    ),
    "writes to every MSR near one that exists": (
        RANDOM + "mov $msr_done, %eax\n mov %rax, resume\n mov $0, %r13d\n"
        "msr:    mov %rsp, saved_sp\n call random\n mov %eax, %edx\n call random\n mov %r13d, %ecx\n wrmsr\n"
        " mov %r13d, %ecx\n rdmsr\n"
        "msr_done: inc %r13d\n cmp $0x1b, %r13d\n je msr_done\n cmp $0x2000, %r13d\n jne msr\n"
        " mov $0x10, %al\n out %al, $0xf4", ["--max-insns", "3000000"], OK, ".*",
    ),
    "writes to every register of the local APIC": (
        RANDOM + "mov $0xfee00000, %ebx\n1: call random\n cmp $0xb0, %bl\n mov %eax, (%rbx)\n mov (%rbx), %ecx\n"
        " mov %al, 1(%rbx)\n mov %rax, 8(%rbx)\n add $16, %ebx\n cmp $0xfee01000, %ebx\n jb 1b\n"
        " mov $0x10, %al\n out %al, $0xf4", [], OK, ".*",
    ),
    "writes to every page above the memory": (
        RANDOM + "mov $0xfee00000, %ebx\n1: call random\n mov %eax, (%rbx)\n lock incl 8(%rbx)\n cmp (%rbx), %eax\n"
        " add $0x1000, %ebx\n cmp $0xff000000, %ebx\n jb 1b\n mov $0x10, %al\n out %al, $0xf4", [], OK, ".*",
    ),
    "an event that the machine lacks": (
        "mov $0x186, %ecx\n mov $0x4300ff, %eax\n xor %edx, %edx\n wrmsr\n wrmsr\n xor %ecx, %ecx\n rdpmc\n test %eax, %eax\n"
        " jnz spin\n mov $0x10, %al\n out %al, $0xf4", [], OK,
        r"^(?!.*it stays 0.*it stays 0).*pmusim: skylake: event 0xff umask 0x00 is not in the profile's list: it stays 0",
    ),
    "unknown values at the debug-exit port": ("mov $0x42, %al\n out %al, $0xf4", [], 1, "wrote 42H to the debug-exit port"),
    "INITs to all, start-up IPIs into ROM": (
        "mov $0xfee00000, %ebx\n movl $0xc4500, 0x300(%rbx)\n movl $0xc46e0, 0x300(%rbx)\n1: pause\n jmp 1b", ["--cpus", "3"], LIMITED, "limit of"
    ),
}


def assemble(name, code):
    """A guest's image."""
    stem = SCRATCH / "survive" / re.sub(r"\W+", "_", name)
    stem.parent.mkdir(parents=True, exist_ok=True)
    source = stem.with_suffix(".S")
    source.write_text(
        f'#include "long.inc"\nmain:\n{FRAME}\n{code}\n        .section .data\nnothing: .word 0\n        .quad 0\n',
        encoding="utf-8",
    )
    elf64, image = stem.with_suffix(".64"), stem.with_suffix(".elf")
    flags = ["-m64", "-fno-pie", f"-I{GUESTS}", "-I.", "-static", "-nostdlib", "-no-pie", f"-Wl,-T,{GUESTS}/link.ld"]
    flags += ["-Wl,--build-id=none", "-Wl,-z,noexecstack", "-Wl,-z,max-page-size=4096"]
    built = run("gcc", *flags, source, "-o", elf64)
    if built.status == 0:
        built = run("objcopy", "-O", "elf32-i386", elf64, image)
    if built.status != 0:
        ok(False, f"{name}: assembles", built)
        return None
    return image


for case, (text, options, status, said) in CASES.items():
    guest = assemble(case, text)
    if guest is None:
        continue
    result = run(SIMULATOR, "--max-insns", LIMIT, *options, guest, seconds=30)
    right = result.status == status and re.search(said, result.err, re.DOTALL)
    ok(right and "Sanitizer" not in result.err, f"{case}: status {status}", result)
harness.done()
