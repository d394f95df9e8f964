#!/usr/bin/env python3
"""Makes the kernel's symbol table from the output of `nm`.

usage: nm -n kernel.elf | mksyms.py > symbols.S

Only functions (types t and T) are kept, sorted by address. The table is a count, for each function its 32-bit
address and the 16-bit offset of its name, and the names one after the other, each ended by NUL:
kernel/symbols.c reads it. Empty input gives an empty table, for the first of the two link passes.
"""
import re
import sys

# Assembler-made labels carry no name that a reader of a backtrace knows.
LOCAL = re.compile(r"^(\.|\$)")


def functions(lines):
    found = {}
    for line in lines:
        fields = line.split()
        if len(fields) != 3 or fields[1] not in "tT" or LOCAL.match(fields[2]):
            continue
        address, name = int(fields[0], 16), fields[2]
        if address >= 1 << 32:
            sys.exit(f"mksyms: {name} lies at {address:#x}, above what 32 bits hold")
        # Of several names for one address: one that is not the end of what stands before, a global one, the first.
        rank = (not name.endswith("_end"), fields[1] == "T")
        if address not in found or rank > found[address][0]:
            found[address] = (rank, name)
    return sorted((address, name) for address, (_, name) in found.items())


def main():
    table = functions(sys.stdin)
    # The linker's own boundary marks are no functions.
    table = [(address, name) for address, name in table if name not in ("text_end", "image_start")]
    out = ['    .section .symbols, "a"', "    .balign 4"]
    out += ["    .globl symbol_count, symbol_addresses, symbol_name_offsets, symbol_names"]
    out += ["symbol_count:", f"    .long {len(table)}", "symbol_addresses:"]
    out += [f"    .long {address:#x}" for address, _ in table]
    out += ["symbol_name_offsets:"]
    offset = 0
    for _, name in table:
        out.append(f"    .short {offset}")
        offset += len(name) + 1
    if offset >= 1 << 16:
        sys.exit(f"mksyms: {offset} bytes of names, more than 16 bits can point into")
    out += ["symbol_names:"]
    out += [f'    .asciz "{name}"' for _, name in table]
    out += ['    .section .note.GNU-stack, "", @progbits']
    print("\n".join(out))


if __name__ == "__main__":
    main()
