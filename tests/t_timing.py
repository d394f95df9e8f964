#!/usr/bin/env python3
"""The rules of docs/simulator.md, "The timing model": a loop for each, and what it must cost by the rule.

Every field that a figure hangs on is set here, so that no profile's numbers come in. A loop is run for so many
instructions and for some rounds more: the difference is what a round costs once it has settled.

usage: tests/t_timing.py [PMUSIM]      another simulator, for tests/t_mutations.py
"""

import re
import sys

import harness
from harness import BUILD, done, equal, ok, run

PMUSIM = sys.argv[1] if len(sys.argv) > 1 else harness.PMUSIM

WIDTH = 4
MEMORY = 220
WORDS = {
    "uarch.retire_width": WIDTH,
    "uarch.window": 224,
    "uarch.fetch_bytes": 0,
    "uarch.misses": 0,
    "uarch.prefetch": 0,
    "uarch.lat_forward": 0,
    "uarch.lat_mul": 3,
    "uarch.memory_latency": MEMORY,
    "uarch.mispredict_penalty": 16,
    "cache.l1i": "0 0 0 0",
    "cache.l1d": "32768 8 64 4",
    "cache.l2": "0 0 0 0",
    "cache.llc": "0 0 0 0",
}
THREE_LEVELS = {"cache.l2": "262144 4 64 12", "cache.llc": "8388608 16 64 42"}
ROW = re.compile(r"^pmusim: +([\w -]+?) +(\d+) +(\d+)$", re.MULTILINE)
LEVEL_1 = ("retiring", "bad speculation", "front-end bound", "back-end bound")


def figures(loop, insns, words):
    """--stats of a run of so many instructions, as numbers by name."""
    sets = [part for key, value in {**WORDS, **words}.items() for part in ("--set", f"{key}={value}")]
    result = run(PMUSIM, "--memory", "256", "--max-insns", insns, "--stats", *sets, BUILD / "test" / "timing" / f"{loop}.elf")
    rows = {name: int(os_ring) + int(user_ring) for name, os_ring, user_ring in ROW.findall(result.err)}
    if rows.get("instructions") != insns:
        ok(False, f"{loop}: it runs", result)
        done()
    return rows


def rounds(loop, insns, n=1000, after=600000, **words):
    """What n rounds of so many instructions make of each figure, after some to settle."""
    words = {key.replace("__", "."): value for key, value in words.items()}
    first, second = figures(loop, after, words), figures(loop, after + n * insns, words)
    grown = {name: second[name] - first[name] for name in second}
    equal(sum(grown[name] for name in LEVEL_1), grown["slots"], f"{loop}: the four categories make the slots")
    return grown


def costs(loop, insns, cycles, name, n=1000, **words):
    """A round costs exactly so many cycles."""
    grown = rounds(loop, insns, n=n, **words)
    return equal(grown["slots"] / n / WIDTH, cycles, f"{loop}: {name}") and grown


# The window: chains, round loops and across blocks.
costs("multiply", 4, 2 * 3, "a chain of multiplications costs the latency of each")
costs("multiply", 4, 2 * 5, "... whatever that is", uarch__lat_mul=5)
costs("multiply", 4, 2 * 3, "... and however many may be in flight", uarch__window=16)
costs("multiply", 4, 1, "without a window a block knows nothing of the one before it", uarch__window=0)
costs("independent", 8, 8 / WIDTH, "independent instructions retire at the full width")

# Misses.
for chains, places in (1, 10), (2, 10), (4, 10), (8, 10), (1, 1), (2, 1), (4, 2), (8, 2), (8, 4), (8, 8), (8, 0):
    together = min(chains, places or chains)
    costs(
        f"chase{chains}", chains + 1, MEMORY * chains / together,
        f"{chains} chases with {places or 'any number of'} places cost the latency by {together}",
        uarch__misses=places,
    )
grown = costs("chase1", 2, MEMORY, "a chase's slots ...")
equal(grown and grown["back-end bound"], MEMORY * WIDTH * 1000 - 2000, "... are retiring's and the back end's alone")
ok(grown and grown["memory"] > 0.9 * grown["slots"], "... mostly memory's", grown)

