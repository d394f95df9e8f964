#!/usr/bin/env python3
"""Runs the tests: every executable tests/t_* and every unit test named on the command line.

usage: run.py [NAME ...]         NAME: only the tests whose file name contains it

A line for each test, its output kept in build/test/NAME.log and shown when it fails. The last line is
"N passed, N failed", where a test's checks (its TAP test points) are counted, not its files; a file that
breaks off, or ends with another status than its points say, is one failure more.
"""

import concurrent.futures
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

TESTS = pathlib.Path(__file__).parent
BUILD = pathlib.Path(os.environ.get("O", "build"))
LOGS = BUILD / "test"
# For one test file; each sets shorter limits on what it starts.
SECONDS = 3600 if os.environ.get("ALL") == "1" else 400
WORKERS = 3  # on two processors: a quarter of the time a test waits for a screen, a key or a clock
SHOWN = 120  # lines of a failed test's log

POINT = re.compile(r"(not )?ok\b(?:.*# (SKIP.*))?")
PLAN = re.compile(r"1\.\.(\d+)")


def run(test):
    """Runs one test file; gives (name, passed, failed, skip reasons, what went wrong, seconds, log)."""
    name = test.stem
    log = LOGS / f"{name}.log"
    start = time.monotonic()
    with log.open("w", encoding="utf-8", errors="replace") as out:
        # A session of its own, so that whatever the test leaves behind can be ended with it.
        with subprocess.Popen(
            [str(test)],
            stdout=out,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            env={**os.environ, "CMOCKA_MESSAGE_OUTPUT": "TAP"},
        ) as process:
            try:
                status = process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                status = None
    passed = failed = 0
    plan = None
    skips = []
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
        if match := PLAN.match(line):
            plan = (plan or 0) + int(match[1])  # a unit test may run several groups
        elif match := POINT.match(line):
            failed += bool(match[1])
            passed += not match[1] and not match[2]
            if match[2]:
                skips.append(line.split(" - ", 1)[-1])
    wrong = None
    if status is None:
        wrong = f"not done after {SECONDS} s"
    elif plan != passed + failed + len(skips):
        wrong = f"planned {plan} checks, made {passed + failed + len(skips)}, exit status {status}"
    elif (status != 0) != (failed != 0):
        wrong = f"exit status {status}, but {failed} checks failed"
    if wrong:
        failed += 1
    return name, passed, failed, skips, wrong, time.monotonic() - start, log


def main():
    tests = sorted(path for path in TESTS.glob("t_*") if os.access(path, os.X_OK))
    tests += sorted(path for path in (LOGS / "unit").glob("unit_*") if os.access(path, os.X_OK) and not path.suffix)
    if sys.argv[1:]:
        tests = [test for test in tests if any(word in test.name for word in sys.argv[1:])]
    LOGS.mkdir(parents=True, exist_ok=True)
    all_passed = all_failed = 0
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        for future in concurrent.futures.as_completed([pool.submit(run, test) for test in tests]):
            name, passed, failed, skips, wrong, seconds, log = future.result()
            all_passed += passed
            all_failed += failed
            skipped = f", {len(skips)} skipped" if skips else ""
            verdict = "FAIL" if failed else "ok"
            print(f"{verdict:4} {name}: {passed} passed, {failed} failed{skipped} ({seconds:.1f} s)")
            for reason in skips:
                print(f"       skipped: {reason}")
            if failed:
                print(f"       {wrong or 'see'} {log}")
                lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
                for line in [line for line in lines if not line.startswith("ok ")][-SHOWN:]:
                    print(f"       | {line[:200]}")
            sys.stdout.flush()
    print(f"{all_passed} passed, {all_failed} failed")
    sys.exit(0 if all_passed and not all_failed else 1)


main()
