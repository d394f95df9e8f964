#!/usr/bin/env python3
"""The README shows what the programs print, names what there is, and its links lead somewhere."""

import pathlib
import re

import harness
from harness import ALL, PMUSIM, ok, run

checked = run("scripts/readme", "--check", seconds=300)
ok(checked.status == 0, "the excerpt and the table are what the programs print", checked)

text = pathlib.Path("README.md").read_text(encoding="utf-8")
rows = re.findall(r"^\| (\d+-\d+) \|", text, re.MULTILINE)
ok(rows == ALL, "the table has the experiments", rows)
ok("ok 1 - ex15-2" in text, "there is an excerpt of a run")

pages = [pathlib.Path("README.md"), *sorted(pathlib.Path("docs").rglob("*.md"))]
dead = [
    f"{page}: {link}"
    for page in pages
    for link in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8"))
    if not (page.parent / link).exists()
]
ok(not dead, "every link to a file leads to one", "\n".join(dead))

helped = run("make", "help").out
targets = re.findall(r"^([a-z]+):", pathlib.Path("Makefile").read_text(encoding="utf-8"), re.MULTILINE)
missing = [target for target in targets if f"make {target} " not in helped and target != "unit"]
ok(targets and not missing, "make help lists every target", missing)

profiles = {path.stem for path in pathlib.Path("sim/profiles").glob("*.profile")}
listed = run(PMUSIM, "--list-profiles")
ok(
    profiles and all(re.search(rf"\b{name}\b", listed.out) for name in profiles) and listed.status == 0,
    "--list-profiles names every profile",
    listed,
)
ok(all(f"`{name}`" in text for name in profiles), "the README names every profile", profiles)

harness.done()
