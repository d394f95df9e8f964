#!/usr/bin/env python3
"""The reader of TAP that the other tests trust: what is valid, and what is not."""

import harness
from harness import equal, ok
from tapcheck import parse

GOOD = """TAP version 14
# a comment
1..3
# ex15-3 PMI on overflow
ok 1 - ex15-3 one PMI
  ---
  pmis: 1
  status: 0x1
  ...
not ok 2 - ex15-3 the LVT entry is masked
ok 3 - ex15-5 PEBS record written # SKIP no PEBS: IA32_MISC_ENABLE[12] = 1
"""
tap = parse(GOOD)
equal(tap.errors, [], "a good stream is good")
equal([p.text for p in tap.failures], ["ex15-3 the LVT entry is masked"], "the failure is found")
equal([p.skip for p in tap.skips], ["no PEBS: IA32_MISC_ENABLE[12] = 1"], "the skip's reason is found")
equal(tap.points[0].yaml, {"pmis": "1", "status": "0x1"}, "the YAML block is read")
equal(tap.experiments(), ["15-3", "15-5"], "the experiments are told apart")
late = GOOD.replace("1..3\n", "") + "1..3\n# the end\n"
equal(parse(late).errors, [], "the plan may stand at the end")
ok(not parse("TAP version 14\nBail out! pmi=maybe: pmi takes fixed or nmi\n").errors, "Bail out! is good")

BAD = {
    "no version": GOOD.replace("TAP version 14\n", ""),
    "another version": GOOD.replace("14", "13", 1),
    "something before the version": "\n" + GOOD,
    "no plan": GOOD.replace("1..3\n", ""),
    "a plan of more": GOOD.replace("1..3", "1..4"),
    "a plan of less": GOOD.replace("1..3", "1..2"),
    "a plan in the middle": GOOD.replace("1..3\n", "").replace("ok 3", "1..3\nok 3"),
    "two plans": GOOD.replace("1..3\n", "1..3\n1..3\n"),
    "a wrong number": GOOD.replace("not ok 2", "not ok 7"),
    "no number": GOOD.replace("not ok 2", "not ok"),
    "no description": GOOD.replace(" - ex15-3 one PMI", ""),
    "a skip without a reason": GOOD.replace("SKIP no PEBS: IA32_MISC_ENABLE[12] = 1", "SKIP"),
    "a skip that is not ok": GOOD.replace("ok 3", "not ok 3"),
    "a hash in a description": GOOD.replace("masked\n", "masked # see above\n"),
    "YAML not indented": GOOD.replace("  pmis: 1", "pmis: 1"),
    "YAML too deep": GOOD.replace("  pmis: 1", "    pmis: 1"),
    "YAML never ended": GOOD.replace("  ...\n", ""),
    "YAML without a point": GOOD.replace("# ex15-3 PMI on overflow\n", "  ---\n  a: 1\n  ...\n"),
    "the same key twice": GOOD.replace("status: 0x1", "pmis: 2"),
    "something else": GOOD.replace("# a comment", "a comment"),
    "a line cut off": GOOD.rstrip("\n"),
    "a carriage return": GOOD.replace("# a comment\n", "# a comment\r\n"),
    "a point after bailing out": "TAP version 14\nBail out! no\nok 1 - x\n",
}
for what, text in BAD.items():
    ok(parse(text).errors, f"{what} is an error")

harness.done()
