#!/usr/bin/env python3
"""The fuzzers of tests/fuzz: each known input, then some seconds of new ones.

FUZZ_SECONDS=N in the environment (make fuzz SECONDS=N) gives each fuzzer that long, and another seed each time;
without it they run for a few seconds with the same seed. What a fuzzer adds to its corpus is kept in
build/fuzz/found/NAME, an input that breaks something in build/fuzz/broken/: it belongs into tests/fuzz/corpus/NAME
once it is mended.
"""

import os
import pathlib
import re

import harness
from harness import BUILD, ok, run

SHORT = 4
MAX_BYTES = 8192
FUZZ = BUILD / "fuzz"
CORPUS = pathlib.Path("tests/fuzz/corpus")
NAMES = sorted(path.stem.removeprefix("fuzz_") for path in pathlib.Path("tests/fuzz").glob("fuzz_*.c"))

seconds = int(os.environ.get("FUZZ_SECONDS", SHORT))
seed = 0 if "FUZZ_SECONDS" in os.environ else 1  # libFuzzer takes 0 for a random one
broken = FUZZ / "broken"
broken.mkdir(parents=True, exist_ok=True)
ok(NAMES, "there are fuzzers")
for name in NAMES:
    seeds = sorted((CORPUS / name).iterdir())
    fuzzer = FUZZ / f"fuzz_{name}"
    env = {"UBSAN_OPTIONS": "print_stacktrace=1"}
    known = run(fuzzer, "-timeout=10", "-close_fd_mask=1", *seeds, seconds=60, env=env)
    ok(seeds and known.status == 0, f"{name}: the {len(seeds)} known inputs", known)
    found = FUZZ / "found" / name
    found.mkdir(parents=True, exist_ok=True)
    result = run(
        fuzzer,
        f"-seed={seed}",
        f"-max_total_time={seconds}",
        f"-max_len={MAX_BYTES}",
        "-timeout=10",
        "-close_fd_mask=1",
        "-print_final_stats=1",
        f"-artifact_prefix={broken}/{name}-",
        found,
        CORPUS / name,
        seconds=seconds + 60,
        env=env,
    )
    runs = re.search(r"number_of_executed_units: (\d+)", result.err)
    ok(
        result.status == 0 and runs and int(runs[1]) > len(seeds),
        f"{name}: {runs[1] if runs else 'no'} inputs in {seconds} s",
        result,
    )
harness.done()
