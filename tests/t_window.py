#!/usr/bin/env python3
"""The instruction counts are exact: a kernel with one NOP more in the counting window does not pass.

The sources are copied and changed there, so that the kernel itself needs no switch for it.
"""

import pathlib
import shutil

import harness
from harness import KERNEL, SCRATCH, check_clean, ok, run, sim

SOURCES = ["Makefile", "VERSION", "linker.ld", "x86", "boot", "kernel", "lapic", "pmu", "lab", "experiments", "runner", "scripts"]
OPENING = "pmu_window_open:\n"


def variant(name, edit):
    """The kernel built from the sources with pmu/window.S changed by edit(text)."""
    tree = (SCRATCH / name).absolute()
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    for source in SOURCES:
        if pathlib.Path(source).is_dir():
            shutil.copytree(source, tree / source)
        else:
            shutil.copy(source, tree / source)
    window = tree / "pmu/window.S"
    window.write_text(edit(window.read_text(encoding="utf-8")), encoding="utf-8")
    built = run("make", "-C", tree, f"O={tree}/build", "kernel", seconds=120)
    ok(built.status == 0, f"{name}: builds", built)
    return tree / "build/pmulab.elf"


def with_nop(text):
    """One NOP behind the opening WRMSR, not in the listing's sum."""
    head, opening, rest = text.partition(OPENING)
    opener, rest = rest.split("\n", 1)
    assert "wrmsr" in opener, opener
    return f"{head}{opening}{opener}\n    nop\n{rest}"


good = sim("run=15-2,15-11", kernel=KERNEL)
check_clean(good, "as it is", ["15-2", "15-11"])

same = sim("run=15-2,15-11", kernel=variant("window-same", lambda text: text))
check_clean(same, "rebuilt unchanged", ["15-2", "15-11"])

broken = sim("run=15-2,15-11", kernel=variant("window-nop", with_nop))
ok(broken.status == 1, "one NOP more: exit 1", broken)
ok(not broken.tap.errors, "one NOP more: still valid TAP", broken.tap.errors)
for experiment in ("15-2", "15-11"):
    ok(
        any(point.failed for point in broken.tap.of(experiment)),
        f"one NOP more: {experiment} is not ok",
        broken,
    )

harness.done()
