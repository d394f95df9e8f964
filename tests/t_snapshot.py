#!/usr/bin/env python3
"""--save, --save-when and --load: a run that goes on and one that is loaded say the same, with the same counts."""

import re

import harness
from harness import BUILD, KERNEL, PMUSIM, SCRATCH, equal, ok, run

folder = SCRATCH / "snapshot"
folder.mkdir(parents=True, exist_ok=True)
FILE = folder / "state"
# Profile, processors, what runs, the text after which it is saved: counters, branch records and PEBS in use behind it.
RUNS = [
    ("skylake", 1, "run=15-3,15-4,14-1,14-9", "\nok 1 - "),
    ("westmere", 2, "run=18-15,15-2", "1.."),
    ("arrowlake", 2, "run=22-13,15-3", "1.."),
]


def counts(result):
    """--stats without the host's time."""
    return re.sub(r"^pmusim: wall time.*$", "", result.err, flags=re.MULTILINE)


for profile, cpus, cmdline, text in RUNS:
    words = ["--profile", profile, "--cpus", cpus, "--stats"]
    whole = run(PMUSIM, *words, "--cmdline", f"{cmdline} console=serial", "--save", FILE, "--save-when", text, KERNEL, seconds=60)
    loaded = run(PMUSIM, *words, "--load", FILE, seconds=60)
    name = f"{profile}, {cpus} processors"
    ok(text in whole.out and "\nok " in whole.out, f"{name}: it runs", whole)
    equal((loaded.status, whole.status), (0, 0), f"{name}: both come to their ends")
    ok(len(loaded.out) > 200 and whole.out.endswith(loaded.out), f"{name}: what is loaded says what followed", loaded)
    ok(text in whole.out[: -len(loaded.out)], f"{name}: which is what follows the text", loaded)
    equal(counts(loaded), counts(whole), f"{name}: the same instructions, events and times")
    again = run(PMUSIM, *words, "--load", FILE, seconds=60)
    equal(again.out, loaded.out, f"{name}: and again")

# A guest that sets state in every part, prints its first point, and looks at the state later.
guest = BUILD / "test" / "guests" / "snapshot.elf"
whole = run(PMUSIM, guest, "--save", FILE, "--save-when", "ok 1 - ", seconds=10)
loaded = run(PMUSIM, "--load", FILE, seconds=10)
for name, result in (("goes on", whole), ("is loaded", loaded)):
    ok("1..22" in result.out and "not ok" not in result.out and result.status == 0, f"all state is there in the machine that {name}", result)
ok(loaded.out.startswith("ok 2"), "and the first point was before the snapshot", loaded)

# ---- What is refused, and how ----
profile, cpus, cmdline, text = RUNS[0]
run(PMUSIM, "--cmdline", "run=15-1 console=serial", "--save", FILE, "--save-when", "1..", KERNEL)
cut, strange = folder / "cut", folder / "strange"
cut.write_bytes(FILE.read_bytes()[:-5000])
strange.write_bytes(b"\x7fELF" + bytes(5000))
for words, said in [
    (["--load", folder / "absent"], "absent': No such file"),
    (["--load", strange], "is not a snapshot"),
    (["--load", cut], "ends too early"),
    (["--load", FILE, "--cpus", 2], "--cpus must be as it was"),
    (["--load", FILE, "--memory", 128], "--memory must be as it was"),
    (["--load", FILE, "--profile", "haswell"], "--profile and --set must be as they were"),
    (["--load", FILE, "--set", "pmu.skid=3"], "--profile and --set must be as they were"),
    (["--load", FILE, "--fault", "pmi=lost:1"], "a machine with --fault"),
    (["--load", FILE, KERNEL], "takes no image"),
    (["--load", FILE, "--cmdline", "x"], "takes no image"),
    (["--load", FILE, "--trace", "msr"], "--trace does not go with"),
    (["--save", cut, KERNEL], "need each other"),
    (["--save-when", "x", KERNEL], "need each other"),
    (["--save", folder, "--save-when", "x", KERNEL], "Is a directory"),
]:
    result = run(PMUSIM, *words, seconds=10)
    shown = " ".join(str(word).rsplit("/", maxsplit=1)[-1] for word in words)
    ok(result.status == 2 and said in result.err and result.out == "", f"'{shown}' is refused", result)
result = run(PMUSIM, "--save", cut, "--save-when", "never said", "--cmdline", "run=15-1 console=serial", KERNEL)
ok(result.status == 0 and "the guest ended before it said 'never said'" in result.err, "a text that never comes: it says so", result)
result = run(PMUSIM, "--save", "/dev/full", "--save-when", "1..", "--cmdline", "run=15-1 console=serial", KERNEL)
ok(result.status == 2 and "cannot be written" in result.err, "a full disk: it says so", result)
harness.done()
