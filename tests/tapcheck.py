#!/usr/bin/env python3
"""A strict reader of TAP version 14, as the kernel must write it.

usage: tapcheck.py [FILE]        exit 0: valid; 1: not, with the reasons; the verdicts do not matter

What the specification allows to be left out is demanded here (a number on each test point, a description,
a reason for each SKIP), and what it tells a reader to pass over (lines that are not TAP) is an error.
"""

import re
import sys
from dataclasses import dataclass, field

PLAN = re.compile(r"1\.\.(\d+)(?: # SKIP (.+))?$")
POINT = re.compile(r"(not ok|ok)(?: (\d+))?(?: - (.*?))?(?: # (.*))?$")
DIRECTIVE = re.compile(r"(SKIP|TODO)\b *(.*)$", re.IGNORECASE)
YAML_LINE = re.compile(r"  ([A-Za-z0-9_.+-]+): (.+)$")


@dataclass
class Point:
    """One test point."""

    ok: bool
    number: int
    text: str
    skip: str = ""  # the reason
    todo: str = ""
    yaml: dict = field(default_factory=dict)

    @property
    def failed(self):
        return not self.ok and not self.todo


@dataclass
class Tap:
    """A whole stream: its test points, its comment lines, and what is wrong with it."""

    points: list = field(default_factory=list)
    comments: list = field(default_factory=list)
    errors: list = field(default_factory=list)
    plan: int | None = None
    bail_out: str | None = None

    @property
    def failures(self):
        return [point for point in self.points if point.failed]

    @property
    def skips(self):
        return [point for point in self.points if point.skip]

    def of(self, experiment):
        """The test points of one experiment, "15-3"."""
        return [p for p in self.points if p.text.split(" ", 1)[0] == f"ex{experiment}"]

    def experiments(self):
        """The numbers of the experiments in the stream, in their order."""
        return list(dict.fromkeys(p.text.split(" ", 1)[0].removeprefix("ex") for p in self.points))


def parse(text):
    """Reads a stream; never raises, mistakes are in Tap.errors."""
    tap = Tap()
    lines = text.split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    else:
        tap.errors.append("the last line has no newline")
    yaml_of = None  # the point whose YAML block is open
    last_point_line = None
    at_end = False  # the plan came behind the test points: only comments may follow
    for number, line in enumerate(lines, 1):

        def wrong(what, number=number, line=line):
            tap.errors.append(f"line {number}: {what}: {line!r}")

        if number == 1:
            if line != "TAP version 14":
                wrong("the first line is not 'TAP version 14'")
            continue
        if tap.bail_out is not None and not line.startswith(("#", "Bail out!")):
            wrong("something after Bail out!")
        if re.search(r"[\x00-\x1f\x7f]", line):
            wrong("a control character")
        if yaml_of is not None:
            if line == "  ...":
                yaml_of = None
            elif match := YAML_LINE.match(line):
                if match[1] in yaml_of.yaml:
                    wrong("the same YAML key twice")
                yaml_of.yaml[match[1]] = match[2]
            else:
                wrong("not a 'key: value' line, in a YAML block")
        elif line == "  ---":
            if last_point_line != number - 1:
                wrong("a YAML block that does not follow a test point")
            yaml_of = tap.points[-1] if tap.points else Point(True, 0, "")
        elif line.startswith("#"):
            tap.comments.append(line)
        elif match := PLAN.match(line):
            if tap.plan is not None:
                wrong("a second plan")
            at_end = bool(tap.points)
            tap.plan = int(match[1])
            if tap.plan == 0 and not match[2]:
                wrong("a plan of nothing without a reason")
        elif line.startswith("Bail out!"):
            tap.bail_out = ((tap.bail_out or "") + "\n" + line.removeprefix("Bail out!")).strip()
        elif match := POINT.match(line):
            last_point_line = number
            if at_end:
                wrong("a plan between test points")
            point = Point(match[1] == "ok", int(match[2] or 0), match[3] or "")
            tap.points.append(point)
            if point.number != len(tap.points):
                wrong(f"test point {len(tap.points)} has number {match[2]}")
            if not point.text:
                wrong("a test point without a description")
            if match[4] is not None:
                directive = DIRECTIVE.match(match[4])
                if not directive:
                    wrong("a directive that is neither SKIP nor TODO (or '#' not escaped)")
                elif not directive[2].strip():
                    wrong("a directive without a reason")
                elif directive[1].upper() == "SKIP":
                    point.skip = directive[2]
                    if not point.ok:
                        wrong("a SKIP that is not ok")
                else:
                    point.todo = directive[2]
        else:
            wrong("not a line of TAP")
    if yaml_of is not None:
        tap.errors.append("a YAML block is open at the end")
    if tap.plan is None:
        if tap.bail_out is None:
            tap.errors.append("no plan")
    elif tap.plan != len(tap.points) and tap.bail_out is None:
        tap.errors.append(f"the plan says {tap.plan}, there are {len(tap.points)} test points")
    return tap


def main():
    with open(sys.argv[1], encoding="utf-8", newline="") if sys.argv[1:] else sys.stdin as stream:
        tap = parse(stream.read())
    for error in tap.errors:
        print(f"tapcheck: {error}", file=sys.stderr)
    sys.exit(1 if tap.errors else 0)


if __name__ == "__main__":
    main()
