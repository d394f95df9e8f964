#!/usr/bin/env python3
"""An event that stays 0 in the simulator is named: on the standard error, once, and never to the guest."""

import pathlib
import re

from harness import KERNEL, PMUSIM, SCRATCH, done, equal, ok, run, sim

SCRATCH.mkdir(parents=True, exist_ok=True)
PROFILES = sorted(path.stem for path in pathlib.Path("sim/profiles").glob("*.profile"))
INSTRUCTIONS = "event.0xc0.0x00=INST_RETIRED.ANY_P uncounted"
UNCOUNTED = "event 0xc0 umask 0x00 INST_RETIRED.ANY_P is not counted by the model: it stays 0"

# No experiment selects what the model does not count.
for profile in PROFILES:
    result = sim("console=serial", profile, more=["--cpus", 2])
    ok(result.err == "", f"{profile}: all events that the experiments select are counted", result)

# Known and not counted; and not in the list at all. Once for all selects and processors of a kind.
for name, profile, more, lines in (
    ("known", "skylake", ["--set", INSTRUCTIONS], [f"skylake: {UNCOUNTED}"]),
    ("known, of each kind of core", "alderlake", ["--set", INSTRUCTIONS],
     [f"alderlake [p]: {UNCOUNTED}", f"alderlake [e]: {UNCOUNTED}"]),
    ("known, of one kind of core", "alderlake", ["--set", f"e:{INSTRUCTIONS}"], [f"alderlake [e]: {UNCOUNTED}"]),
):  # fmt: skip
    result = sim("run=15-2,18-15,22-13", profile, more=["--cpus", 4, *more])
    equal(result.err.splitlines(), [f"pmusim: {line}" for line in lines], f"{name}: said once")
    ok("stays 0" not in result.out and result.status == 1, f"{name}: the guest only sees 0", result)

text = pathlib.Path("sim/profiles/skylake.profile").read_text("utf-8")
path = SCRATCH / "unlisted.profile"
path.write_text(re.sub(r"(?m)^event\.0xc0\.0x00 .*\n", "", text), encoding="utf-8")
result = run(PMUSIM, "--profile", path, "--cmdline", "run=15-2", KERNEL)
equal(result.err, "pmusim: skylake: event 0xc0 umask 0x00 is not in the profile's list: it stays 0\n", "not in the list: said so")

# The form of the profile.
for line, said in {
    "event.0xb7.0x03 = SOMETHING uncounted pebs": 'event.0xb7.0x03: "pebs": nothing stands behind uncounted',
    "event.0xb7.0x01 = SOMETHING uncounted": "event.0xb7.0x01: given twice",
    "event.0xc0.0x00 = SOMETHING uncounted": "event.0xc0.0x00: given twice",
    "event.0xb7.0x03 = SOMETHING uncuonted": '"uncuonted" is nothing that the machine counts',
}.items():
    path.write_text(f"{text}{line}\n", encoding="utf-8")
    result = run(PMUSIM, "--profile", path, KERNEL)
    ok(result.status == 2 and said in result.err, f"refused: {line}", result)

# docs/simulator.md lists them all.
told = pathlib.Path("docs/simulator.md").read_text("utf-8")
for profile in PROFILES:
    source = pathlib.Path(f"sim/profiles/{profile}.profile").read_text("utf-8")
    for kind, part in [(k, p) for k, p in zip(["", *re.findall(r"(?m)^\[(\w+)\]$", source)], re.split(r"(?m)^\[\w+\]$", source))]:
        codes = re.findall(r"(?m)^event\.0x(\w{2,3})\.0x(\w\w)(?:\.0x(\w\w))? = \S+ uncounted", part)
        listed = " ".join(f"{e}/{u}{'/' + u2 if u2 else ''}".upper() for e, u, u2 in codes)
        name = f"`{profile}`{f' [{kind}]' if kind else ''}"
        ok(not codes or f"| {name} | {listed} |" in told, f"docs/simulator.md: {name}", f"| {name} | {listed} |")


done()
