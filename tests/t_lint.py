#!/usr/bin/env python3
"""The sources have the format of .clang-format, and cppcheck, clang-tidy and shellcheck find nothing.

clang-tidy's analyzer explores each function as far as its default says only with ALL=1 (and in `make lint`).
"""

import os
import re

import harness
from harness import ok, run

version = re.search(r"version (\d+)", run("clang-format", "--version").out)
if version and version[1] == "14":
    checked = run("scripts/lint", "format", seconds=120)
    ok(checked.status == 0, "clang-format", checked)
else:
    harness.skip("clang-format", "another version than 14 breaks lines elsewhere")
for what in ("cppcheck", "tidy" if os.environ.get("ALL") == "1" else "glance", "shell"):
    checked = run("scripts/lint", what, seconds=300)
    ok(checked.status == 0, what, checked)

harness.done()
