#!/usr/bin/env python3
"""Nothing includes upwards: the table of folders of the design, held against every #include line."""

import pathlib
import re

from harness import done, equal, ok, run

# A room a line: its folder, what it may include beside itself, and whose system headers it may use. A file is
# of the room with the longest folder; "*" stands for one name, and each name is a room of its own.
FREESTANDING = {"<limits.h>", "<stdarg.h>", "<stdbool.h>", "<stddef.h>", "<stdint.h>"}
HOSTED = None  # any
KERNEL = ["x86", "boot", "kernel"]
DRIVER = KERNEL + ["lapic", "pmu"]
ROOMS = {
    "x86": ([], FREESTANDING),
    "boot": (["x86"], FREESTANDING),
    "kernel": (["x86", "boot"], FREESTANDING),
    "kernel/console": (KERNEL, FREESTANDING),
    "lapic": (KERNEL, FREESTANDING),
    "pmu": (KERNEL + ["lapic"], FREESTANDING),
    "lab": (DRIVER, FREESTANDING),
    "experiments/*": (DRIVER + ["lab"], FREESTANDING),
    "runner": (DRIVER + ["lab", "kernel/console"], FREESTANDING),
    "sim": (["x86"], HOSTED),
    "sim/host": (["x86", "sim"], HOSTED),
    "tools": (["x86"], HOSTED),
    "linux": (["x86"], FREESTANDING),
    "tests": (["*"], HOSTED),
}

INCLUDE = re.compile(r'^\s*(?:#\s*include|\.include)\s*(<[^>]*>|"[^"]*")', re.MULTILINE)


def room_of(path):
    """The room's entry in the table and its own name (experiments/*, experiments/14); None: it has none."""
    names = path.split("/")[:-1]
    for depth in range(len(names), 0, -1):
        folder = "/".join(names[:depth])
        for room in (folder, "/".join(names[: depth - 1] + ["*"])):
            if room in ROOMS:
                return room, folder
    return None, None


def wrong(path, header, files):
    """Why this file may not include this header; None: it may."""
    room, own = room_of(path)
    if room is None:
        return "the file is in none of the rooms"
    allowed, system = ROOMS[room]
    if header.startswith("<"):
        if system is HOSTED or header in system:
            return None
        return f"{own}/ may use only {', '.join(sorted(system))}"
    name = header.strip('"')
    beside = str(pathlib.PurePosixPath(path).parent / name)
    target = beside if beside in files else name
    if target not in files:
        return "there is no such file; write the path from the top"
    there, theirs = room_of(target)
    if theirs == own or there in allowed or allowed == ["*"]:
        return None
    return f"{own}/ may include {', '.join(f'{folder}/' for folder in [own] + allowed)} and nothing else"


def check(texts):
    """Every include that reaches around: file, line, what, why. texts: of each file by its path."""
    found = []
    for path, text in texts.items():
        for match in INCLUDE.finditer(text):
            why = wrong(path, match[1], texts)
            line = text.count("\n", 0, match.start(1)) + 1
            if why:
                found.append(f"{path}:{line}: {match[1]}: {why}")
    return found


names = run("git", "ls-files", "--cached", "--others", "--exclude-standard").out.split()
sources = {
    name: pathlib.Path(name).read_text(encoding="utf-8")
    for name in names
    if name.endswith((".c", ".h", ".S", ".inc")) and pathlib.Path(name).exists()
}
n_includes = sum(len(INCLUDE.findall(text)) for text in sources.values())
ok(len(sources) > 200 and n_includes > 1000, "there are files and lines to look at", f"{len(sources)}, {n_includes}")
around = check(sources)
ok(not around, "no file includes what its room may not", "\n".join(around))

# "Nothing above pmu/ asks for a vendor" (design.md): a maker's name stands in x86/, the question in pmu/ and the model.
ASKS = re.compile(r'"(GenuineIntel|AuthenticAMD|HygonGenuine)"|\bmaker_of\(|\bMAKER_[A-Z]+\b')
MAY_ASK = ("x86/", "pmu/", "sim/", "tests/", "experiments/24/")


def asking(texts):
    """The files that ask for a vendor and may not."""
    return [path for path, text in texts.items() if ASKS.search(text) and not path.startswith(MAY_ASK)]


equal(asking(sources), [], "no file outside x86/, pmu/, sim/ and chapter 24 asks for a vendor")
for line in ('if (strcmp(cpu.vendor, "AuthenticAMD") == 0)', "if (maker_of(cpu.vendor) == MAKER_AMD)"):
    equal(asking({"lab/b.c": line, "pmu/b.c": line}), ["lab/b.c"], f"{line}: found in lab/, not in pmu/")

# A table that allowed everything would be content too: the second of each pair may not be included by the first.
headers = {f"{room.replace('*', name)}/a.h": "" for room in ROOMS for name in ("14", "15")}
for room, header in [
    ("x86", "boot/a.h"),
    ("boot", "kernel/a.h"),
    ("kernel", "kernel/console/a.h"),
    ("kernel", "lapic/a.h"),
    ("kernel/console", "lapic/a.h"),
    ("lapic", "kernel/console/a.h"),
    ("lapic", "pmu/a.h"),
    ("pmu", "lab/a.h"),
    ("lab", "experiments/14/a.h"),
    ("experiments/14", "experiments/15/a.h"),
    ("experiments/14", "runner/a.h"),
    ("runner", "experiments/14/a.h"),
    ("runner", "sim/a.h"),
    ("sim", "kernel/a.h"),
    ("sim/cpu", "sim/host/a.h"),
    ("sim/host", "pmu/a.h"),
    ("tools", "sim/a.h"),
    ("kernel", "kernel/missing.h"),
    ("elsewhere", "x86/a.h"),
]:
    found = check({**headers, f"{room}/b.c": f'\n#include "{header}"\n'})
    ok(found and found[0].startswith(f'{room}/b.c:2: "{header}": '), f"{header} in {room}/ is found, with its line")
for room in ("x86", "boot", "kernel", "kernel/console", "lapic", "pmu", "lab", "experiments/14", "runner"):
    found = check({f"{room}/b.c": "#include <stdint.h>\n#include <stdio.h>\n"})
    ok(len(found) == 1 and found[0].startswith(f"{room}/b.c:2: <stdio.h>: "), f"<stdio.h> in {room}/ is found")

done()
