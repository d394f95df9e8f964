#!/usr/bin/env python3
"""The pages of docs/experiments/ show what the experiments print.

A line `<!-- excerpt: PROFILE[,KEY=VALUE…] EX [CPUS=n] -->` before a fenced block says that the block's lines stand, in that
order and with nothing between them, in what pmusim prints for run=EX on that profile. An ellipsis (…) in a line
stands for whatever is there: addresses and cycles change with the compiler.
"""

import functools
import pathlib
import re

from harness import KERNEL, done, ok, sim

EXCERPT = re.compile(r"^<!-- excerpt: (\S+) (\S+)(?: CPUS=(\d+))? -->\n+```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = re.compile(r"^<!-- excerpt:", re.MULTILINE)


@functools.lru_cache(maxsize=None)
def printed(profile, experiment, cpus):
    """The lines of a run."""
    name, *settings = profile.split(",")
    sets = [word for setting in settings for word in ("--set", setting)]
    result = sim(f"run={experiment}", profile=name, more=["--cpus", cpus, *sets])
    return result.out.splitlines()


def line_matches(wanted, line):
    """Is it that line, with anything for each ellipsis?"""
    pattern = ".*?".join(re.escape(part) for part in wanted.rstrip().split("…"))
    return re.fullmatch(pattern, line.rstrip()) is not None


def begins(wanted, lines):
    """How many of the wanted lines stand together, at best."""
    best = 0
    for start in range(len(lines)):
        n = 0
        while n < len(wanted) and start + n < len(lines) and line_matches(wanted[n], lines[start + n]):
            n += 1
        best = max(best, n)
    return best


pages = sorted(pathlib.Path("docs/experiments").glob("*.md"))
ok(pages, "there are pages")
ok(KERNEL.exists(), "there is a kernel to run")
for page in pages:
    text = page.read_text(encoding="utf-8")
    excerpts = EXCERPT.findall(text)
    shown = {profile for profile, experiment, _, _ in excerpts if experiment == page.stem}
    ok(len(shown) >= 2, f"{page}: excerpts from two processors, or more", shown)
    ok(len(excerpts) == len(MARK.findall(text)), f"{page}: a block behind each mark")
    for profile, experiment, cpus, block in excerpts:
        wanted = block.splitlines()
        lines = printed(profile, experiment, cpus or "1")
        found = begins(wanted, lines) if wanted else -1
        ok(
            found == len(wanted),
            f"{page}: the excerpt of {experiment} on {profile}",
            f"not printed after the lines before it: {wanted[found] if 0 <= found < len(wanted) else '(empty)'}\n" + "\n".join(lines),
        )

done()
