#!/usr/bin/env python3
"""The instruction counts are exact: a kernel with one NOP more in the counting window does not pass, nor one that
closes several counters in the opposite order.

The sources are copied and changed there, so that the kernel itself needs no switch for it.
"""

import pathlib
import re
import shutil

import harness
from harness import KERNEL, SCRATCH, ok, run, sim

SOURCES = ["Makefile", "VERSION", "linker.ld", "x86", "boot", "kernel", "lapic", "pmu", "lab", "experiments", "runner", "scripts"]
ONE_WRITE = "pmu_window_open:\n"
IN_TURN = "pmu_window_in_turn_call:\n"
CLOSING = "    WRITE_ALL STEP_OFF, pmu_window_in_turn_close\n"


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


def with_nop(text, label):
    """One NOP behind the instruction at this label, not in the listing's sum."""
    head, found, rest = text.partition(f"\n{label}")
    instruction, rest = rest.split("\n", 1)
    assert re.search("wrmsr|call", instruction), instruction
    return f"{head}{found}{instruction}\n    nop\n{rest}"


def in_reverse(text):
    """Several counters closed in the opposite order."""
    assert CLOSING in text
    step = "%rbx), %rbx\n"
    loop = text[text.index(".macro WRITE_ALL") : text.index(".endm", text.index(".macro WRITE_ALL"))]
    assert step in loop
    backwards = loop.replace("WRITE_ALL value, at", "WRITE_BACK value, at").replace("leaq STEP_SIZE(", "leaq -STEP_SIZE(")
    backwards = backwards.replace("cmpq %r13", "cmpq %r12") + ".endm\n\n"
    text = text.replace("    ONCE    movq %r12, %rbx\n" + CLOSING, "    ONCE    movq %r13, %rbx\n" + CLOSING)
    assert "movq %r13, %rbx" in text
    return text.replace(CLOSING, backwards + CLOSING.replace("WRITE_ALL", "WRITE_BACK"))


def check(name, edit, experiments, red=(), profile="skylake"):
    """That kernel runs these experiments; those of red, and no others, are not ok."""
    ran = sim(f"run={','.join(experiments)}", profile, variant(name, edit) if edit else KERNEL)
    ok(ran.status == (1 if red else 0), f"{name}: its exit status", ran)
    ok(not ran.tap.errors, f"{name}: still valid TAP", ran.tap.errors)
    failed = {experiment for experiment in experiments if any(point.failed for point in ran.tap.of(experiment))}
    ok(failed == set(red), f"{name}: not ok are {', '.join(red) or 'none'}", f"{failed}\n{ran}")


EXACT = ["15-2", "15-11"]
check("as it is", None, EXACT)
check("window-same", lambda text: text, EXACT)
check("window-nop", lambda text: with_nop(text, ONE_WRITE), EXACT, red=EXACT)

# Several counters where no register enables all: in 15-2 one is counted, in the others more.
SEVERAL = ["15-2", "22-4", "22-5", "22-12"]
for profile in ("k8", "zen3", "merom"):
    check(f"{profile}: as it is", None, SEVERAL, profile=profile)
check("in-turn-nop", lambda text: with_nop(text, IN_TURN), SEVERAL, red=SEVERAL[1:], profile="zen3")
check("in-turn-reverse", in_reverse, SEVERAL, red=SEVERAL[1:], profile="zen3")

harness.done()
