#!/usr/bin/env python3
"""docs/simulator.md, "The PMU's rules": every row names a test that exists, and every test has its row.

Tests are the functions that tests/model/ registers with cmocka, and the points of the guest
tests/guests/pmu.S ("pmu: text"; of those, the ones that only look at what a case left behind need no row).
"""

import pathlib
import re

from harness import done, equal, ok

PAGE = pathlib.Path("docs/simulator.md")
ROW = re.compile(r"^\| (.+?) \| (.+?) \| `(.+)` \|$", re.MULTILINE)
SECTION = re.compile(r"((?:APM )?vol\. [234], .+|—)$")
FUNCTION = re.compile(r"\b(?:RULE|cmocka_unit_test(?:_\w+)?)\((\w+)\b")
POINT = re.compile(r'^ *(TRY|COUNTED|EQUAL|CHECK) "((?:[^"\\]|\\.)+)"', re.MULTILINE)

page = PAGE.read_text(encoding="utf-8")
table = page.split("## The PMU's rules")[1].split("\n## ")[0]
rows = ROW.findall(table)
named = [test for _, _, test in rows]

functions = {
    name
    for file in pathlib.Path("tests/model").glob("*.c")
    for name in FUNCTION.findall(file.read_text(encoding="utf-8"))
}
points = [(kind, f"pmu: {text}") for kind, text in POINT.findall(pathlib.Path("tests/guests/pmu.S").read_text(encoding="utf-8")) if "\\" not in text]
wanted = functions | {text for kind, text in points if kind in ("TRY", "COUNTED")}
there = functions | {text for _, text in points}

ok(len(rows) > 100, "the table is found", len(rows))
equal(len([line for line in table.splitlines() if line.startswith("| ") and "`" in line]), len(rows), "each of its lines is a row")
equal([test for test in named if test not in there], [], "every row names a test that exists")
equal(sorted(wanted - set(named)), [], "every test has its row")
equal(sorted(test for test in set(named) if named.count(test) > 1), [], "no test has two")
equal([row for row in rows if not SECTION.match(row[1])], [], "every row names volume and section")
done()
