"""Reads the text off a picture of the kernel's framebuffer screen, by the kernel's own font.

What is drawn is known to the dot (kernel/console/font.c, kernel/console/framebuffer.c): cells of 8 x 16 dots, every
dot a square of so many pixels, all of them in the middle of the picture. A cell that is no glyph's is read as U+FFFD.
"""

import pathlib
import re

CELL_WIDTH, CELL_HEIGHT = 8, 16
WISHED_COLUMNS, WISHED_ROWS = 100, 27
MAX_COLUMNS, MAX_ROWS = 160, 100
BAD = "\N{REPLACEMENT CHARACTER}"


def font():
    """{the dots of a cell's glyph: its character}, from the table in kernel/console/font.c."""
    source = pathlib.Path("kernel/console/font.c").read_text(encoding="utf-8")
    glyphs = {}
    for rows, name in re.findall(r"\{0x.., \{(.*?)\}\}, /\* (.) \*/", source):
        glyphs[tuple(int(row, 16) for row in rows.split(", "))] = name
    for name, rows in re.findall(r"\['(\\?.)' - FIRST\] = \{(.*?)\}", source):
        glyphs[tuple(int(row, 16) for row in rows.split(", "))] = name[-1]
    return glyphs


def read_ppm(path):
    """A binary PPM (P6): width, height, and the pixels as bytes."""
    data = pathlib.Path(path).read_bytes()
    match = re.match(rb"P6\s+(\d+)\s+(\d+)\s+255\s", data)
    width, height = int(match[1]), int(match[2])
    return width, height, data[match.end() :]


def lit_pixels(path):
    """How many pixels are not black."""
    width, height, pixels = read_ppm(path)
    return sum(1 for i in range(width * height) if pixels[3 * i : 3 * i + 3] != b"\0\0\0")


def geometry(width, height):
    """Of a picture: the pixels a dot has, the columns and rows, and where they begin."""
    scale = max(1, min(width // (WISHED_COLUMNS * CELL_WIDTH), height // (WISHED_ROWS * CELL_HEIGHT)))
    columns = min(MAX_COLUMNS, width // (CELL_WIDTH * scale))
    rows = min(MAX_ROWS, height // (CELL_HEIGHT * scale))
    return scale, columns, rows, (width - columns * CELL_WIDTH * scale) // 2, (height - rows * CELL_HEIGHT * scale) // 2


def character(dots, glyphs):
    """What a cell shows, from the colours of its dots; ink is mostly the lighter one of the two."""
    colours = sorted(set(dots), key=sum)
    if len(colours) == 1:
        return " "
    for ink in reversed(colours):
        rows = tuple(
            sum((dots[y * CELL_WIDTH + x] == ink) << (CELL_WIDTH - 1 - x) for x in range(CELL_WIDTH))
            for y in range(CELL_HEIGHT)
        )
        if len(colours) == 2 and rows in glyphs:
            return glyphs[rows]
    return BAD


def text(path):
    """The lines on the picture, without blanks at their ends."""
    width, height, pixels = read_ppm(path)
    scale, columns, rows, left, top = geometry(width, height)
    glyphs, lines, seen = font(), [], {}
    for row in range(rows):
        line = ""
        for column in range(columns):
            dots = []
            for y in range(CELL_HEIGHT):
                start = (top + (row * CELL_HEIGHT + y) * scale + scale // 2) * width + left + scale // 2
                start = 3 * (start + column * CELL_WIDTH * scale)
                step = 3 * scale
                dots += [tuple(pixels[at : at + 3]) for at in range(start, start + CELL_WIDTH * step, step)]
            key = tuple(dots)
            if key not in seen:
                seen[key] = character(dots, glyphs)
            line += seen[key]
        lines.append(line.rstrip())
    return "\n".join(lines)
