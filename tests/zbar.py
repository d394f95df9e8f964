"""Reads QR codes with zbarimg (Debian's zbar-tools), which knows nothing of this project's encoder."""

import pathlib
import re
import struct
import subprocess
import zlib

QUIET = 4  # ISO/IEC 18004, "Quiet zone": light modules around a symbol


def write_png(path, width, height, pixels):
    """pixels: bytes, one grey value each."""

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = b"".join(b"\0" + pixels[y * width : (y + 1) * width] for y in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    pathlib.Path(path).write_bytes(png)


def draw(path, rows, scale=4):
    """A picture of a symbol: rows of '0' and '1' (dark), its quiet zone around it."""
    side = (len(rows) + 2 * QUIET) * scale
    pixels = bytearray(b"\xff" * side * side)
    for y, row in enumerate(rows):
        line = b"".join((b"\0" if module == "1" else b"\xff") * scale for module in row)
        for at in range(scale):
            start = ((y + QUIET) * scale + at) * side + QUIET * scale
            pixels[start : start + len(line)] = line
    write_png(path, side, side, bytes(pixels))


def read(*paths):
    """What each picture says: a list of texts for each, empty where zbarimg finds no QR code."""
    command = ["zbarimg", "--xml", "--nodbus", "-q", "-Sdisable", "-Sqrcode.enable", *map(str, paths)]
    found = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120, check=False)
    texts = {str(path): [] for path in paths}
    pictures = re.findall(r"<source href='(.*?)'>(.*?)</source>", found.stdout.decode(), re.DOTALL)
    for path, symbols in pictures:
        texts[path] = re.findall(r"<!\[CDATA\[(.*?)\]\]>", symbols, re.DOTALL)
    return [texts[str(path)] for path in paths]
