#!/usr/bin/env python3
"""The image boots on every machine that QEMU can play: firmware, medium, chipset, memory, processors, models.

A run counts when it ends with exit 0 and valid TAP. A processor without long mode gets one clear sentence, on the
screen and on the serial line. With ALL=1 (make test-all) the whole matrix, else a sample of it.
"""

import concurrent.futures
import itertools
import os
import re

import harness
from harness import SCRATCH, Run, ok, run
from machine import Machine

ALL = os.environ.get("ALL") == "1"
WORKERS = 2
EXPERIMENTS = ["15-1", "15-3"]
REFUSED = "PMU Lab needs a 64-bit processor"

# firmware, medium, chipset, memory, processors
MACHINES = list(itertools.product(("bios", "uefi"), ("cd", "usb"), ("pc", "q35"), ("64M", "8G"), (1, 4)))
# Each value at least once, and each firmware from each medium.
MACHINES_SAMPLE = [
    ("bios", "cd", "pc", "64M", 1),
    ("bios", "cd", "q35", "8G", 4),
    ("bios", "usb", "pc", "8G", 4),
    ("uefi", "cd", "pc", "64M", 4),
    ("uefi", "usb", "q35", "8G", 1),
]
# The oldest and newest of each maker, and those without long mode.
MODELS_SAMPLE = ["486", "pentium3", "coreduo", "Opteron_G1", "Conroe", "Westmere", "Snowridge", "EPYC-Milan", "qemu64"]
NOT_ALONE = {"host", "base"}  # KVM's own, and a skeleton for others

image = SCRATCH / "matrix.iso"
made = run("scripts/iso", image, "run=" + ",".join(EXPERIMENTS))
ok(made.status == 0, "the image is made", made)


def boot(kind):
    """Boots one of MACHINES; gives what to report."""
    firmware, medium, chipset, memory, cpus = kind
    with Machine(image, firmware=firmware, medium=medium, machine=chipset, memory=memory, cpus=cpus) as machine:
        status = machine.wait(100)
        serial = machine.serial
    return Run(status, serial[max(serial.find("TAP version 14"), 0) :], "", 0)


def boot_model(model):
    """Boots with a -cpu model that has long mode."""
    with Machine(image, cpu=model, machine="pc") as machine:
        status = machine.wait(60)
        serial = machine.serial
    return Run(status, serial[max(serial.find("TAP version 14"), 0) :], "", 0)


def refuse_model(model):
    """Boots with one that has not; gives what the serial line and the screen say."""
    with Machine(image, cpu=model, machine="pc", debug_exit="no") as machine:
        machine.wait_for(REFUSED, 30)
        screen = machine.wait_for_screen(machine.text_screen, "here.", 10)
        return machine.serial, screen


def check_run(result, name):
    """The run reached its end, and said so in valid TAP."""
    tap = result.tap
    good = result.status == 0 and not tap.errors and not tap.failures and tap.experiments() == EXPERIMENTS
    ok(good, f"{name}: boots, runs, exit 0", "\n".join(tap.errors) + f"\n{result}")


models = re.findall(r"^x86 (\S+)", run("qemu-system-x86_64", "-cpu", "help").out, re.MULTILINE)
ok(len(models) > 50, "QEMU lists its processors", models)
if ALL:
    kinds, models = MACHINES, [model for model in models if model not in NOT_ALONE]
else:
    kinds, models = MACHINES_SAMPLE, [model for model in MODELS_SAMPLE if model in models]

# The model says what it has; a machine that does not run yet is enough to ask.
with Machine(image, more=("-S",)) as machine:
    long_mode = [model for model in models if machine.cpu_features(model).get("lm")]
others = [model for model in models if model not in long_mode]
ok(len(long_mode) > 5 and len(others) >= 3, "there are some with long mode and some without", models)

with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
    for kind, result in zip(kinds, pool.map(boot, kinds)):
        name = ", ".join(str(part) for part in kind)
        check_run(result, name)
        word = "UEFI" if kind[0] == "uefi" else "BIOS"
        ok(f"{kind[4]} running" in result.out and word in result.out, f"{name}: all of it is used", result)
    for model, result in zip(long_mode, pool.map(boot_model, long_mode)):
        check_run(result, f"-cpu {model}")
    for model, (serial, screen) in zip(others, pool.map(refuse_model, others)):
        lines = [line for line in screen.split("\n") if line]
        ok(serial.count(REFUSED) == 1, f"-cpu {model}, no long mode: one sentence on the serial line", serial)
        ok(REFUSED in screen and len(lines) <= 2, f"-cpu {model}: and on the screen, alone", screen)

harness.done()
