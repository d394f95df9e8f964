#!/usr/bin/env python3
"""make and the scripts as a person uses them: words that are wrong, a run that is killed, two at once, the terminal."""

import os
import pathlib
import pty
import select
import shutil
import signal
import subprocess
import tempfile
import time

import harness
from harness import BUILD, equal, ok, run


def make(*words, seconds=120):
    return run("make", "-s", f"O={BUILD}", *words, seconds=seconds)


# ---- Words ----

for words, named, right in [
    (["run", "MUTAT=freeze-nothing"], "MUTAT=", "MUTATE="),
    (["run", "EX=15-1", "PROFILES=kvm"], "PROFILES=", "PROFILE="),
    (["run", "EX=15"], "EX=15:", "EX=15-*"),
    (["run", "EX=15-1", "CPUS=9", "ENGINE=sim"], "CPUS=9", "1 to 8"),
    (["run", "EX=15-1", "PROFILE=./no/such"], "./no/such", "no such file"),
    (["run", "EX=15-1", "CMDLINE=console=vga", "ENGINE=sim"], "console=vga", "console=serial,vga"),
    (["run", "CMDLINE=menu=0", "ENGINE=sim"], "menu=0", "terminal"),
    (["run", "EX=15-1", "MUTATE=freeze-nothin"], "freeze-nothin", "freeze-nothing"),
]:
    result = make(*words)
    ok(result.status == 2 and not result.out, f"make {' '.join(words)}: refused, nothing is run", result)
    ok(named in result.err and right in result.err, "  it names the word and what is right", result)

with tempfile.TemporaryDirectory() as folder:
    mine = pathlib.Path(folder) / "mine.profile"
    shutil.copy("sim/profiles/westmere.profile", mine)
    result = make("run", "EX=15-1", f"PROFILE={mine}", "ENGINE=sim")
    ok(result.status == 0 and "i5 CPU" in result.out, "PROFILE= takes a file", result)

result = run("make", "-s", "O=/proc/none", "run", "EX=15-1")
ok(result.status == 2 and "O=/tmp/" in result.err, "a folder that cannot be written: the hint at O=", result)
listed = run("make", "help").out
ok(all(f"make {word} " in listed for word in ("run", "test", "bench", "fuzz")), "make help has bench and fuzz", listed)

# ---- Exit statuses that scripts/run keeps apart ----

for words, wanted in [
    ({"EX": "15-1"}, 0),
    ({"CMDLINE": "run=0-1 selftest"}, 1),
    ({"EX": "15_1"}, 2),
]:
    result = run("scripts/run", env={"ENGINE": "sim", "O": str(BUILD), **words})
    equal(result.status, wanted, f"scripts/run {words}: exit {wanted}")

# ---- An endless loop: the kernel's watchdog waits 5 seconds of the machine's time, a person does not wait minutes ----

looped = [run("scripts/run", env={"ENGINE": "sim", "O": str(BUILD), "CMDLINE": "run=0-4 selftest"}, seconds=100) for _ in range(2)]
ok(looped[0].status == 1 and "took longer than 5000 ms" in looped[0].out, "an endless loop: the watchdog strikes", looped[0])
ok("--patience" in looped[0].err, "and it is said whose patience ended", looped[0])
equal(looped[1].out, looped[0].out, "the same each time")

# ---- Scripts that are asked wrongly ----

for command in (["scripts/bench"], ["scripts/check-report"], ["scripts/run"], ["scripts/qemu"]):
    result = run(*command, "--help")
    ok(result.status == 0 and "Traceback" not in result.err and result.out, f"{command[0]} --help", result)
result = run("scripts/bench", "often")
ok(result.status == 2 and "often" in result.err and "Traceback" not in result.err, "scripts/bench often", result)
result = run("scripts/check-report", "/no/such/file")
ok(result.status == 2 and "/no/such/file" in result.err and "Traceback" not in result.err, "scripts/check-report of no file", result)

# ---- Killed ----


def processes(word):
    """The processes whose command line has the word."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if any(word.encode() in one for one in words) and int(entry.name) != os.getpid():
            found.append(int(entry.name))
    return found


def wait_until(condition, seconds):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.1)
    return condition()


def kill_a_run(how, group, *words):
    """Starts make run, kills it when its machine runs. Gives what is left: processes, temporary files."""
    with tempfile.TemporaryDirectory() as scratch:
        rest = f"selftest watchdog={30000 + 2 * how + group}"  # milliseconds of the machine's; no two runs alike
        mark = f"run=0-4 {rest}"  # in the guest's command line alone
        with subprocess.Popen(
            ["make", "-s", f"O={BUILD}", "run", "EX=0-4", f"CMDLINE={rest}", *words], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, start_new_session=True, env={**os.environ, "TMPDIR": scratch},
        ) as child:  # fmt: skip
            ok(wait_until(lambda: processes(mark), 60), f"{words}: the machine runs")
            time.sleep(1)
            ok(processes(mark), f"{words}: and goes on running")
            (os.killpg if group else os.kill)(child.pid, how)
            try:
                child.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
        gone = wait_until(lambda: not processes(mark), 10)
        left = processes(mark)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        return gone, os.listdir(scratch)


for how, group in [(signal.SIGTERM, False), (signal.SIGINT, True), (signal.SIGHUP, True), (signal.SIGKILL, False)]:
    gone, left = kill_a_run(how, group, "ENGINE=sim")
    ok(gone and not left, f"make run killed by {how.name}{' (its group)' if group else ''}: pmusim is gone, no file is left", left)
gone, left = kill_a_run(signal.SIGTERM, False, "ENGINE=tcg")
ok(gone and not left, "the same with QEMU, SIGTERM", left)

# ---- Three at once in a fresh clone ----

with tempfile.TemporaryDirectory() as folder:
    subprocess.run(["git", "clone", "-q", ".", folder], check=True)
    runs = [
        subprocess.Popen(["make", "-s", "run", "EX=15-1", "ENGINE=sim"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         stdin=subprocess.DEVNULL, env={key: value for key, value in os.environ.items() if key not in ("O", "MAKEFLAGS", "MAKELEVEL")})
        for _ in range(3)
    ]  # fmt: skip
    outputs = [one.communicate(timeout=300)[0].decode() for one in runs]
    equal([one.returncode for one in runs], [0, 0, 0], "three make run at once in a fresh clone")
    ok(all("15-1 ok" in out for out in outputs), "each with its run", "\n".join(outputs))

# ---- The terminal ----


def on_a_terminal(command, keys, seconds=60):
    """Runs it on a terminal of its own; types a key when the text before it has come. Gives status and output."""
    pid, master = pty.fork()
    if pid == 0:
        os.execvp(command[0], command)
    seen, sent, end = "", 0, time.monotonic() + seconds
    status = None
    while time.monotonic() < end:
        if sent < len(keys) and keys[sent][0] in seen:
            os.write(master, keys[sent][1].encode())
            seen = seen + f"<{sent}>"
            sent += 1
        if select.select([master], [], [], 0.2)[0]:
            try:
                seen += os.read(master, 65536).decode(errors="replace")
            except OSError:  # the other end is closed
                break
    else:
        os.kill(pid, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(master)
    return status, seen


status, seen = on_a_terminal(
    ["make", "-s", f"O={BUILD}", "run", "ENGINE=sim", "CMDLINE=menu=0"], [("earlier output", "15-1\r"), ("a fixed counter reads back", "q")]
)
ok(status == 0 and "ex15-1" in seen, "make run CMDLINE=menu=0 takes the keys of the terminal", f"{status}\n{seen[-3000:]}")

harness.done()
