#!/usr/bin/env python3
"""Every lab sheet has the form that lab/experiment.h describes: a line with its number and title, the names of the
checks, their words by these names, the struct, and only then the comment and the code. Whether all checks are made, and
in that order, the runner sees; a name without words only the sources show."""

import pathlib
import re

from harness import ALL, done, equal, ok

TITLE = re.compile(r"/\* Experiment (\d+-\d+) · (.*?)\. ?\*/", re.DOTALL)
ENUM = re.compile(r"^enum \{(.*?)\};", re.MULTILINE | re.DOTALL)
WORDS = re.compile(r"^static const char \*const checks\[\] = \{\n(.*?)^\};", re.MULTILINE | re.DOTALL)
STRUCT = re.compile(r"^const struct experiment ex(\d+)_(\d+) = \{\n(.*?)^\};", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"^/\*$", re.MULTILINE)
BY_PLACE = re.compile(r'^ {4}"', re.MULTILINE)


def field(struct, name):
    found = re.search(rf"\.{name} = \"(.*)\"", struct)
    return found[1] if found else None


def look_at(sheet):
    text = sheet.read_text(encoding="utf-8")
    title, enum, words, struct = TITLE.match(text), ENUM.search(text), WORDS.search(text), STRUCT.search(text)
    if not ok(title and enum and words and struct, f"{sheet}: title line, names, words and struct are there"):
        return
    number = f"{struct[1]}-{struct[2]}"
    equal(
        [sheet.name, title[1], field(struct[3], "id")],
        [f"ex{struct[1]}_{struct[2]}.c", number, number],
        f"{sheet}: file, first line, struct and id have one number",
    )
    if sheet.parent.name != "self":
        page = pathlib.Path(f"docs/experiments/{number}.md").read_text(encoding="utf-8").splitlines()[0]
        equal(
            [title[2], page],
            [field(struct[3], "title"), f"# {number} {field(struct[3], 'title')}"],
            f"{sheet}: the first line and the page have its title",
        )

    comment = COMMENT.search(text)
    order = [part.start() if part else -1 for part in (title, enum, words, struct, comment)]
    equal(order, sorted(order), f"{sheet}: title, names, words, struct, comment, in this order")

    names = re.findall(r"\w+", enum[1])
    by_name = re.findall(r"^\s*\[(.*?)\] =", words[1], re.MULTILINE)
    plain = [name for name in by_name if "+" not in name]  # [NAME + n]: the same check once more
    # One name more may stand at the end: how many there are, for a table beside the words.
    ok(
        plain and names[: len(plain)] == plain and len(names) <= len(plain) + 1,
        f"{sheet}: each check has a name and words, in one order",
        f"names: {names}\nwords: {plain}",
    )
    ok(not BY_PLACE.search(words[1]), f"{sheet}: no words by their place alone", words[1])


sheets = sorted(pathlib.Path("experiments").glob("*/*.c"))
ok(sheets, "there are lab sheets")
for sheet in sheets:
    look_at(sheet)
numbers = [tuple(map(int, number.split("-"))) for number in ALL]
equal(numbers, sorted(set(numbers)), "runner/registry.c has them in the order of their numbers, each once")
done()
