#!/usr/bin/env python3
"""A run and the menu on the text screen of a simulated machine, of which the serial line knows nothing."""

import re
from collections import namedtuple

import harness
from harness import ALL, KERNEL, PMUSIM, SCRATCH, equal, ok, run

UP, DOWN, RIGHT, LEFT, PAGE_UP, PAGE_DOWN = "\033[A", "\033[B", "\033[C", "\033[D", "\033[5~", "\033[6~"
IDLE = "\033[Z"  # a key that does nothing: what is sent while the kernel sets its port up is lost
WHITE_ON_BLUE, GREEN, RED, YELLOW, BLACK_ON_CYAN = 0x1F, 0x0A, 0x0C, 0x0E, 0x30
Screen = namedtuple("Screen", "rows attributes result")


def screen(cmdline, profile="skylake", insns=400_000_000, keys=""):
    """The 25 rows of text and their attributes when the machine has ended, or after so many instructions."""
    result = run(SCRATCH / "screen", KERNEL, profile, cmdline, insns, text_in=keys and IDLE + keys, seconds=100)
    rows = [bytes.fromhex(line) for line in result.out.split()]
    return Screen([row[::2].decode("cp437").rstrip() for row in rows], [row[1::2] for row in rows], result)


def colour_of(seen, pattern):
    """The attribute of the first character of what the pattern finds on the screen."""
    for row, attributes in zip(seen.rows, seen.attributes):
        if match := re.search(pattern, row):
            return attributes[match.start()]
    return None


def text(seen):
    return "\n".join([*seen.rows, str(seen.result.status)])


# ---- A run ----

seen = screen("run=15-*", profile="none")
found = [row for row in seen.rows if "skipped:" in row]
ok(len(seen.rows) == 25, "there is a screen", seen.result)
summary = [row for row in seen.rows if row.startswith("--- summary")]
equal(len(summary), 1, "the summary is on it")
equal(seen.rows[0], summary[0] if summary else None, "it begins at the top")
equal(colour_of(seen, r"(?<=15-1 )skip"), YELLOW, "its skips are yellow")

before = screen("menu=0", profile="none", insns=25_000_000, keys="15-1,15-2,15-3\r")
checks = len(harness.sim("run=15-1,15-2,15-3", profile="none").tap.points)
found = [row for row in before.rows if "skip" in row and "any key" not in row]
equal(len(found), 1, "without a PMU all that is skipped is one line")
ok(f"{checks} checks of 3 experiments skipped: no " in "".join(found), "it counts them and says why", text(before))
ok(not any(row.startswith("15-") for row in before.rows), "no title stands above nothing", text(before))
equal(colour_of(before, "skip"), YELLOW, "it is yellow")
ok("any key: menu" in before.rows[24] and "3/3" in before.rows[24], "the last row: the run is over", text(before))

seen = screen("run=15-2,15-3", insns=400_000_000)
equal(colour_of(seen, r"(?<=15-2 )ok"), GREEN, "in the summary ok is green")
ok(re.search(r"█{13}  2/2  done +ok \d+  not ok 0  skip 0", seen.rows[24]), "the last row: all is done", text(seen))
equal(seen.attributes[24][15], WHITE_ON_BLUE, "it is white on blue")

seen = screen("menu=0", profile="none", insns=25_000_000, keys="15-1\r")
ok("15-1 Enumerate the PMU" in seen.rows, "an experiment has its title", text(seen))
seen = screen("menu=0", insns=25_000_000, keys="15-1\r")
equal(colour_of(seen, r"ok +\d+  [a-zI]"), GREEN, "an ok is green")
values = [row for row in seen.rows if re.match(r" {14}\w+: .*  \w+: ", row)]
ok(values, "the values of a check stand beside each other", text(seen))
ok(not any(re.match(r"#|\s+---|.* - ex15", row) for row in seen.rows), "nothing of TAP's own is seen", text(seen))

seen = screen("selftest menu=0", insns=25_000_000, keys="0-1\r")
equal(colour_of(seen, "not ok +1"), RED, "a not ok is red")
ok(re.search("not ok 1 ", seen.rows[24]), "and the last row counts it", text(seen))

