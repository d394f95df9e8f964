#!/usr/bin/env python3
"""The QR code on the screen, in text mode and on a framebuffer, read off a picture of it by zbarimg: it holds what the
serial line says, and scripts/check-report finds every wrong character."""

import pathlib
import re
import zlib

import harness
import screenshot
import tapcheck
import zbar
from harness import BUILD, KERNEL, SCRATCH, equal, ok, patched_kernel, run
from machine import Machine

OVER = "may be switched off"
WHITE = 0x0F  # a cell's attribute
HINT = "c: the summary as a QR code"
VERSION = pathlib.Path("VERSION").read_text(encoding="utf-8").strip()


def image(name, cmdline):
    path = SCRATCH / name
    made = run("scripts/iso", path, cmdline)
    if made.status:
        ok(False, f"the image with {cmdline!r} is made", made)
    return path


def half(row, *characters):
    """The upper or lower halves of a row of text cells as dark and light: those of these characters are white."""
    return "".join("01"[not (c in characters and paint == WHITE)] for c, paint in zip(row[::2], row[1::2]))


def photograph(machine, name):
    """Takes a picture of the screen as PNG: the texts of the QR codes on it, and how many pixels are white."""
    width, height, pixels = screenshot.read_ppm(machine.picture())
    path = SCRATCH / f"report-{name.replace(', ', '-').replace(' ', '-')}.png"
    zbar.write_png(path, width, height, pixels[1::3])  # green is as good as grey
    return zbar.read(path)[0], pixels[1::3].count(255)


def fields(text):
    return dict(word.split(":", 1) for word in text.split())


def check_text(text, serial, name):
    """The code's text against the serial line of the same run."""
    got = fields(text)
    tap = tapcheck.parse(serial[serial.find("TAP version") :])
    equal(got["PMULAB"], VERSION, f"{name}: the version")
    skipped = sum(bool(p.skip) for p in tap.points)
    failed = sum(p.failed for p in tap.points)
    equal(got["N"], f"{len(tap.points) - skipped - failed}-{failed}-{skipped}", f"{name}: the counts")
    wrong = []
    for number in tap.experiments():
        checks = [str(i) for i, p in enumerate(tap.of(number), 1) if p.failed]
        if checks:
            wrong.append(".".join([number, *checks]))
    equal(got.get("NOT", ""), "/".join(wrong), f"{name}: the checks that are not ok")
    family = re.search(r"# (\w+) family (\d+) model 0x(\w+) stepping (\d+), (\d+) running", serial)
    vendor, signature = got["CPU"].split("-")
    signature = int(signature, 16)
    low = (signature >> 8 & 15) + (signature >> 20 & 255)
    model = (signature >> 4 & 15) | (signature >> 12 & 0xF0)
    told = (vendor, str(low), f"{model:x}", str(signature & 15), got["CPUS"])
    equal(told, (family[1].upper(), *family.groups()[1:]), f"{name}: the processor")
    hypervisor = re.search(r"# (?:BIOS|UEFI|started.*), a virtual machine(?:: (.*))?", serial)
    equal(got.get("HV"), (hypervisor[1] or "-").upper() if hypervisor else None, f"{name}: the hypervisor")
    microcode = re.search(r"# microcode 0x(\w+)", serial)
    equal(got.get("UC"), microcode[1].upper() if microcode else None, f"{name}: the microcode")
    smis = re.search(r", (\d+) SMIs", serial)
    equal(got.get("SMI"), smis[1] if smis else None, f"{name}: the SMIs")
    started = re.search(r"^# (BIOS|UEFI|started directly \(PVH\))(?:,.*)?$", serial, re.MULTILINE)[1]
    equal(got["BOOT"], "PVH" if "PVH" in started else started, f"{name}: the firmware")
    pmu = re.search(r"^# perfmon v(\d+): (\d+) x (\d+)-bit general, (\d+) x (\d+)-bit fixed$", serial, re.MULTILINE)
    told = "{}-{}X{}-{}X{}".format(*pmu.groups()) if pmu else "0"
    equal(got["PMU"], told, f"{name}: the PMU")
    errata = re.search(r"# errata: (.*(?:\n#   .*)*)", serial)
    told = errata and re.sub(r"[\s#]", "", errata[1]).replace(",", ".").replace(";", "/").replace("_", "-")
    equal(got.get("ERR"), told and told.upper().replace("?", "*"), f"{name}: the errata")
    (crc,) = re.findall(r"--- CRC-32 (\w{8}) ---", serial)
    equal(got["SUM"], crc.upper(), f"{name}: the summary's CRC-32")
    ok("PMULAB:" not in serial, f"{name}: the serial line has nothing of it")


def check_report(text, serial, name):
    """scripts/check-report takes it, alone and beside its summary, and no other."""
    alone = run("scripts/check-report", text_in=text)
    ok(alone.status == 0 and "QR code at line 1: holds" in alone.out, f"{name}: it holds, alone", alone)
    both = run("scripts/check-report", text_in=f"{serial}\n{text}\n")
    ok(both.status == 0 and "it belongs to a summary here" in both.out, f"{name}: beside its summary", both)
    forged = re.sub(r" SUM:\w+.*", f" SUM:{0:08X}", text)
    crc = zlib.crc32(forged.replace(" ", "").encode())
    forged += f" CRC:{crc:08X}"
    other = run("scripts/check-report", text_in=f"{serial}\n{forged}\n")
    ok(other.status == 1 and "to no summary here" in other.out, f"{name}: beside another run's summary", other)
    # One wrong bit anywhere: no such line holds.
    wrong = [text[:i] + chr(ord(c) ^ 1 << bit) + text[i + 1 :] for i, c in enumerate(text) for bit in range(7)]
    wrong = [line for line in wrong if line.split() != text.split() and "\n" not in line and "\r" not in line]
    found = run("scripts/check-report", text_in="\n".join(wrong))
    ok(found.status == 1 and "does not hold" in found.out, f"{name}: a wrong bit is found", found)
    ok(not re.search(": holds", found.out), f"{name}: each wrong bit is", found.out)


