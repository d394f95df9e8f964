#!/usr/bin/env python3
"""pmusim as a library: it keeps nothing outside its machines, touches no stream, and machines do not meet.

The last is tested with four machines that differ in all that could be shared (profile, processors, faults, trace,
symbols in use), run in turns in one process: each must say exactly what it says alone, and what `pmusim` prints.
"""

import re

import harness
from harness import BUILD, KERNEL, PMUSIM, equal, ok, run

LIBRARY = BUILD / "libpmusim.a"
PROGRAM = BUILD / "test" / "library"
TRACE = {"msr": 1, "pmi": 2, "irq": 4, "exc": 8, "branch": 16, "insn": 32}

# ---- What the linker sees ----
# Sections that a program may write: all state, but for relocated constants (.data.rel.ro), must be a machine's.
table = run("objdump", "-t", LIBRARY)
found = re.findall(r"^(\S+\.o): |^[0-9a-f]+ .{7} (\S+)\t([0-9a-f]+) +(\S+)$", table.out, re.MULTILINE)
member, writable, seen = "", [], 0
for file, section, size, symbol in found:
    member = file or member
    seen += not file
    if re.match(r"\.(data|bss|tdata|tbss)|\*COM\*", section) and not section.startswith(".data.rel.ro"):
        if int(size, 16):
            writable.append(f"{member}: {symbol} in {section}")
ok(table.status == 0 and seen > 500, "objdump reads the library", table.err)
equal(writable, [], "the library has no variable outside its machines")

# Functions that would reach the process's own streams, files or end.
FORBIDDEN = set(
    "stdin stdout stderr printf vprintf puts putchar perror read write poll select open openat fopen freopen "
    "__printf_chk __vprintf_chk exit _exit abort __assert_fail signal sigaction getenv time clock_gettime rand random".split()
)
names = run("nm", "-u", LIBRARY)
used = set(re.findall(r"^ +U (\w+)", names.out, re.MULTILINE))
ok(names.status == 0 and "memcpy" in used, "nm lists what the library takes from the host", names)
equal(sorted(used & FORBIDDEN), [], "it neither prints, nor reads, nor ends the process")

# ---- Machines in turns ----
MACHINES = [  # profile, processors, command line, fault, kinds of trace, from where
    ("skylake", 2, "run=15-3,18-15 console=serial", "", "msr,pmi", ""),
    ("westmere", 1, "run=15-3,14-1,14-9 console=serial", "", "irq,exc", ""),
    ("skylake", 1, "run=15-3,15-4 watchdog=100 console=serial", "pmi=lost:1", "", ""),
    ("westmere", 2, "run=15-2,18-15 pmi=nmi console=serial", "nth-msr=999999", "msr", "tap_plan"),
    ("none", 1, "run=15-1 console=serial", "msr=0x1b", "", ""),
]


def word(profile, cpus, cmdline, fault, kinds, start):
    """A machine as tests/library/main.c takes it."""
    return f"{profile};{cpus};{cmdline};{fault};{sum(TRACE[kind] for kind in kinds.split(',') if kind)};{start}"


def parts(result, name):
    """{(machine, what): text}"""
    if not ok(result.status == 0, f"{name}: they all come to their ends", result):
        return {}
    pieces = re.split(r"^MACHINE (\d+) (console|trace|notes|stop .*)\n", result.out, flags=re.MULTILINE)[1:]
    return {(int(number), what.split()[0]): (what if what.startswith("stop") else text) for number, what, text in zip(pieces[::3], pieces[1::3], pieces[2::3])}


alone = {}
for index, machine in enumerate(MACHINES):
    each = parts(run(PROGRAM, KERNEL, 0, word(*machine)), f"{machine[0]}, alone")
    alone |= {(index, what): text for (_, what), text in each.items()}
ok(
    all(alone.get((index, "console"), "").count("\nok ") > 1 for index in range(len(MACHINES))),
    "alone, each runs its experiments", alone,
)  # fmt: skip
for index, what, said in ((0, "trace", "WRMSR"), (1, "trace", "INTERRUPT"), (3, "notes", "nth-msr")):
    ok(said in alone.get((index, what), ""), f"alone, machine {index}'s {what} has {said}", alone.get((index, what)))
ok(
    " start32+" in alone[0, "trace"] and alone[3, "trace"] and " start32+" not in alone[3, "trace"],
    "alone, machine 3's trace begins later", alone[3, "trace"][:300],
)  # fmt: skip
# The kernel looks at the line status before each byte: that alone must not hand it over.
calls, lines = int(alone[2, "stop"].split()[-1]), alone[2, "console"].count("\n")
ok(lines <= calls <= lines + 20, "the console is handed over line by line", f"{calls} calls for {lines} lines")
ok("not ok" in alone.get((2, "console"), ""), "alone, machine 2 loses its PMI", alone.get((2, "console")))

for slots in (1009, 50021, 3000017):
    turns = parts(run(PROGRAM, KERNEL, slots, *(word(*machine) for machine in MACHINES), seconds=200), f"turns of {slots}")
    for index, machine in enumerate(MACHINES):
        for what in ("stop", "console", "trace", "notes"):
            equal(turns.get((index, what)), alone.get((index, what)), f"in turns of {slots} slots, machine {index} ({machine[0]}): the same {what}")

# ---- The program around it says the same ----
for index, (profile, cpus, cmdline, fault, kinds, start) in enumerate(MACHINES):
    more = [*(("--fault", fault) if fault else ()), *(("--trace", kinds) if kinds else ()), *(("--trace-from", start) if start else ())]
    result = run(PMUSIM, "--profile", profile, "--cpus", cpus, "--memory", 64, "--cmdline", cmdline, *more, KERNEL)
    equal(result.out, alone[index, "console"], f"pmusim prints what machine {index} prints")
    notes = "".join(f"pmusim: {line}\n" for line in alone[index, "notes"].splitlines())
    equal(result.err, alone[index, "trace"] + notes, "and traces and notes the same")

harness.done()
