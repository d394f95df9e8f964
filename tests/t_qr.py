#!/usr/bin/env python3
"""The QR encoder (runner/qr.c) makes symbols that a reader of others reads: all sizes, levels and masks."""

import random
import re
import subprocess

import harness
import zbar
from harness import BUILD, SCRATCH, equal, ok

CHARACTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:"
VERSIONS = range(1, 16)
# ISO/IEC 18004:2015, table 7: alphanumeric characters that a version holds at level L and at level M.
CAPACITY = {
    "L": [25, 47, 77, 114, 154, 195, 224, 279, 335, 395, 468, 535, 619, 667, 758],
    "M": [20, 38, 61, 90, 122, 154, 178, 221, 262, 311, 366, 419, 483, 528, 600],
}
chance = random.Random(18004)


def encode(wanted):
    """wanted: (version, level, mask, text); gives (version, level, mask, penalty, rows) or None for each."""
    lines = "".join(f"{version} {level} {mask} {text}\n" for version, level, mask, text in wanted)
    made = subprocess.run([BUILD / "test/qr"], input=lines, stdout=subprocess.PIPE, text=True, timeout=300, check=False)
    symbols = []
    for block in made.stdout.split("\n\n")[:-1]:
        head, *rows = block.split("\n")
        version, level, mask, penalty = head.split() if rows else (0, "", 0, 0)
        symbols.append((int(version), level, int(mask), int(penalty), rows) if rows else None)
    if made.returncode or len(symbols) != len(wanted):
        ok(False, f"the encoder answers each of {len(wanted)} lines", f"{made.returncode} {len(symbols)}")
        harness.done()
    return symbols


def read(name, symbols):
    """What zbarimg reads of each symbol."""
    paths = [SCRATCH / f"qr-{name}-{i}.png" for i in range(len(symbols))]
    for path, (*_, rows) in zip(paths, symbols):
        zbar.draw(path, rows)
    return zbar.read(*paths)


def text_of(length):
    return "".join(chance.choice(CHARACTERS) for _ in range(length))


def penalty(rows):
    """Clause 7.8.3, with the symbol's rows and columns as text."""
    size = len(rows)
    total = 0
    for line in [*rows, *("".join(column) for column in zip(*rows))]:
        total += sum(len(run) - 2 for run in re.findall("0{5,}|1{5,}", line))
        total += 40 * len(re.findall("(?=10111010000|00001011101)", line))
    for upper, lower in zip(rows, rows[1:]):
        total += 3 * sum(upper[x : x + 2] + lower[x : x + 2] in ("0000", "1111") for x in range(size - 1))
    percent = 100 * sum(row.count("1") for row in rows) / size**2
    return total + 10 * int(abs(percent - 50) / 5)


def damaged(rows, columns):
    """The symbol with that many columns of data inverted from the right, below the upper right finder."""
    size = len(rows)
    flip = str.maketrans("01", "10")
    return [row if y < 9 else row[: size - columns] + row[size - columns :].translate(flip) for y, row in enumerate(rows)]