places = []
for insns in (6_000_000, 20_000_000, 40_000_000):
    seen = screen("run=all", insns=insns)
    match = re.search(rf" (\d+)/{len(ALL)}  (\d+-\d+) ", seen.rows[24])
    ok(match and ALL[int(match[1])] == match[2], "in the middle of a run: the last row names the experiment", text(seen))
    places.append(int(match[1]) if match else 0)
ok(places == sorted(set(places)), "and goes on", places)

# ---- The menu ----

seen = screen("menu=0", insns=10_000_000, keys=DOWN)
ok(seen.rows[0].startswith(" PMU Lab") and "i7-6700" in seen.rows[0], "the menu's first row is the title", text(seen))
PAGE = r"page (\d) of (\d)$"
count = int((re.search(PAGE, seen.rows[23]) or [0, 0, 2])[2])
pages = [seen] + [screen("menu=0", insns=60_000_000, keys=DOWN * 38 * n) for n in range(1, count)]  # 38 lines a page
numbers = [re.search(PAGE, page.rows[23]) for page in pages]
wanted = [(str(n), str(count)) for n in range(1, count + 1)]
equal([number and number.groups() for number in numbers], wanted, "the pages follow each other")
rows = "\n".join(row for page in pages for row in page.rows)
missing = [e for e in ALL if not re.search(rf"^.*\s{e}\s", rows, re.MULTILINE)]
equal(missing, [], "each experiment is on one of the menu's pages")
equal(colour_of(seen, f"(?<=  ){ALL[0]} "), BLACK_ON_CYAN, "the bar is on the chosen one")
ok(re.match(rf" {ALL[0]} .*: \d+ checks? +{PAGE}", seen.rows[23]), "the row below has its title and checks", text(seen))
bars = sum(BLACK_ON_CYAN in attributes for attributes in seen.attributes)
equal(bars, 1, "there is one bar")
typed = screen("menu=0", insns=10_000_000, keys="15-1")
ok(typed.rows[23].startswith(" run 15-1_"), "what is typed is seen", text(typed))
wrong = screen("menu=0", insns=10_000_000, keys="99-1\r")
ok(re.match(rf" there is no experiment 99-1 +{PAGE}", wrong.rows[23]), "an error is seen on the page", text(wrong))
back = screen("menu=0", insns=30_000_000, keys="15-2\r" + DOWN)
equal(colour_of(back, r"(?<=  )ok(?=  |$)"), GREEN, "the menu knows how an experiment went")
many = screen("menu=0 selftest", insns=60_000_000, keys=DOWN * 100)
number = re.search(PAGE, many.rows[23])
ok(number and number[1] == number[2] > "1" and f" {ALL[-1]} " in text(many), "with more of them: the last page has the last one", text(many))
ok(" 0-1 " not in text(many), "and not the first", text(many))

# ---- The serial line ----

KEYS = "15-1\r" + DOWN * 2 + "d" + PAGE_UP + PAGE_DOWN + LEFT + RIGHT + "l99-1\rc" + "q"
for profile, cmdline, keys in [
    ("none", "run=all", ""),
    ("none", "menu=0", KEYS + "aq"),
    ("skylake", "run=15-1,15-2,15-3,18-15", ""),
    ("skylake", "menu=0", KEYS.replace("c", "")),
    ("skylake", "list", ""),
    ("skylake", "run=15-3 nonsense", ""),
]:
    outs = []
    for console in ("serial", "serial,vga"):
        command = ["--profile", profile, "--cpus", "2", "--cmdline", f"{cmdline} console={console}", KERNEL]
        outs.append(run(PMUSIM, *(["--stdin"] if keys else []), *command, text_in=IDLE + keys if keys else None).out)
    # But for what calibration measures, which hangs on when it begins.
    outs = [re.sub(r"TSC \d+ kHz by HPET|CRC-32 \w{8}", "", out) for out in outs]
    ok(outs[0] and outs[0] == outs[1], f"{profile}, {cmdline}: a screen changes no byte of the serial line", outs[1])
    ok("\x1b" not in outs[1], f"{profile}, {cmdline}: which has no colours")

harness.done()
