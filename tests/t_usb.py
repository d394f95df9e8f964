#!/usr/bin/env python3
"""make usb shows the device, asks, and refuses every device that is not an unmounted, removable stick.

A tree of files stands for /dev, /sys and /proc (USB_ROOT of scripts/usb). Where this runs as root and the kernel
has loop devices, a real block device that is not removable must be refused too.
"""

import os
import pathlib
import shutil
import tempfile

import harness
from harness import equal, ok, run

MIB = 1 << 20
scratch = pathlib.Path(tempfile.mkdtemp(prefix="pmulab-usb-"))
image = scratch / "image"
image.write_bytes(os.urandom(MIB + 4711))


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def tree(size=8 * MIB, removable="1", mounts="", swaps="", holder="", node=True):
    """A computer with the disk sda and the stick sdb, which has two partitions."""
    root = pathlib.Path(tempfile.mkdtemp(dir=scratch))
    write(root / "proc/mounts", f"/dev/sda1 / ext4 rw 0 0\nproc /proc proc rw 0 0\n{mounts}")
    write(root / "proc/swaps", f"Filename Type Size Used Priority\n{swaps}")
    for name, is_removable in [("sda", "0"), ("sdb", removable)]:
        sys = root / "sys/class/block" / name
        write(sys / "removable", is_removable + "\n")
        write(sys / "size", f"{size // 512}\n")
        write(sys / "device/vendor", "ACME    \n")
        write(sys / "device/model", "Stick 3000      \n")
        (sys / "holders").mkdir()
        for number in "12":
            write(sys / f"{name}{number}/partition", number)
            write(sys / f"{name}{number}/size", f"{size // 1024}\n")
            (sys / f"{name}{number}/holders").mkdir()
        os.symlink(f"{name}/{name}1", root / f"sys/class/block/{name}1")
        if node:
            (root / "dev").mkdir(exist_ok=True)
            (root / "dev" / name).write_bytes(b"old" * (size // 3))
            (root / "dev" / f"{name}1").write_bytes(b"")
    if holder:
        (root / "sys/class/block/sdb/sdb2/holders" / holder).mkdir()
    (root / "dev/null").parent.mkdir(exist_ok=True)
    return root


def usb(root, device="/dev/sdb", answer="yes\n"):
    return run("scripts/usb", image, device, env={"USB_ROOT": str(root)}, text_in=answer)


root = tree()
done = usb(root)
ok(done.status == 0, "a stick is written", done)
ok("ACME Stick 3000" in done.out and "8 MB" in done.out, "its model and size are shown", done)
ok("sdb1" in done.out and "sdb2" in done.out, "its partitions are shown", done)
ok("yes" in done.out.split("lost", 1)[-1], "it asks", done)
written = (root / "dev/sdb").read_bytes()
wanted = image.read_bytes()
ok(written[: len(wanted)] == wanted and written[len(wanted) :].startswith((b"old", b"ldo", b"dol")), "it holds the image")
ok((root / "dev/sda").read_bytes().startswith(b"old"), "the other disk is as it was")

REFUSED = [
    ("no is no", tree(), "/dev/sdb", "no\n", "nothing was written"),
    ("y is not yes", tree(), "/dev/sdb", "y\n", "nothing was written"),
    ("no answer", tree(), "/dev/sdb", "", "nothing was written"),
    ("a disk that is not removable", tree(), "/dev/sda", "yes\n", "not removable"),
    ("removable unknown", tree(removable=""), "/dev/sdb", "yes\n", "not removable"),
    ("a partition", tree(), "/dev/sdb1", "yes\n", "a partition"),
    ("no such device", tree(), "/dev/sdz", "yes\n", "no such device"),
    ("not a block device", tree(), "/dev/null", "yes\n", "no such device"),
    ("a mounted partition", tree(mounts="/dev/sdb2 /media/me vfat rw 0 0\n"), "/dev/sdb", "yes\n", "/media/me"),
    ("the whole device mounted", tree(mounts="/dev/sdb /mnt iso9660 ro 0 0\n"), "/dev/sdb", "yes\n", "mounted"),
    ("swap", tree(swaps="/dev/sdb1 partition 100 0 -2\n"), "/dev/sdb", "yes\n", "swap"),
    ("part of a volume", tree(holder="dm-0"), "/dev/sdb", "yes\n", "dm-0"),
    ("too small", tree(size=MIB), "/dev/sdb", "yes\n", "too small"),
    ("no medium", tree(size=0), "/dev/sdb", "yes\n", "no medium"),
]
for name, root, device, answer, why in REFUSED:
    result = usb(root, device, answer)
    ok(result.status == 1 and why in result.err, f"refused, {name}", result)
    sticks = [(root / f"dev/{disk}").read_bytes() for disk in ("sda", "sdb")]
    ok(all(image.read_bytes()[:64] not in stick for stick in sticks), f"refused, {name}: nothing is written")

result = run("scripts/usb", image, "")
ok(result.status == 2 and "DEV=/dev/sdX" in result.err, "without DEV: the usage, exit 2", result)
result = run("scripts/usb", image, "/dev/null", text_in="yes\n")
ok(result.status == 1 and "block device" in result.err, "the real /dev/null is not a block device", result)

stick = scratch / "stick"
stick.write_bytes(bytes(8 * MIB))
loop = run("losetup", "--find", "--show", stick) if os.getuid() == 0 else None
if loop and loop.status == 0:
    device = loop.out.strip()
    result = run("scripts/usb", image, device, text_in="yes\n")
    ok(result.status == 1 and "not removable" in result.err, "a real loop device is not removable", result)
    equal(stick.read_bytes(), bytes(8 * MIB), "and is as it was")
    run("losetup", "--detach", device)
else:
    harness.skip("a real loop device", "no root here, or no loop devices")

shutil.rmtree(scratch)
harness.done()
