#!/usr/bin/env python3
"""The screen can be read, in VGA text and on UEFI's framebuffer, and the keyboard alone is enough."""

import re
import time

import harness
import screenshot
from harness import SCRATCH, equal, ok, run
from machine import Machine

EXPERIMENTS = sorted(set(re.findall(r"^# (\d+-\d+) ", harness.sim("list").out, re.MULTILINE)))


def image(name, cmdline, mode=""):
    path = SCRATCH / name
    made = run("scripts/iso", path, cmdline, env={"MODE": mode})
    if made.status:
        ok(False, f"the image with {cmdline!r} is made", made)
    return path


def reader(machine, firmware):
    """What reads the words off this machine's screen."""
    if firmware == "bios":
        return machine.text_screen
    return lambda: screenshot.text(machine.picture())


def check_summary(text, name, serial):
    """The summary is on the screen as a whole, with the words of the serial line; its checksum holds."""
    wanted = re.search(r"# --- summary.*?# --- CRC-32 \w{8} ---", serial, re.DOTALL)
    lines = wanted[0].split("\n") if wanted else ["no summary on the serial line"]
    ok(len(lines) <= 24 and all(len(line) < 80 for line in lines), f"{name}: the summary fits 80 x 25", serial)
    text = re.sub(f"[▀▄█{screenshot.BAD}]+", " ", text)  # the QR code may stand beside it
    seen = [line.rstrip() for line in text.split("\n")]
    missing = [line for line in lines if line.removeprefix("# ") not in seen]
    ok(not missing, f"{name}: the summary is on the screen, each word", "\n".join(missing) + f"\n{text}")
    ok("may be switched off" in text, f"{name}: the screen says that it is over", text)
    checked = run("scripts/check-report", text_in=text)
    ok(checked.status == 0, f"{name}: the checksum of what is on the screen holds", checked)


full = image("screen.iso", "run=all")
for firmware in ("bios", "uefi"):
    with Machine(full, firmware=firmware, debug_exit="no") as machine:
        machine.wait_for("may be switched off", 100)
        read = reader(machine, firmware)
        text = machine.wait_for_screen(read, "may be switched off")
        check_summary(text, firmware, machine.serial)
        ok(screenshot.lit_pixels(machine.picture()) > 1000, f"{firmware}: the picture is not blank")
        # The first line holds the one character beyond ASCII of a report; looking back shows it.
        machine.press("home")
        text = machine.wait_for_screen(read, "-- lines 1 to", 10)  # drawn last
        ok(text.startswith("PMU Lab") and " \N{MIDDLE DOT} " in text, f"{firmware}: Home shows the beginning", text)
        ok("-- lines 1 to" in text, f"{firmware}: and says where it is", text)
        # Without the QR code, which stays with the summary.
        equal(text.count(screenshot.BAD), 0, f"{firmware}: every cell of the screen is a character of the font")
        ok(not re.search(r"^\s*#", text, re.MULTILINE), f"{firmware}: no line begins as in TAP", text)
        machine.press("pgdn")
        time.sleep(2)  # any page's last line looks alike
        text = read()
        ok(not text.startswith("PMU Lab"), f"{firmware}: page down goes on", text)
        machine.press("end")
        text = machine.wait_for_screen(read, "switched off", 10)
        check_summary(text, f"{firmware}, back at the end", machine.serial)

