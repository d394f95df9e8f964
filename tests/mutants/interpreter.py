#!/usr/bin/env python3
"""Proves that the differential test can fail.

Puts one wrong line at a time into a copy of the simulator, builds tests/diff against it and expects
it to find the difference. Not part of `make test` (each mutant is a build):

    tests/mutants/interpreter.py SCRATCH_DIRECTORY [part of a mutant's name]

Prints TAP: a mutant that survives is "not ok".
"""

import pathlib
import re
import shutil
import subprocess
import sys

COUNT = 300000

ALU, MUL, SHIFT = "ops_alu.c", "ops_mul.c", "ops_shift.c"
BIT, MOVE, BRANCH, STRING = "ops_bit.c", "ops_move.c", "ops_branch.c", "ops_string.c"

# What is wrong, file in sim/cpu, text, which occurrence, replacement.
MUTANTS = [
    ("SBB: CF without the borrow in", ALU, "BORROWS(a, b, r)", 2, "BORROWS(a, b, (T)(a - b))"),
    ("ADC: CF without the carry in", ALU, "CARRIES(a, b, r)", 2, "CARRIES(a, b, (T)(a + b))"),
    ("INC, DEC change CF", ALU, "bool cf = flag_cf(cpu);", 0, "bool cf = a > r;"),
    ("CMPXCHG: operands of the comparison swapped", ALU, "flags_sub(cpu, acc, old, r", 0,
     "flags_sub(cpu, old, acc, r"),
    ("CMPXCHG16B: high half not compared", ALU, "lo == cpu->r[RAX] && hi == cpu->r[RDX]", 0,
     "lo == cpu->r[RAX]"),
    ("MUL: high half off when the low is all ones", MUL, "(u64)(v >> (8u << size)) & size_mask", 0,
     "(u64)((v + 1) >> (8u << size)) & size_mask"),
    ("IMUL: overflow judged by 64 bits", MUL, "(s128)(s64)sign_extend((u64)v, size)", 0,
     "(s128)(s64)v"),
    ("PF from seven bits", "flags.h", "& 0xff)", 0, "& 0x7f)"),
    ("setting CF clears OF", "flags.h", "flags_set_cf_of(cpu, cf, flag_of(cpu))", 0,
     "flags_set_cf_of(cpu, cf, false)"),
    ("condition LE ignores OF", "flags.h", "flag_zf(cpu) || flag_sf(cpu) != flag_of(cpu)", 0,
     "flag_zf(cpu) || flag_sf(cpu)"),
    ("SHL: OF never set", SHIFT, "of = cf != (r >> (bits - 1) & 1);", 0, "of = false;"),
    ("shift counts masked to five bits", SHIFT, "op->size == 3 ? 63 : 31", 0, "31"),
    ("RCL, RCR: count modulo the width", SHIFT, "count %= bits + 1;", 0, "count %= bits;"),
    ("SHR by the width leaves the operand", SHIFT, "r = count < bits ? a >> count : 0;", 0,
     "r = a >> (count & (bits - 1));"),
    ("shift by 0 sets the flags", SHIFT, "if (count)\n        r = op->cc", 0,
     "if (count || op->cc == SHIFT_SAR)\n        r = op->cc"),
    ("BT: negative offsets go up", BIT, "(s64)offset >> (3 + size)", 0, "offset >> (3 + size)"),
    ("BSR counts from the top", BIT, "63u - (unsigned)__builtin_clzll(v)", 0,
     "(unsigned)__builtin_clzll(v)"),
    ("BZHI: index beyond a byte", BIT, "op->t, op->size) & 0xff, bits", 0,
     "op->t, op->size), bits"),
    ("ADOX uses CF", BIT, "by_of ? flag_of(cpu) : flag_cf(cpu)", 0, "flag_cf(cpu)"),
    ("CMOVcc: upper half kept when false", MOVE, "    reg_put(cpu, op->d, op->size, v);\n    NEXT;\n}\nHANDLER(op_setcc)", 0,
     "    if (flags_condition(cpu, op->cc))\n        reg_put(cpu, op->d, op->size, v);\n    NEXT;\n}\nHANDLER(op_setcc)"),
    ("PUSH: RSP moved before the fault", MOVE, "u64 sp = cpu->r[RSP] - 8;", 0,
     "u64 sp = cpu->r[RSP] -= 8;"),
    ("XLAT: AL sign-extended", MOVE, "get_u8(cpu, OFF(RAX))) & op->mask", 0,
     "(s64)(int8_t)get_u8(cpu, OFF(RAX))) & op->mask"),
    ("LEAVE pops at RSP", MOVE, "stack_set(cpu, cpu->r[RBP] + n)", 0,
     "stack_set(cpu, cpu->r[RSP] + n)"),
    ("RET imm16 ignores its operand", BRANCH, "sp + n + op->imm", 0, "sp + n"),
    ("LOOP always counts in RCX", BRANCH, "(reg_get(cpu, OFF(RCX), op->from) - 1) & size_mask(op->from)",
     0, "cpu->r[RCX] - 1"),
    ("strings ignore DF", STRING, "cpu->rflags & RFLAGS_DF ? -(u64)n : n", 0, "n"),
    ("CMPS, SCAS: AF", STRING, "cpu->lazy.aux = borrows & LAZY_AF;", 0, "cpu->lazy.aux = 0;"),
    ("scale 4 and 8 taken for 1 and 2", "decode.c", "__builtin_ctz(o->mem.scale)", 0,
     "__builtin_ctz(o->mem.scale) & 1"),
    ("RIP-relative from the instruction's start", "decode.c", "op->rip + z->length);", 0,
     "op->rip);"),
    ("67H ignored", "decode.c", "op->mask = width_mask(z->address_width);", 0,
     "op->mask = UINT64_MAX;"),
    ("page-crossing store: second part", "memory.c", "value >> (8 * sp->first)", 0, "value"),
    ("page-crossing load: second part", "memory.c", "sp->n - sp->first) << (8 * sp->first)", 0,
     "sp->n - sp->first) << 8"),
    ("read-modify-write checked as a read", "memory.c", "span_open(cpu, &m->span, op, linear, n, ACCESS_WRITE",
     0, "span_open(cpu, &m->span, op, linear, n, ACCESS_READ"),
    ("#GP for a non-canonical stack reference", "memory.c", "op && op->seg == SEG_SS ? VEC_SS : VEC_GP",
     0, "VEC_GP"),
    ("fault: RIP of the block's start", "exec.c", "rip = op->rip;\n            take_back", 0,
     "rip = b->rip;\n            take_back"),
    ("RORX: count lost", "decode.c",
     "set_source(op, z, &o[1], mode);\n        op->imm = o[2].imm.value.u;", 0,
     "set_source(op, z, &o[1], mode);\n        op->imm = 0;"),
]


