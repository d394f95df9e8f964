#!/usr/bin/env python3
"""The numbers of x86/*.h against tests/model/facts.txt, a list of them from the manual; as C reads them and as GNU as
does. A number in a header that the list lacks is an error too: nothing escapes."""

import os
import pathlib
import re
import subprocess

from harness import SCRATCH, done, equal, ok

LIST = pathlib.Path("tests/model/facts.txt")
C_ONLY = {"x86/decode.h", "x86/maker.h", "x86/text.h"}  # no numbers
HELPERS = {"x86/bits.h"}  # macros with an argument, includes
CC = os.environ.get("CC", "gcc")


def listed():
    """{header: {name: value}} of the list."""
    facts, header = {}, None
    for number, line in enumerate(LIST.read_text("utf-8").splitlines(), 1):
        line = line.strip()
        if not line or line[0] == "#":
            continue
        if match := re.fullmatch(r"\[(.*)\]", line):
            header = facts.setdefault(match[1], {})
            continue
        name, text = line.split(None, 1)
        if name in header or header is None:
            raise SystemExit(f"{LIST}:{number}: {name} again, or in no header")
        header[name] = value_of(text, number)
    return facts


def value_of(text, number):
    """The number that a cell of the manual's tables says."""
    if match := re.fullmatch(r"([0-9A-F]+)H", text):
        return int(match[1], 16)
    if match := re.fullmatch(r"\d+", text):
        return int(text)
    if match := re.fullmatch(r"bit (\d+)", text):
        return 1 << int(match[1])
    if match := re.fullmatch(r"bits (\d+):(\d+)", text):
        return (1 << int(match[1]) + 1) - (1 << int(match[2]))
    if match := re.fullmatch(r"([01]+)B at (\d+):(\d+)", text):
        if len(match[1]) != int(match[2]) - int(match[3]) + 1:
            raise SystemExit(f"{LIST}:{number}: {text}: so many digits are no such field")
        return int(match[1], 2) << int(match[3])
    if match := re.fullmatch(r"event ([0-9A-F]?)([0-9A-F]{2})H umask ([0-9A-F]{2})H", text):  # AMD's: 12 bits
        return int(match[1] or "0", 16) << 32 | int(match[3], 16) << 8 | int(match[2], 16)
    forms = "1A0H, 12, bit 22, bits 15:8, 100B at 10:8 or event C0H umask 00H"
    raise SystemExit(f"{LIST}:{number}: '{text}': must be of the form {forms}")


def names_in(header):
    """What a header defines: macros without arguments (guards are empty), and the numbers of events."""
    text = pathlib.Path(header).read_text("utf-8")
    macros = re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+\S", text, re.MULTILINE)
    bodies = re.findall(r"\benum \w+ \{(.*?)\}", text, re.DOTALL)
    return macros, [name for body in bodies for name in re.findall(r"^\s*(\w+)", body, re.MULTILINE)]


def read_by_c(header, names):
    """{name: value}, as the C compiler has them."""
    source = SCRATCH / "facts.c"
    rows = "".join(f'    printf("{name} %llu\\n", (unsigned long long)({name}));\n' for name in names)
    source.write_text(f'#include "{header}"\n#include <stdio.h>\nint main(void)\n{{\n{rows}}}\n', encoding="utf-8")
    subprocess.run([CC, "-I.", source, "-o", SCRATCH / "facts"], check=True)
    lines = subprocess.run([SCRATCH / "facts"], check=True, capture_output=True, text=True).stdout.split("\n")
    return {name: int(value) for name, value in (line.split() for line in lines if line)}


def read_by_as(header, names):
    """The same by the assembler."""
    source, flat = SCRATCH / "facts.S", SCRATCH / "facts.bin"
    source.write_text(f'#include "{header}"\n.data\n' + "".join(f".quad {name}\n" for name in names), encoding="utf-8")
    subprocess.run([CC, "-I.", "-c", source, "-o", SCRATCH / "facts.o"], check=True)
    subprocess.run(["objcopy", "-O", "binary", "-j", ".data", SCRATCH / "facts.o", flat], check=True)
    data = flat.read_bytes()
    return {name: int.from_bytes(data[8 * i : 8 * i + 8], "little") for i, name in enumerate(names)}


SCRATCH.mkdir(parents=True, exist_ok=True)
facts = listed()
headers = {str(path) for path in pathlib.Path("x86").glob("*.h")} - C_ONLY - HELPERS
equal(sorted(facts), sorted(headers), "the list has each header of x86/ with numbers")
for header in sorted(headers & facts.keys()):
    macros, enums = names_in(header)
    wanted = facts[header]
    equal(sorted(set(macros + enums) ^ set(wanted)), [], f"{header}: every number is in the list, and no other")
    for reader, names in ((read_by_c, macros + enums), (read_by_as, macros)):
        got = reader(header, names)
        wrong = [
            f"{name}: the header says {got[name]:X}H, the manual {wanted[name]:X}H"
            for name in names
            if name in wanted and got[name] != wanted[name]
        ]
        who = "C" if reader is read_by_c else "GNU as"
        ok(len(got) == len(names) > 0 and not wrong, f"{header}: as {who} reads it", "\n".join(wrong))
for header in sorted(C_ONLY | HELPERS):
    equal(names_in(header)[0], [], f"{header} defines no number")
done()
