#!/usr/bin/env python3
"""Mutants: the simulator with one thing wrong, for the tests of the tests. Each must turn red what its entry names.

usage: mutants.py NAME     builds that mutant's pmusim (make run MUTATE=NAME) and prints its path
       mutants.py --list   all names, with their reasons

The tables are experiments.txt, model.txt and interpreter.txt beside this file. An entry ends with an empty line:

    = NAME                        words with - between
    why TEXT                      the reason, in words
    @ FILE                        a change: the lines with - or a blank stand in FILE in one place alone, whatever
    -LINE                         their spaces; those with - go, those with + come
    +LINE
    red experiments PROFILE N-N … exactly these are not ok (run=14-*,15-*,18-*,22-*,23-*,24-*, two processors); PROFILE may
                                  have settings: arrowlake,processors=e
    red model FUNCTION …          tests of tests/model
    red guest NAME: POINT         a point of tests/guests/NAME.S, on skylake
    red guest NAME on PROFILE: POINT  … on another
    red timing LOOP: POINT        a point of tests/t_timing.py
    red diff                      the differential test, tests/diff

A mutant costs no build of its own but that of the files it changes, and a link: some tenths of a second.
"""

import difflib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, field

HERE = pathlib.Path(__file__).parent
BUILD = pathlib.Path(os.environ.get("O", "build"))
TABLES = ("experiments", "model", "interpreter")


class Broken(Exception):
    """A mutant that cannot be made, and why."""


def words(line):
    """The line without what a formatter changes: indentation, the place of a backslash."""
    return " ".join(line.split())


@dataclass
class Change:
    """Lines of a file: each with its mark, '-', '+' or ' '."""

    file: str
    lines: list = field(default_factory=list)

    def apply(self, text):
        """The file's text with the change made."""
        have = text.splitlines()
        old = [words(line[1:]) for line in self.lines if line[0] != "+"]
        there = [words(line) for line in have]
        places = [at for at in range(len(have)) if there[at : at + len(old)] == old]
        if len(places) != 1:
            raise Broken(f"{self.file} has these lines {len(places)} times: {' / '.join(old)}")
        at = places[0]
        new = []
        for line in self.lines:
            if line[0] == "+":
                new.append(line[1:])
            else:
                new += [have[at]] if line[0] == " " else []
                at += 1
        return "\n".join(have[: places[0]] + new + have[at:]) + "\n"


@dataclass
class Mutant:
    """An entry of a table."""

    name: str
    table: str
    why: str = ""
    changes: list = field(default_factory=list)
    profile: str = ""
    experiments: list = field(default_factory=list)
    tests: list = field(default_factory=list)  # functions of tests/model, "guest: point", "timing: point"
    diff: bool = False

    @property
    def home(self):
        return BUILD / "mutants" / self.name

    def sources(self):
        """The changed files: {name: text}."""
        texts = {}
        for change in self.changes:
            file = change.file
            texts[file] = change.apply(texts.get(file) or pathlib.Path(file).read_text(encoding="utf-8"))
        return texts

    def build(self, program):
        """Builds pmusim, unit_model or diff with the changes; gives the path."""
        commands = {}
        for line in (BUILD / "mutants" / "programs").read_text(encoding="utf-8").splitlines():
            name, *command = shlex.split(line)
            commands[name] = command
        texts = self.sources()
        for name, text in texts.items():
            (self.home / name).parent.mkdir(parents=True, exist_ok=True)
            (self.home / name).write_text(text, encoding="utf-8")
        link, used = [], set()
        for word in commands[program]:
            source = word.removeprefix(f"{BUILD}/").removesuffix(".o")
            if word.endswith(".c.o") and touched(source, texts):
                self.compile(commands["compile"], source, texts)
                word = str(self.home / f"{source}.o")
                used.add(source)
            link.append(word)
        left = [name for name in texts if name.endswith(".c") and name not in used]
        if left or not used:
            raise Broken(f"{program} is not made of {', '.join(left or texts)}")
        target = self.home / program
        make(link + ["-o", str(target)])
        return target

    def compile(self, command, source, texts):
        made = self.home / f"{source}.o"
        made.parent.mkdir(parents=True, exist_ok=True)
        make(command[:1] + [f"-I{self.home}"] + command[1:] + ["-c", str(self.home / source if source in texts else source), "-o", str(made)])

    def remove(self):
        shutil.rmtree(self.home, ignore_errors=True)


def touched(source, texts):
    """Whether one of the changed files is the source, or a header that it includes."""
    if source in texts:
        return True
    headers = [name for name in texts if name.endswith(".h")]
    depends = BUILD / f"{source}.d"
    if not headers or not depends.exists():
        return False
    return any(name in depends.read_text(encoding="utf-8").split() for name in headers)


def make(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()
        raise Broken(f"does not build: {lines[0] if lines else command}")


def read(table):
    """The mutants of a table."""
    found = []
    path = HERE / f"{table}.txt"
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        mutant = found[-1] if found else None
        word, _, rest = line.partition(" ")
        if line.startswith("= "):
            found.append(Mutant(rest, table))
        elif word == "why" and mutant:
            mutant.why = f"{mutant.why} {rest}".strip()
        elif word == "@" and mutant:
            mutant.changes.append(Change(rest))
        elif line[:1] in ("-", "+", " ") and mutant and mutant.changes:
            mutant.changes[-1].lines.append(line)
        elif line.startswith("red experiments ") and mutant:
            mutant.profile, *mutant.experiments = line.split()[2:]
        elif line.startswith("red model ") and mutant:
            mutant.tests += line.split()[2:]
        elif line.startswith("red guest ") and mutant:
            mutant.tests.append(line.removeprefix("red guest "))
        elif line.startswith("red timing ") and mutant:
            mutant.tests.append(line.removeprefix("red ").replace(" ", ": ", 1))
        elif line == "red diff" and mutant:
            mutant.diff = True
        elif line and not line.startswith("#"):
            sys.exit(f"{path}:{number}: not a line of a mutant: {line}")
    return found


def everything():
    """All mutants, by name."""
    found = {}
    for table in TABLES:
        for mutant in read(table):
            if mutant.name in found or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", mutant.name):
                sys.exit(f"{HERE / table}.txt: '{mutant.name}': a name is words with - between, and there once")
            if not mutant.changes or not (mutant.experiments or mutant.tests or mutant.diff):
                sys.exit(f"{HERE / table}.txt: {mutant.name}: changes nothing or turns nothing red")
            found[mutant.name] = mutant
    return found


def main():
    known = everything()
    if sys.argv[1:] == ["--list"]:
        for mutant in known.values():
            print(f"{mutant.name:32} {mutant.why}")
        return
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    name = sys.argv[1]
    if name not in known:
        near = difflib.get_close_matches(name, known, 5, 0.4) or [other for other in known if any(w in other for w in name.split("-"))]
        print(f"mutant '{name}': there is none; near: {', '.join(near[:5]) or 'none'}; tests/mutants/mutants.py --list names all", file=sys.stderr)
        sys.exit(2)
    try:
        print(known[name].build("pmusim"))
    except Broken as why:
        print(f"mutant '{name}': {why}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