# Every version, level and mask, filled to the last character, in an odd length, and nearly empty.
for version in VERSIONS:
    for level in "LM":
        full = CAPACITY[level][version - 1]
        lengths = [full, full - 1, full // 2, 1, full, full - 1, full // 3, 2]
        wanted = [(version, level, mask, text_of(length)) for mask, length in enumerate(lengths)]
        symbols = encode(wanted)
        seen = read(f"{version}{level}", symbols)
        equal(seen, [[text] for *_, text in wanted], f"{version}-{level}: all masks are read back")
        equal([s[3] for s in symbols], [penalty(s[4]) for s in symbols], f"{version}-{level}: the penalties")
        equal(len(symbols[0][4]), 17 + 4 * version, f"{version}-{level}: the size")
        refused = encode([(version, level, 0, text_of(full + 1))])
        equal(refused, [None], f"{version}-{level}: it holds {full} characters and no more")

# Every character, at both places of a pair and alone.
texts = [c + "A" for c in CHARACTERS] + ["A" + c for c in CHARACTERS] + list(CHARACTERS)
seen = read("each", encode([(1, "L", i % 8, text) for i, text in enumerate(texts)]))
equal(seen, [[text] for text in texts], "each of the 45 characters")
others = [chr(c) for c in range(33, 256) if chr(c) not in CHARACTERS and chr(c) != "\x85"]
equal(encode([(1, "L", 0, f"A{c}B") for c in others]), [None] * len(others), "all others are refused")

# What qr_encode() chooses: the smallest version, the higher level where that costs nothing, the best mask.
for length in (1, 20, 21, 25, 26, 122, 154, 155, 195, 196, 335, 336, 600, 758):
    text = text_of(length)
    (symbol,) = encode([(15, "best", "-", text)])
    version, level, mask, _, rows = symbol
    smallest = next(v for v in VERSIONS if CAPACITY["L"][v - 1] >= length)
    wanted = (smallest, "M" if CAPACITY["M"][smallest - 1] >= length else "L")
    equal((version, level), wanted, f"{length} characters: version and level")
    all_masks = encode([(version, level, m, text) for m in range(8)])
    ok(symbol in all_masks, f"{length} characters: it is one of the eight")
    equal(penalty(rows), min(penalty(s[4]) for s in all_masks), f"{length} characters: with the lowest penalty")
    equal(read("best", [symbol]), [[text]], f"{length} characters: read back")
equal(encode([(6, "best", "-", text_of(196)), (15, "best", "-", text_of(759))]), [None, None], "too long is refused")

# The correction is what it has to be: with as many wrong codewords in each block as it can correct (half of its
# own), the symbol is read; with more it is not. Version 6-L: 2 blocks of 18. Two columns are 8 codewords.
text = text_of(195)
symbols = encode([(6, "L", mask, text) for mask in range(8)])
for columns, wanted in ((2, [text]), (4, [text]), (8, [])):
    hurt = [(*s[:4], damaged(s[4], columns)) for s in symbols]
    equal(read(f"hurt{columns}", hurt), [wanted] * 8, f"{columns} columns wrong: {'read' if wanted else 'not read'}")

# A reader corrects, or passes over, what these hold to the bit: the worked examples. Annex C: level M, mask 5, both
# copies of the format information; annex D: version 7, both copies of the version information.
(symbol,) = encode([(7, "M", 5, "PMU LAB")])
rows = symbol[4]
size = len(rows)
around = [rows[8][x] for x in (0, 1, 2, 3, 4, 5, 7, 8)] + [rows[y][8] for y in (7, 5, 4, 3, 2, 1, 0)]
apart = [rows[size - 1 - y][8] for y in range(7)] + [rows[8][size - 8 + x] for x in range(8)]
equal("".join(around), "100000011001110", "format information, around the first finder")
equal("".join(apart), "100000011001110", "format information, at the other two")
equal(rows[size - 8][8], "1", "the module that is always dark")
lower = [rows[size - 11 + i % 3][i // 3] for i in range(17, -1, -1)]
right = [rows[i // 3][size - 11 + i % 3] for i in range(17, -1, -1)]
equal("".join(lower), "000111110010010100", "version information, lower left")
equal(lower, right, "version information, upper right")
# https://www.thonky.com/qr-code-tutorial/ works out HELLO WORLD as 1-M: data, padding, correction.
DATA = [32, 91, 11, 120, 209, 114, 220, 77, 67, 64, 236, 17, 236, 17, 236, 17]
CORRECTION = [196, 35, 39, 119, 235, 215, 231, 226, 93, 23]
(symbol,) = encode([(1, "M", 1, "HELLO WORLD")])
bits = ""
for turn, right in enumerate([20, 18, 16, 14, 12, 10, 8, 5, 3, 1]):
    for y in range(20, -1, -1) if turn % 2 == 0 else range(21):
        for x in (right, right - 1):
            if y != 6 and (9 <= y <= 12 or 9 <= x <= 12 or (x > 8 and y > 8)):
                bits += str(int(symbol[4][y][x]) ^ (y % 2 == 0))  # mask 1
equal([int(bits[i : i + 8], 2) for i in range(0, 208, 8)], DATA + CORRECTION, "the codewords of HELLO WORLD")

harness.done()
