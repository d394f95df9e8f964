#!/usr/bin/env python3
"""scripts/setup: no apt call when all is there; installs as root; elsewhere it names the packages."""

import os
import shutil

import harness
from harness import SCRATCH, equal, ok, run

BASE = ["sh", "cat", "mktemp", "rm", "env", "echo", "sed", "dirname"]

box = (SCRATCH / "setup").absolute()
shutil.rmtree(box, ignore_errors=True)
box.mkdir(parents=True)
called = box / "called"


def program(folder, name, text):
    """A program of the test's own in one of the folders that PATH will name."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


base, apt, broken, root, user, sudo = (box / name for name in ("base", "apt", "broken", "root", "user", "sudo"))
base.mkdir()
for name in BASE:
    os.symlink(shutil.which(name), base / name)
program(apt, "apt-get", f'echo "$@" >>{called}')
program(broken, "apt-get", "echo E: no network >&2; exit 100")
program(root, "id", "echo 0")
program(user, "id", "echo 1000")
program(sudo, "sudo", f'echo sudo >>{called}; [ "$1" != -n ] || shift; exec "$@"')


def setup(*folders, goal="run", **env):
    """Runs scripts/setup with only these folders on the PATH; gives (run, what apt-get was asked)."""
    called.unlink(missing_ok=True)
    path = ":".join(str(folder) for folder in folders)
    result = run("/bin/sh", "scripts/setup", goal, env={"PATH": path, "CC": "gcc", **env})
    return result, called.read_text(encoding="utf-8") if called.exists() else ""


result, asked = setup(apt, root, os.environ["PATH"], goal="test")
equal((result.status, result.out + result.err, asked), (0, "", ""), "all is there: silent, no apt-get")

result, asked = setup(base, apt, root)
ok(result.status == 0 and "install -y" in asked and " gcc " in asked and "python3" in asked,
   "as root it installs what is missing", f"{result}\n{asked}")
equal(asked.count("update"), 1, "the lists are updated once")
ok("sudo" not in asked and "installing: " in result.err, "and says so", result)

result, asked = setup(base, apt, root, CC="clang")
ok(" clang " in f" {asked} ", "with CC=clang it installs clang", asked)

result, asked = setup(base, apt, user, sudo)
ok(result.status == 0 and asked.startswith("sudo") and "with sudo" in result.err,
   "as a user it takes sudo and says so", f"{result}\n{asked}")

result, asked = setup(base, apt, user)
ok(result.status == 1 and not asked and "apt-get install" in result.err and " gcc " in result.err,
   "without sudo it says what to run", result)

result, asked = setup(base, root)
ok(result.status == 1 and "not Debian" in result.err and " gcc " in result.err,
   "elsewhere it names the packages", result)

result, asked = setup(base, broken, root)
ok(result.status == 1 and "no network" in result.err and " gcc " in result.err,
   "when apt-get fails: its words, and the packages", result)

result, asked = setup(base, apt, root, goal="everything")
ok(result.status == 2 and not asked, "an unknown goal is refused", result)

harness.done()
