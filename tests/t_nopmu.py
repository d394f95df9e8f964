#!/usr/bin/env python3
"""Without a PMU everything is skipped with its reason and the exit is 0: profile none, and QEMU's TCG.

QEMU boots the very image that `make iso` makes, by SeaBIOS and by OVMF, from a disc and from a USB stick.
"""

import re

import harness
from harness import ALL, CHAPTER_15, SCRATCH, check_clean, equal, ok, run, sim


def check_skips(result, name):
    """All there, those that count with a SKIP that names CPUID's leaf, the others with what else is missing."""
    tap = check_clean(result, name, ALL, skips=True)
    # 14-8 needs the debug registers alone.
    needy = [p for n in ALL if n != "14-8" for p in tap.of(n)]
    ok(needy and all(p.skip for p in needy), f"{name}: all that needs a PMU is skipped", result)
    counting = [p.skip for n in CHAPTER_15 for p in tap.of(n)]
    ok(
        all(re.search(r"CPUID.*(0?AH|80000001H)", skip, re.IGNORECASE) for skip in counting),
        f"{name}: each skip of a counting experiment names the CPUID leaf",
        "\n".join(counting),
    )
    other = [p.skip for p in tap.skips if p.skip not in counting]
    ok(
        other and all(re.search(r"CPUID|MSR|IA32_|family|MADT|processor", skip) for skip in other),
        f"{name}: each other skip names what is missing",
        "\n".join(other),
    )


check_skips(sim(profile="none"), "profile none")

image = SCRATCH / "pmulab.iso"
made = run("scripts/iso", image, seconds=60)
ok(made.status == 0 and image.stat().st_size < 32 << 20, "the image is made, under 32 MiB", made)
for firmware, medium in [("bios", "cd"), ("uefi", "cd"), ("bios", "usb"), ("uefi", "usb")]:
    result = run("scripts/qemu", image, f"firmware={firmware}", f"medium={medium}", seconds=150)
    # Before the kernel's first line are the firmware's and GRUB's own.
    at = result.out.rfind("TAP version 14")
    result.out = result.out[max(at, 0) :]
    check_skips(result, f"menu of the image, {firmware}, {medium}")

# A command line reaches the kernel through the image, and a wrong one ends with another status.
result = run("scripts/run", env={"ENGINE": "tcg", "EX": "15-1,15-3", "TRACE": "msr"}, seconds=150)
equal(result.tap.experiments(), ["15-1", "15-3"], "ENGINE=tcg EX=15-1,15-3 runs those")
equal(result.tap.errors, [], "ENGINE=tcg: nothing but TAP 14 is on the console")
ok(result.status == 0 and "engine: qemu -accel tcg" in result.err, "ENGINE=tcg: exit 0", result)
result = run("scripts/run", env={"ENGINE": "tcg", "EX": "99-1"}, seconds=150)
ok(result.status == 1 and "99-1" in result.out, "ENGINE=tcg EX=99-1: named, exit 1", result)

kvm = run("scripts/kvm-pmu", seconds=20)
equal(kvm.out.count("\n"), 1, "why KVM is used or not is one line")
if kvm.status == 0:
    result = run("scripts/run", env={"ENGINE": "kvm"}, seconds=200)
    check_clean(result, "KVM", ALL, skips=True)
else:
    harness.skip("the experiments in KVM's guest PMU", kvm.out.strip())

harness.done()