# Two chases, 100 instructions from the one to the other: they meet in a window of more than that.
costs("apart2", 201, MEMORY, "within the window they overlap", uarch__window=224)
grown = rounds("apart2", 201, uarch__window=64)
ok(grown["slots"] / WIDTH / 1000 > 1.9 * MEMORY, "apart2: past it they do not", grown)

# The streamer.
PAGE = 64  # lines
PAGES = 200
for loop in "walk", "down":
    on = {**THREE_LEVELS, "uarch.misses": 10}
    ahead = rounds(loop, 4 * PAGE, n=PAGES, **on, **{"uarch.prefetch": 20})
    alone = rounds(loop, 4 * PAGE, n=PAGES, **on)
    before = rounds(loop, 4 * PAGE, n=PAGES, **THREE_LEVELS, **{"uarch.window": 0})
    equal(alone["LLC misses"], PAGE * PAGES, f"{loop}: without it each line is a miss of the last level")
    equal(ahead["LLC misses"], 2 * PAGES, f"{loop}: with it two of each page are")
    equal(ahead["L2 hits"], (PAGE - 2) * PAGES, f"{loop}: the others are found in L2")
    line = ahead["slots"] / WIDTH / PAGE / PAGES
    ok(MEMORY / 10 <= line < 1.25 * MEMORY / 10, f"{loop}: a line costs the latency by the places, or little more", line)
    line = before["slots"] / WIDTH / PAGE / PAGES
    ok(line > 0.95 * MEMORY, f"{loop}: without window and streamer, the latency", line)

# The front end.
grown = costs("bytes", 15, 128 / 16, "a loop of 128 bytes takes 8 cycles at 16 bytes each", uarch__fetch_bytes=16)
equal(grown and grown["front-end bound"], (128 // 16 * WIDTH - 15) * 1000, "bytes: what is not retiring is front-end bound")
costs("bytes", 15, 15 / WIDTH, "with no such limit it retires at the full width")
INTO_L1I = {"cache.l1i": "32768 8 64 4", **THREE_LEVELS}
grown = rounds("code", 1024, n=100, **INTO_L1I)
equal(grown["slots"], 100 * 1024 * (1 + (12 - 4) * WIDTH), "code: each line of 64 KiB comes from L2")
equal(grown["fetch latency"], 100 * 1024 * (12 - 4) * WIDTH, "code: which is fetch latency")
equal(grown["front-end bound"], grown["fetch latency"], "code: and so front-end bound")
grown = rounds("code", 1024, n=100, **{**INTO_L1I, "cache.l1i": "65536 16 64 4"})
equal(grown["slots"], 100 * 1024, "code: an instruction cache of 64 KiB holds it")

# CLFLUSH.
grown = costs("flush", 3, MEMORY, "a line that is flushed comes from memory", **THREE_LEVELS)
equal(grown and grown["LLC misses"], 1000, "flush: it had left every level")
grown = rounds("flushcode", 2, **INTO_L1I)
equal(grown["fetch latency"], 1000 * (MEMORY - 4) * WIDTH, "flushcode: and so does a line of instructions")

# Stores to loads.
costs("forward", 2, 5 + 1, "INC of memory costs the forwarding and the addition", uarch__lat_forward=5)
costs("forward", 2, 2 / WIDTH, "without forwarding its rounds know nothing of each other")
grown = rounds("moved", 4, uarch__lat_forward=5)
ok(grown["slots"] / 1000 / WIDTH < 5, "moved: another place has nothing to wait for", grown)

# Mispredictions.
grown = rounds("branches", 5, n=10000)
ok(grown["mispredicted"] > 1000, "branches: many are mispredicted", grown)
equal(grown["bad speculation"], grown["mispredicted"] * 16 * WIDTH, "branches: bad speculation is their penalties")
never = rounds("branches", 5, n=10000, uarch__mispredict_penalty=0)
ok(
    never["slots"] > 1.1 * 10000 * (3 + 1) * WIDTH,
    "branches: and what was begun ahead is lost: a round costs more than its chain", never,
)

done()
