#!/usr/bin/env python3
"""gcc and clang both build everything without a warning (each is an error), and what clang built holds as well.

What this build was made with is not built again.
"""

import pathlib

import harness
from harness import BUILD, SEVEN, check_clean, equal, ok, run

ours = pathlib.Path((BUILD / "flags.stamp").read_text(encoding="utf-8").split()[0]).name
home = {compiler: BUILD if compiler == ours else BUILD / "test" / compiler for compiler in ("gcc", "clang")}
for compiler, out in home.items():
    built = run("make", f"O={out}", f"CC={compiler}", "all", seconds=300)
    ok(built.status == 0, f"{compiler} builds it", built)
    ok("warning" not in (built.out + built.err).lower(), f"{compiler} has no warning", built)
    result = run(out / "pmusim", "--cmdline", "run=" + ",".join(SEVEN), out / "pmulab.elf")
    check_clean(result, f"built by {compiler}", SEVEN)

# The simulator does not depend on who built it: one image, the same bytes and figures.
printed = {}
for compiler in ("gcc", "clang"):
    pmusim = home[compiler] / "pmusim"
    result = run(pmusim, "--stats", "--cmdline", "run=15-*", home["gcc"] / "pmulab.elf")
    figures = [line for line in result.err.splitlines() if "wall time" not in line]
    printed[compiler] = (result.status, result.out, figures)
equal(printed["clang"], printed["gcc"], "pmusim prints the same, built by gcc or by clang")

harness.done()