def replace(text, old, occurrence, new):
    at = -1
    for _ in range(occurrence + 1):
        at = text.find(old, at + 1)
        if at < 0:
            return None
    return text[:at] + new + text[at + len(old):]


def build(tree):
    return subprocess.run(["make", "-s", "O=mutants", "WARNINGS=-w", "mutants/test/diff"], cwd=tree,
                          capture_output=True, text=True, check=False)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    root = pathlib.Path(__file__).resolve().parents[2]
    tree = pathlib.Path(sys.argv[1]).resolve() / "tree"
    wanted = [m for m in MUTANTS if len(sys.argv) < 3 or sys.argv[2] in m[0]]
    if tree.exists():
        shutil.rmtree(tree)
    shutil.copytree(root, tree, ignore=shutil.ignore_patterns(".git", "build"))
    print(f"TAP version 14\n1..{len(wanted)}")
    survived = 0
    for number, (name, file, old, occurrence, new) in enumerate(wanted, 1):
        path = tree / "sim" / "cpu" / file
        original = path.read_text()
        mutated = replace(original, old, occurrence, new)
        why = ""
        if mutated is None:
            why = "the text to change is no longer there"
        else:
            path.write_text(mutated)
            made = build(tree)
            if made.returncode:
                why = "does not build: " + made.stderr.strip().splitlines()[0]
            else:
                ran = subprocess.run([tree / "mutants/test/diff", "--count", str(COUNT)],
                                     capture_output=True, text=True, check=False)
                if ran.returncode == 0:
                    why = "survived"
                found = re.findall(r"^# differ: (.*), (\d+) times", ran.stdout, re.M)
            path.write_text(original)
        survived += bool(why)
        print(f"{'not ok' if why else 'ok'} {number} - {name}{': ' + why if why else ''}")
        if not why:
            blamed = {}
            for form, times in found:
                blamed[form] = blamed.get(form, 0) + int(times)
            top = sorted(blamed.items(), key=lambda item: -item[1])[:4]
            print("#   found in " + ", ".join(f"{form} ({times})" for form, times in top))
        sys.stdout.flush()
    sys.exit(1 if survived else 0)


main()
