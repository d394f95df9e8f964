#!/usr/bin/env python3
"""Makes the kernel's symbol table from the output of `nm`.

usage: nm -n kernel.elf | mksyms.py > symbols.S

Only functions (types t and T) are kept, sorted by address. The table is a count, for each function its 32-bit
address and the 16-bit offset of its name, and the names. In a name a byte below 128 is a character (0 the end); one
from 128 on stands for the pair of such bytes in symbol_pairs: the commonest pairs, found one after the other, so
that a pair may hold pairs. kernel/symbols.c reads all this. Empty input gives an empty table, for the first of the
two link passes.
"""
import collections
import re
import sys

FIRST_PAIR = 128
PAIRS = 256 - FIRST_PAIR
NAME_LENGTH = 48  # SYMBOL_LENGTH of kernel/symbols.c, the NUL included

# What the compiler adds to the name of a function that it split or specialised.
CLONE = re.compile(r"\.(part|isra|constprop|cold)\.?.*$")
# Assembler-made labels carry no name that a reader of a backtrace knows.
LOCAL = re.compile(r"^(\.|\$)")


def functions(lines):
    found = {}
    for line in lines:
        fields = line.split()
        if len(fields) != 3 or fields[1] not in "tT" or LOCAL.match(fields[2]):
            continue
        address, name = int(fields[0], 16), CLONE.sub("", fields[2])
        if len(name) >= NAME_LENGTH:
            sys.exit(f"mksyms: {name} is longer than {NAME_LENGTH - 1} characters")
        if address >= 1 << 32:
            sys.exit(f"mksyms: {name} lies at {address:#x}, above what 32 bits hold")
        # Of several names for one address: one that is not the end of what stands before, a global one, the first.
        rank = (not name.endswith("_end"), fields[1] == "T")
        if address not in found or rank > found[address][0]:
            found[address] = (rank, name)
    return sorted((address, name) for address, (_, name) in found.items())


def pack(names):
    """The names as lists of bytes, and the pairs that the bytes from FIRST_PAIR on stand for."""
    packed, pairs = [list(name.encode("ascii")) for name in names], []
    while len(pairs) < PAIRS:
        count = collections.Counter(pair for name in packed for pair in zip(name, name[1:]))
        # The first in order of equally common ones, so that the table is the same each time.
        pair, times = min(count.items(), key=lambda item: (-item[1], item[0]), default=(None, 0))
        if times < 3:  # it would save no more than its own place in the table
            break
        code = FIRST_PAIR + len(pairs)
        pairs.append(pair)
        packed = [replace(name, pair, code) for name in packed]
    return packed, pairs


def replace(name, pair, code):
    out = []
    for byte in name:
        if out and (out[-1], byte) == pair:
            out[-1] = code
        else:
            out.append(byte)
    return out


def main():
    table = functions(sys.stdin)
    # The linker's own boundary marks are no functions.
    table = [(address, name) for address, name in table if name not in ("text_end", "image_start")]
    packed, pairs = pack([name for _, name in table])
    out = ['    .section .symbols, "a"', "    .balign 4"]
    out += ["    .globl symbol_count, symbol_addresses, symbol_name_offsets, symbol_names, symbol_pairs"]
    out += ["symbol_count:", f"    .long {len(table)}", "symbol_addresses:"]
    out += [f"    .long {address:#x}" for address, _ in table]
    out += ["symbol_name_offsets:"]
    offset = 0
    for name in packed:
        out.append(f"    .short {offset}")
        offset += len(name) + 1
    if offset >= 1 << 16:
        sys.exit(f"mksyms: {offset} bytes of names, more than 16 bits can point into")
    out += ["symbol_names:"]
    for (_, text), name in zip(table, packed):
        out.append("    .byte " + ", ".join(str(byte) for byte in name + [0]) + f" /* {text} */")
    out += ["symbol_pairs:"]
    out += [f"    .byte {first}, {second}" for first, second in pairs]
    out += ['    .section .note.GNU-stack, "", @progbits']
    print("\n".join(out))


if __name__ == "__main__":
    main()
