#!/usr/bin/env python3
"""The kernel's menu over a serial line: in pmusim by --stdin, in QEMU as a terminal; the summary at its end."""

import re

import harness
from harness import ALL, CHAPTER_15, KERNEL, PMUSIM, SCRATCH, Run, check_clean, equal, ok, run, sim
from machine import Machine

UP, DOWN, PAGE_UP, PAGE_DOWN = "\033[A", "\033[B", "\033[5~", "\033[6~"
# What is sent while the kernel still sets its port up is lost, so a session begins with a key that does nothing.
IDLE = "\033[Z"


def seen(text):
    """What a terminal shows in the end: a line after CR is written anew."""
    return re.sub(r"[^\n]*\r(?!\n)", "", text)


def session(keys, cmdline="menu", profile="skylake", more=()):
    """A session in pmusim; its output as a terminal shows it."""
    command = ["--stdin", "--profile", profile, "--cmdline", cmdline, *more, KERNEL]
    result = run(PMUSIM, *command, text_in=IDLE + keys)
    result.out = seen(result.out)
    return result


# A key for each thing that the menu does; what ran, in order.
SESSIONS = [
    ("a number", "15-1\rq", ["15-1"], 1),
    ("a number with keys of another layout", "15/1\rq", ["15-1"], 1),
    ("LF as Enter", "15-1\nq", ["15-1"], 1),
    ("a group", "15-*\rq", CHAPTER_15, 1),
    ("two numbers", "15-3,15-1\rq", ["15-1", "15-3"], 1),
    ("a typing error corrected", "14-3\x7f\x7f\x7f5-3\rq", ["15-3"], 1),
    ("c, where none is chosen, runs all", "cq", ALL, 1),
    ("a runs all", "aq", ALL, 1),
    ("c runs the chapter of the chosen one", DOWN * (ALL.index("15-1") + 2) + "cq", CHAPTER_15, 1),
    ("r repeats", "15-1\rrrq", ["15-1"], 3),
    ("a wrong number, then a right one", "99-1\r15-3\rq", ["15-3"], 1),
]
for name, keys, experiments, times in SESSIONS:
    result = session(keys)
    tap = check_clean(result, name, experiments, skips=experiments is ALL)
    checks = len(sim("run=" + ",".join(experiments)).tap.points)
    equal(len(tap.points), checks * times, f"{name}: each check {times} times")

arrows = session(DOWN + DOWN + UP + "\r" + "q")
first = sim("list").tap.comments
first = re.search(r"^# (\d+-\d+)", "\n".join(c for c in first if re.match(r"# \d", c)))[1]
equal(arrows.tap.experiments(), [first], "down, down, up and Enter run the first of the list")
equal(arrows.tap.errors, [], "the arrows leave valid TAP")

nothing = session("q")
ok(nothing.status == 0 and nothing.tap.plan == 0 and not nothing.tap.errors, "q at once: a plan of nothing", nothing)

wrong = session("99-1\r15-\rrq")
ok("no experiment 99-1" in wrong.out, "a number that is none is named", wrong)
ok("run takes" in wrong.out, "half a number: what would be right", wrong)
ok("nothing was run yet" in wrong.out, "r before anything was run says so", wrong)

dumped = session("dq")
ok("IA32_PERF_GLOBAL_CTRL" in dumped.out and not dumped.tap.errors, "d prints the registers", dumped)

paged = session("15-2\r" + PAGE_UP + PAGE_UP + PAGE_DOWN + "q")
equal(paged.tap.errors, [], "paging leaves valid TAP")
pages = re.findall(r"-- lines (\d+) to (\d+) of", paged.out)
equal(len(pages), 3, "each page says which lines it shows")
numbers = [(int(a), int(b)) for a, b in pages]
ok(
    len(numbers) == 3 and numbers[1][1] + 1 == numbers[0][0] and numbers[2][0] == numbers[1][1] + 1,
    "the pages follow each other without a gap",
    pages,
)
# Short lines fill a page of a terminal's 24 but for the one that says where it is.
pages = re.findall(r"-- lines (\d+) to (\d+) of", session("llllll" + PAGE_UP + PAGE_UP + "q").out)
equal([int(b) - int(a) + 1 for a, b in pages], [23, 23], "a page of short lines is full")
ok(len(pages) == 2 and int(pages[1][1]) + 1 == int(pages[0][0]), "and ends where the next begins", pages)
ok("# | ok 3 - ex15-2" in paged.out or "# | # ex15-2" in paged.out, "a page has the lines printed before", paged)

# Without a key it runs all, as without the menu.
full = sim("")
quiet = sim("menu=2")
check_clean(quiet, "menu without a key", full.tap.experiments(), skips=True)
equal(len(quiet.tap.points), len(full.tap.points), "menu without a key: every check is made")
chosen = sim("menu=1 run=15-3")
check_clean(chosen, "menu run=15-3 without a key", ["15-3"])

# The same over a line of QEMU, at a terminal's pace.
image = SCRATCH / "menu-serial.iso"
run("scripts/iso", image, "menu=60")
with Machine(image) as machine:
    machine.wait_for("without a key")
    machine.type("15-1\r")
    machine.wait_for("ok 7 - ex15-1")
    machine.type("r")
    machine.wait_for("ok 14 - ex15-1")
    machine.type("q")
    status = machine.wait()
    result = Run(status, seen(machine.serial[machine.serial.find("TAP version 14") :]), "", 0)
    check_clean(result, "QEMU, serial line", ["15-1"], skips=True)

# The summary: a checksum that holds, and does not when a verdict is changed.
for name, result in [
    ("summary of all", full),
    ("summary with a failure", sim("selftest run=0-1,15-*", profile="none", more=("--cpus", "2"))),
]:
    lines = re.search(r"# --- summary.*# --- CRC-32 \w{8} ---\n", result.out, re.DOTALL)[0].split("\n")
    ok(len(lines) <= 24 and max(map(len, lines)) < 80, f"{name}: it fits 80 x 25", "\n".join(lines))
    shown = re.split(r"\s{2,}|\n|# | (?=\d+-)", "\n".join(lines))
    wanted = []
    for number in result.tap.experiments():
        points = result.tap.of(number)
        verdict = "FAIL" if any(p.failed for p in points) else "skip" if all(p.skip for p in points) else "ok"
        wanted.append(f"{number} {verdict}")
    missing = [verdict for verdict in wanted if verdict not in shown]
    ok(wanted and not missing, f"{name}: each experiment's verdict", "\n".join([*missing, *lines]))
    equal(run("scripts/check-report", text_in=result.out).status, 0, f"{name}: the checksum holds")
    typed = re.sub(r"  +", "\t", result.out).replace("\n# ", "\n")
    equal(run("scripts/check-report", text_in=typed).status, 0, f"{name}: it holds typed with other blanks")
    forged = re.sub(r"(# --- summary.*) (skip|ok)", r"\1 FAIL", result.out, flags=re.DOTALL)
    equal(run("scripts/check-report", text_in=forged).status, 1, f"{name}: a changed verdict is found")
equal(run("scripts/check-report", text_in="").status, 1, "check-report: no summary, exit 1")

harness.done()
