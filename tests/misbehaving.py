"""Machines as silicon, firmware and hypervisors are: the kernel runs on each, and must say what is so."""

import re

from harness import KERNEL, PMUSIM, ok, run

CLEAN, FAILS = 0, 1


def see(machines):
    """Two checks for each: profile, --set words, --fault words (or cpus=N), command line, exit status, what the output
    must hold (a text, or a pattern where it has a figure of the timing model), and what it must not. The numbers of the checks are left out of it."""
    for profile, sets, faults, words, status, said, unsaid in machines:
        name = " ".join([profile, *sets, *faults, words]).strip()
        options = [word for s in sets for word in ("--set", s)] + [
            word for f in faults for word in (("--cpus", f[5:]) if f.startswith("cpus=") else ("--fault", f))
        ]
        result = run(
            PMUSIM, "--profile", profile, *options, "--max-seconds", 20,
            "--cmdline", f"{words} watchdog=100 console=serial,vga", KERNEL,
        )  # fmt: skip
        good = result.status == status and not result.tap.errors
        ok(good, f"{name}: valid TAP, exit {status}", f"{result.tap.errors}\n{result}")
        out = re.sub(r"^(ok|not ok) \d+ - ", r"\1 - ", result.out, flags=re.MULTILINE)
        missing = [text for text in said if not (text.search(out) if isinstance(text, re.Pattern) else text in out)]
        wrong = [text for text in unsaid if text in out]
        ok(not missing and not wrong, f"{name}: it says so", f"missing: {missing}, wrong: {wrong}\n{result}")
