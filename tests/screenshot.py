"""Reads the text off a picture of the kernel's framebuffer screen, by the kernel's own font.

What is drawn is known to the dot (kernel/console/font.c, kernel/console/framebuffer.c): cells of 6 x 10 dots, of 5 x 8 dots
each glyph, every dot a square of so many pixels. A cell that is no glyph's is read as U+FFFD.
"""

import pathlib
import re

CELL_WIDTH, CELL_HEIGHT = 6, 10
GLYPH_WIDTH, GLYPH_HEIGHT = 5, 8
WISHED_COLUMNS = 100
BAD = "\N{REPLACEMENT CHARACTER}"


def font():
    """{the dots of a cell's glyph: its character}, from the table in kernel/console/font.c."""
    source = pathlib.Path("kernel/console/font.c").read_text(encoding="utf-8")
    glyphs = {}
    for name, rows in re.findall(r"\['(\\?.)' - FIRST\] = \{(.*?)\}", source):
        glyphs[tuple(int(row, 16) for row in rows.split(", "))] = name[-1]
    for rows, name in re.findall(r"\{0x.., \{(.*?)\}\}, /\* (.) \*/", source):
        glyphs[tuple(int(row, 16) for row in rows.split(", "))] = name
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


def text(path):
    """The lines on the picture, without blanks at their ends."""
    width, height, pixels = read_ppm(path)
    scale = max(1, width // (WISHED_COLUMNS * CELL_WIDTH))
    glyphs = font()
    lines = []
    for top in range(0, height - CELL_HEIGHT * scale + 1, CELL_HEIGHT * scale):
        line = ""
        for left in range(0, width - CELL_WIDTH * scale + 1, CELL_WIDTH * scale):
            rows = []
            for y in range(GLYPH_HEIGHT):
                row = 0
                for x in range(GLYPH_WIDTH):
                    at = 3 * ((top + y * scale + scale // 2) * width + left + x * scale + scale // 2)
                    row = row << 1 | (pixels[at : at + 3] != b"\0\0\0")
                rows.append(row)
            line += glyphs.get(tuple(rows), BAD)
        lines.append(line.rstrip())
    return "\n".join(lines)