def check_code(texts, serial, name):
    if ok(len(texts) == 1, f"{name}: there is one code, and zbarimg reads it", f"{texts}\n{serial}"):
        check_text(texts[0], serial, name)
        check_report(texts[0], serial, name)


def on_text_screen(cmdline, name, **settings):
    with Machine(KERNEL, medium="kernel", append=cmdline, debug_exit="no", **settings) as machine:
        machine.wait_for(OVER, 100)
        text = machine.wait_for_screen(machine.text_screen, HINT)
        ok(OVER in text and HINT in text, f"{name}: the summary first, and where the code is", text)
        equal(photograph(machine, name)[0], [], f"{name}: no code beside the summary")
        machine.press("c")
        page = machine.wait_for_screen(machine.text_screen, "Any key: the summary")
        texts, white = photograph(machine, name)
        check_code(texts, machine.serial, name)
        ok(white > 50_000, f"{name}: it is white, not grey: {white} pixels")
        machine.press("c")
        equal(machine.wait_for_screen(machine.text_screen, HINT), text, f"{name}: c shows the summary again")
        machine.press("c", "home")
        seen = machine.wait_for_screen(machine.text_screen, "-- lines 1 to")
        ok("-- lines 1 to" in seen, f"{name}: a key of the pager's does its work from there", page + seen)


def by_itself(name):
    """Nobody presses a key."""
    with Machine(KERNEL, medium="kernel", append="run=14-8", debug_exit="no") as machine:
        machine.wait_for(OVER, 60)
        machine.wait_for_screen(machine.text_screen, HINT)
        page = machine.wait_for_screen(machine.text_screen, "Any key: the summary", 40)
        ok("Any key: the summary" in page, f"{name}: the page comes", page)
        check_code(photograph(machine, name)[0], machine.serial, name)
        text = machine.wait_for_screen(machine.text_screen, HINT, 40)
        ok(OVER in text, f"{name}: then the summary again", text)


def on_framebuffer(cmdline, name):
    with Machine(image("report.iso", cmdline), firmware="uefi", debug_exit="no") as machine:
        machine.wait_for(OVER, 100)
        read = lambda: screenshot.text(machine.picture())
        text = machine.wait_for_screen(read, OVER)
        ok(OVER in text and HINT not in text, f"{name}: the summary", text)
        checked = run("scripts/check-report", text_in=text)
        ok(checked.status == 0, f"{name}: the summary beside the code holds", checked)
        check_code(photograph(machine, name)[0], machine.serial, name)
        machine.press("home")
        machine.wait_for_screen(read, "-- lines 1 to")
        equal(photograph(machine, name)[0], [], f"{name}: who looks back sees no code")
        machine.press("end")
        machine.wait_for_screen(read, OVER)
        check_code(photograph(machine, name)[0], machine.serial, f"{name}, back at the end")


def in_pmusim(profile, cmdline, name):
    """With a PMU, which QEMU has none of: the cells of the simulated text screen, after so many instructions that the
    page is there."""
    kernel = patched_kernel("debug_exit", b"\xc3", "no-exit.elf")  # RET: the simulator would end there
    for millions in range(4, 120, 3):
        path = SCRATCH / "report-serial.txt"
        screen = run(BUILD / "test/screen", kernel, profile, cmdline, str(millions * 1_000_000), path)
        rows = [bytes.fromhex(line) for line in screen.out.splitlines()]
        if "Any key: the summary" not in "\n".join(row[::2].decode("cp437") for row in rows):
            continue
        picture = SCRATCH / "report-pmusim.png"
        zbar.draw(picture, [half(row, *kinds) for row in rows for kinds in ((0xDF, 0xDB), (0xDC, 0xDB))] + ["1" * 80] * 30)
        texts = zbar.read(picture)[0]
        if texts:  # not stopped while it was drawn
            break
    serial = path.read_text(encoding="utf-8").replace("\r\n", "\n")
    check_code(texts, serial, name)
    return texts[0]


FAILING = "selftest run=0-1,0-3,0-4,14-*,15-*"
on_text_screen("run=all", "text")
on_text_screen(FAILING, "text, failures", cpu="Nehalem", cpus=2)  # a processor with errata and microcode
by_itself("text, without a key")
got = fields(in_pmusim("westmere", "selftest run=0-1,15-2,15-3", "pmusim, westmere"))
equal(got["CPU"], "GENUINEINTEL-20655", "westmere: the processor")
equal(got["PMU"], "3-4X48-3X48", "westmere: the PMU")
ok("AAK100" in got["ERR"], "westmere: an erratum that every one of them has", str(got))
equal(got["NOT"], "0-1.1", "westmere: what failed")
in_pmusim("skylake", "run=14-1,15-2,15-3,15-11", "pmusim, skylake")
on_framebuffer("run=all", "uefi")
on_framebuffer(FAILING, "uefi, failures")
harness.done()
