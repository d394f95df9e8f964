#!/usr/bin/env python3
"""Linux' driver of AMD's IBS and branch records on zen4: found, and sampling what runs. With ALL=1, or by itself.

usage: t_linux_ibs.py [zen4]

What dmesg must say comes from Linux 6.1's arch/x86/events/amd/{core,lbr,ibs}.c, the shares from linux/shares.S.
"""

import os
import re
import sys

import harness
from harness import BUILD, ok, run

SECONDS = 900
SHARES = {"sixty": 60, "thirty": 30, "ten": 10}
NEAR = 7  # of some 500 samples: three times what chance makes of 60 in 100
SAID = (
    "Performance Events: Fam17h+ 16-deep LBR, core perfctr, AMD PMU driver.",
    "perf: AMD IBS detected (0x00000bff)",  # CPUID.8000001BH:EAX
    "LVT offset 0 assigned for vector 0x400",  # IbsCtl; an NMI
)
COMMANDS = {
    "dmesg": "dmesg",
    # Linux takes no more than 100,000 samples a second.
    "ops": "perf record -q -a -e ibs_op/cnt_ctl=1/ -c 200000 -o /tmp/o shares-long; "
    "perf report -i /tmp/o --stdio --stdio-color never -q --sort symbol",
    "fetches": "perf record -q -a -e ibs_fetch// -c 50000 -o /tmp/f shares-long; "
    "perf report -i /tmp/f --stdio --stdio-color never -q --sort symbol",
    "branches": "perf record -q -j any,u -e instructions:u -c 10007 -o /tmp/b known; perf script -i /tmp/b -F brstack",
}


def shares_of(text):
    """Of perf report, the shares of the three functions, of what they have together."""
    found = {name: float(share) for share, name in re.findall(r"([\d.]+)%\s+\[\.\] (sixty|thirty|ten)\b", text)}
    whole = sum(found.values())
    return {name: 100 * share / whole for name, share in found.items()}


if os.environ.get("ALL") != "1" and not sys.argv[1:]:
    harness.skip("zen4: IBS in Linux", "a boot of Linux: ALL=1")
    harness.done()
    sys.exit()

script = "".join(f"echo '== {name}'\n{command}\n" for name, command in COMMANDS.items())
words = {"O": str(BUILD), "PROFILE": "zen4", "CPUS": "1", "CMD": script, "CMDLINE": "", "ENGINE": "sim"}
result = run("scripts/linux", env=words, seconds=SECONDS)
parts = dict(part.split("\n", 1) for part in ("\n" + result.out.replace("\r", "")).split("\n== ")[1:])
ok(list(parts) == list(COMMANDS), "zen4: each command has run", result)
for line in SAID:
    ok(line in parts.get("dmesg", ""), f"zen4: dmesg says {line!r}")
for what in ("ops", "fetches"):
    got = shares_of(parts.get(what, ""))
    ok(
        got.keys() == SHARES.keys() and all(abs(got[name] - share) < NEAR for name, share in SHARES.items()),
        f"zen4: samples of {what} have the functions' shares",
        got or parts.get(what),
    )
pairs = re.findall(r"(0x[0-9a-f]+)/(0x[0-9a-f]+)/([PM])/", parts.get("branches", ""))
loops = [pair for pair in pairs if int(pair[0], 16) > int(pair[1], 16)]
stack = len(pairs) > 100 and len(loops) > len(pairs) * 0.9
ok(stack, "zen4: perf reads the stack of branch records: a loop's", pairs[:5])
predicted = sum(pair[2] == "P" for pair in pairs)
ok(predicted > len(pairs) * 0.9, "zen4: they are predicted", predicted)
harness.done()
