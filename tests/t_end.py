#!/usr/bin/env python3
"""The end of a run: the machine halts, switches itself off or starts again, as the word end= says.

QEMU says on its monitor why it stopped; the serial line says by which way, and what a machine lacks.
"""

import harness
from harness import KERNEL, PMUSIM, SCRATCH, equal, ok, patched_kernel, run
from machine import Machine

REGISTER = "the reset register of ACPI's FADT"
NO_TABLES = "no ACPI RSDP in the boot information"
OFF, AGAIN = "guest-shutdown", "guest-reset"
STILL_ON = "may be switched off"

# image, firmware, machine; why QEMU ends (None: it halts); the lines of end= on the console
CASES = [
    ("poweroff", "bios", "q35", OFF, ["poweroff: ACPI's state S5"]),
    ("poweroff", "uefi", "q35", OFF, ["poweroff: ACPI's state S5"]),
    ("poweroff", "bios", "pc", OFF, ["poweroff: ACPI's state S5"]),
    (
        "poweroff",
        "bios",
        "pc,acpi=off",
        None,
        [f"poweroff: ACPI's state S5: {NO_TABLES}", "poweroff: this machine cannot switch itself off"],
    ),
    ("reboot", "bios", "q35", AGAIN, [f"reboot: {REGISTER}"]),
    ("reboot", "uefi", "q35", AGAIN, [f"reboot: {REGISTER}"]),
    (
        "reboot",
        "bios",
        "pc,acpi=off",
        AGAIN,
        [f"reboot: {REGISTER}: {NO_TABLES}", "reboot: the keyboard controller"],
    ),
    (
        "reboot",
        "bios",
        "pc,acpi=off,i8042=off",
        AGAIN,
        [
            f"reboot: {REGISTER}: {NO_TABLES}",
            "reboot: the keyboard controller: none answers at port 64H",
            "reboot: port CF9H",
        ],
    ),
    (
        "reboot",
        "bios",
        "isapc,i8042=off",
        AGAIN,
        [
            f"reboot: {REGISTER}: {NO_TABLES}",
            "reboot: the keyboard controller: none answers at port 64H",
            "reboot: port CF9H: nothing answers there",
            "reboot: a triple fault",
        ],
    ),
    ("halt", "bios", "q35", None, []),
]


def image(end, kernel=KERNEL):
    path = SCRATCH / f"end-{end}-{kernel.stem}.iso"
    made = run("scripts/iso", path, f"end={end} run=15-1", env={"KERNEL": str(kernel)})
    if made.status:
        ok(False, f"the image with end={end} is made", made)
    return path


def ways(text):
    """What the kernel says about end=, its last lines."""
    return [line.removeprefix("# end=") for line in text.splitlines() if line.startswith("# end=")]


def boot(path, firmware, board, ends, more=(), **settings):
    """Boots without the debug-exit port. Gives the reason of QEMU's end (None: it goes on), and the serial line."""
    with Machine(path, more=["-S", *more], firmware=firmware, machine=board, debug_exit="no", **settings) as machine:
        machine.watch()
        if not ends:
            machine.wait_for(STILL_ON, 100)
        reason = machine.stop_reason(100 if ends else 2)
        return reason, machine.serial


images = {end: image(end) for end in ["halt", "poweroff", "reboot"]}
for end, firmware, board, reason, lines in CASES:
    name = f"end={end}, {firmware}, {board}"
    why, text = boot(images[end], firmware, board, reason)
    ok(why == reason, f"{name}: {reason or 'it halts'}", f"{why}\n{text}")
    equal(ways(text), lines, f"{name}: the console says how")
    ok((STILL_ON in text) == (reason is None), f"{name}: it {'does not say' if reason else 'says'} to switch it off", text)

# A board with hardware-reduced ACPI, its registers in memory. It boots a kernel without a boot loader.
for end, reason, line in [("poweroff", OFF, "ACPI's state S5"), ("reboot", AGAIN, REGISTER)]:
    line_of = f"end={end} run=15-1"
    why, text = boot(
        KERNEL, "bios", "microvm,acpi=on", reason, more=["-vga", "none"], medium="kernel", append=line_of
    )
    ok(why == reason and ways(text) == [f"{end}: {line}"], f"end={end}, microvm: {reason}", f"{why}\n{text}")

# A panic is an end too.
# A kernel whose summary_print(), which nothing guards, begins with UD2.
broken = patched_kernel("summary_print", b"\x0f\x0b", "panicking.elf")
for end, reason, line in [("poweroff", OFF, "ACPI's state S5"), ("reboot", AGAIN, REGISTER)]:
    why, text = boot(image(end, broken), "bios", "q35", reason)
    ok("Bail out! panic: " in text, f"end={end}: the kernel panics", text)
    ok(why == reason and ways(text) == [f"{end}: {line}"], f"end={end}, a panic: {reason}", f"{why}\n{text}")
result = run(PMUSIM, "--cmdline", "end=reboot run=15-2", broken)
ok(result.status == 3 and not ways(result.out), "end=reboot, a panic in pmusim: exit 3, and no word", result)

# The debug-exit port comes first: an emulator's status is what it was, and nothing is said.
for end in ["poweroff", "reboot"]:
    result = run("scripts/qemu", images[end], seconds=100)
    ok(result.status == 0 and not ways(result.out), f"end={end} with the debug-exit port: exit 0, and no word", result)
    result = run(PMUSIM, "--cmdline", f"end={end} run=15-2", KERNEL)
    ok(result.status == 0 and not ways(result.out), f"end={end} in pmusim: exit 0, and no word", result)

harness.done()
