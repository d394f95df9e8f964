#!/usr/bin/env python3
"""QEMU with KVM: features that the host refuses are dropped and named, and nothing waits for ever.

A stand-in for QEMU plays the hosts; then, where /dev/kvm works, the real one.
"""

import os
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader

import harness
from harness import ALL, SCRATCH, check_clean, equal, ok, run, skip

SECONDS = 90  # for each run of the real one: a nested KVM can be far slower than that, which is no fault of ours

STAND_IN = r"""#!/bin/sh
cpu= hangs=HANGS
echo run >>COUNT
while [ $# -gt 0 ]; do
    [ "$1" != -cpu ] || cpu=$2
    shift
done
refuse() {
    echo "qemu-system-x86_64: error: failed to set MSR $1 to 0x69" >&2
    echo "qemu-system-x86_64: kvm.c:3183: kvm_buf_set_msrs: Assertion failed." >&2
    exit 134
}
for pair in REFUSED; do
    case $cpu in
    *"${pair#*=}"*) ;;
    *) refuse "${pair%%=*}" ;;
    esac
done
[ -z "$hangs" ] || exec sleep 60
[ -z "COMPLAINT" ] || { echo "COMPLAINT" >&2; exit 1; }
printf 'TAP version 14\r\n1..1\r\nok 1 - all\r\n'
exit 33
"""

bin_dir = SCRATCH / "kvm-bin"
bin_dir.mkdir(parents=True, exist_ok=True)
count = bin_dir / "count"


def boot(refused="", hangs="", complaint="", seconds=10):
    """scripts/qemu with the stand-in; gives the result and how often it was started."""
    text = STAND_IN.replace("REFUSED", refused).replace("HANGS", hangs).replace("COUNT", str(count.absolute()))
    qemu = bin_dir / "qemu-system-x86_64"
    qemu.write_text(text.replace("COMPLAINT", complaint), encoding="utf-8")
    qemu.chmod(0o755)
    count.write_text("", encoding="utf-8")
    path = f"{bin_dir.absolute()}:{os.environ['PATH']}"
    result = run("scripts/qemu", "no.iso", "accel=kvm", f"seconds={seconds}", env={"PATH": path})
    return result, count.read_text(encoding="utf-8").count("run")


result, started = boot()
ok(result.status == 0 and started == 1 and not result.err, "a host that refuses nothing: one start", result)
result, started = boot("0x10a=-arch-capabilities 0x48e=-vmx 0x345=-pdcm")
named = all(f"MSR {msr}: going on with -{word}" in result.err for msr, word in
            [("0x10a", "arch-capabilities"), ("0x48e", "vmx"), ("0x345", "pdcm")])  # fmt: skip
ok(result.status == 0 and started == 4 and named, "three refused features are dropped and named", result)
ok(not result.tap.errors, "and nothing but TAP is on stdout", result)
result, started = boot("0x38d=pmu=off")
ok(result.status == 0 and "going on with pmu=off" in result.err, "the PMU's own MSRs: without a PMU", result)
result, started = boot("0x999=never")
ok(result.status == 3 and started == 1 and "MSR 0x999" in result.err, "an MSR of no feature: QEMU's message", result)
result, started = boot("0x10a=never")
ok(result.status == 3 and started == 2, "a refusal that does not go away ends it", result)
result, started = boot(complaint="Could not access KVM kernel module: Permission denied")
ok(result.status == 3 and started == 1 and "Permission denied" in result.err, "no access: QEMU's message", result)
result, started = boot(hangs="yes", seconds=2)
ok(result.status == 124 and "not done after 2 s" in result.err, "a guest that hangs", result)
result = run("scripts/run", env={"ENGINE": "tcg", "LIMIT": "soon"})
ok(result.status == 2 and "LIMIT" in result.err, "a wrong LIMIT is named", result)

# What KVM shows of its hosts' PMUs, and what the probe makes of it: leaf 0's vendor in EBX, EDX, ECX.
loader = SourceFileLoader("kvm_pmu", "scripts/kvm-pmu")
probe = module_from_spec(spec_from_loader(loader.name, loader))
loader.exec_module(probe)
INTEL = {0: (0x16, 0x756E6547, 0x6C65746E, 0x49656E69)}
AMD = {0: (0x10, 0x68747541, 0x444D4163, 0x69746E65)}
HYGON = {0: (0x0D, 0x6F677948, 0x656E6975, 0x6E65476E)}
CORE = {0x80000001: (0, 0, 1 << 23, 0)}
for host, leaves, off, there, words in [
    ("Intel", {**INTEL, 0x0A: (0x07300404, 0, 0, 0x603)}, False, True, "perfmon v4, 4 general counters"),
    ("Intel without one", {**INTEL, 0x0A: (0, 0, 0, 0)}, False, False, "leaf 0AH"),
    ("Zen 4", {**AMD, **CORE, 0x80000022: (1, 6, 0, 0)}, False, True, "AMD PerfMonV2, 6 core counters"),
    ("Zen 2", {**AMD, **CORE}, False, True, "AMD's 6 core counters"),
    ("Hygon", {**HYGON, **CORE}, False, True, "AMD's 6 core counters"),
    ("K10", {**AMD, 0x80000001: (0, 0, 0, 0)}, False, True, "AMD's 4 counters of old"),
    ("Zen 4 with enable_pmu=0", {**AMD, **CORE, 0x80000022: (1, 6, 0, 0)}, True, False, "enable_pmu says no"),
]:
    said = probe.offered(leaves, off)
    ok(said[0] == there and words in said[1], f"scripts/kvm-pmu knows the host: {host}", said)


def real(experiments, words=""):
    environment = {"ENGINE": "kvm", "CPUS": "2", "EX": experiments, "CMDLINE": words, "LIMIT": str(SECONDS)}
    return run("scripts/run", env=environment, seconds=SECONDS + 40)


def finished(result, name):
    """Whether it came to its end; one that KVM is too slow for, or cannot start, is told in a line."""
    ok(result.seconds < SECONDS + 30, f"{name}: it ends within {SECONDS} s", result)
    if result.status in (0, 1):
        return True
    skip(name, f"exit {result.status}: {(result.err.strip().splitlines() or ['no word'])[-1]}")
    return False


# A jump to nowhere, a stack overflow, a loop without an end.
SELF_TESTS = {"0-2": "#PF at 0x0: ", "0-3": "#DF at ", "0-4": "watchdog: "}
if not os.access("/dev/kvm", os.R_OK | os.W_OK):
    skip("the real KVM", "/dev/kvm is not there or not ours")
else:
    result = real("")
    ok("engine: qemu -accel kvm" in result.err, "it says that KVM is asked for, and whether there is a PMU", result)
    if finished(result, "all experiments in KVM"):
        check_clean(result, "all experiments in KVM", ALL, skips=True)
        ok("# 2 of 2 processors run" in result.out, "all experiments in KVM: both processors run", result)
        ok('\n# hypervisor "KVMKVMKVM" (CPUID.40000000H)\n' in result.out, "all experiments in KVM: its name", result)
        result = real(",".join(SELF_TESTS), "selftest watchdog=1000")
        if finished(result, "what breaks on purpose in KVM"):
            reasons = [point.yaml.get("reason", "") for point in result.tap.points]
            told = len(reasons) == len(SELF_TESTS) and all(map(str.__contains__, reasons, SELF_TESTS.values()))
            ok(told, "what breaks on purpose is caught, and each cause is told", result)
            equal((result.status, result.tap.errors), (1, []), "it ends as a run with failures does")
harness.done()