# Larger framebuffers: two and four pixels a dot, the whole screen is used, the menu and the summary are read back.
for (width, height), (scale, columns, rows) in {(1920, 1080): (2, 120, 33), (3840, 2160): (4, 120, 33)}.items():
    name = f"{width}x{height}"
    made = image("large.iso", "menu=60", mode=name)
    with Machine(made, firmware="uefi", debug_exit="no", more=["-global", "VGA.vgamem_mb=64"]) as machine:
        read = reader(machine, "uefi")
        machine.wait_for("without a key", 60)
        machine.press("end")  # the seconds stand still
        machine.wait_for_screen(read, f"\n {harness.ALL[-1]} ", 20)
        text = machine.wait_for_screen(read, "q end", 20)  # drawn last
        size = screenshot.read_ppm(machine.picture())[:2]
        equal(size, (width, height), f"{name}: GRUB has set the mode")
        equal(screenshot.geometry(*size)[:3], (scale, columns, rows), f"{name}: as many cells as are readable")
        bars = text.split("\n")
        ok(bars[0].startswith(" PMU Lab") and bars[-1].endswith("q end"), f"{name}: the menu fills the screen", text)
        equal(text.count(screenshot.BAD), 0, f"{name}: every cell is a character of the font")
        machine.press("a")
        text = machine.wait_for_screen(read, "any key: menu", 30)
        ok(re.search(rf" {len(harness.ALL)}/{len(harness.ALL)} .* skip \d+$", text), f"{name}: all are run", text)
        machine.press("q")
        machine.wait_for("may be switched off", 30)
        text = machine.wait_for_screen(read, "may be switched off", 10)
        check_summary(text, name, machine.serial)

# A machine without a serial port: started by the keyboard, read on the screen.
menu = image("menu.iso", "menu=60")
for firmware in ("bios", "uefi"):
    with Machine(menu, firmware=firmware, debug_exit="no", serial="none") as machine:
        read = reader(machine, firmware)
        text = machine.wait_for_screen(read, "without a key", 60)
        ok(text.startswith(" PMU Lab"), f"{firmware}, keyboard: the menu has its title", text)
        first = text
        machine.press("down")
        text = machine.wait_for_screen(read, "14-1 Catch", 10)
        ok("14-1 Catch" in text and "without a key" not in text, f"{firmware}, keyboard: the arrow chooses", text)
        for _ in range(2, int((re.search(r"page 1 of (\d)", text) or [0, 2])[1])):
            machine.press("pgdn")
            time.sleep(2)
            first += read()
        machine.press("end")
        text = machine.wait_for_screen(read, f"\n {harness.ALL[-1]} ", 10)
        ok(f"\n {harness.ALL[-1]} " in text, f"{firmware}, keyboard: the last one", text)
        missing = [e for e in EXPERIMENTS if not re.search(rf"(^|\s){e}\s", first + text, re.MULTILINE)]
        equal(missing, [], f"{firmware}, keyboard: all experiments are on the pages")
        machine.press("home", "1", "5", "minus", "1")
        text = machine.wait_for_screen(read, "run 15-1_", 10)
        ok("run 15-1_" in text, f"{firmware}, keyboard: what is typed is on the page", text)
        machine.press("ret")
        text = machine.wait_for_screen(read, "any key: menu", 20)
        ok("15-1 Enumerate" in text and re.search(r"skip +1-7  7 checks", text), f"{firmware}, keyboard: Enter runs it", text)
        ok(re.search(r" 1/1 .* ok 0  not ok 0  skip 7", text), f"{firmware}, keyboard: the last row counts", text)
        machine.press("spc")
        text = machine.wait_for_screen(read, "All experiments", 20)
        ok(re.search(r"15-1 .*skip", text), f"{firmware}, keyboard: the menu is back and knows the verdict", text)
        machine.press("r")
        text = machine.wait_for_screen(read, "14 checks of 2 experiments", 20)
        ok("skip  1-14" in text, f"{firmware}, keyboard: r runs it again", text)
        machine.press("d")
        text = machine.wait_for_screen(lambda: read().split("\n")[-2], "CPUID.", 20)
        ok(text.startswith(" no PMU: CPUID.80000001H:ECX[23] = 0"), f"{firmware}, keyboard: d, without a PMU", text)
        machine.press("q")
        text = machine.wait_for_screen(read, "switched off", 20)
        ok("0 failed, 7 skipped" in text, f"{firmware}, keyboard: q ends the session", text)
        checked = run("scripts/check-report", text_in=text)
        ok(checked.status == 0, f"{firmware}, keyboard: the summary's checksum holds", checked)
harness.done()
