#!/usr/bin/env python3
"""The interpreter against the host's own processor: a million generated sequences, tests/diff.

DIFF_SEED=N in the environment runs other sequences than the usual ones; a difference names the seed, and
`build/test/diff --seed N --first M --count 1` shows it again.
"""

import os
import sys

import harness

DIFF = harness.BUILD / "test" / "diff"

if os.uname().machine != "x86_64":
    harness.skip("the interpreter against this processor", f"this is {os.uname().machine}")
    harness.done()
seed = os.environ.get("DIFF_SEED")
sys.stdout.flush()
os.execv(DIFF, [str(DIFF)] + (["--seed", seed] if seed else []))
