#!/usr/bin/env python3
"""Other processors are started, take work and interrupts of their own; ring 3 and high addresses hold.

The experiments 0-5 to 0-9 try what 18-15 and the branch experiments stand on, and break on purpose at their end.
QEMU boots the same by SeaBIOS and by OVMF, with 64 MiB, on 1, 2, 4 and, more than there are places for, 10 processors.
"""

import harness
from harness import SCRATCH, check_clean, equal, ok, run, sim

PROFILES = ["core2", "westmere", "sandybridge", "haswell", "skylake", "icelake", "alderlake"]
BREAKERS = {  # number: the description of the one check that fails
    "0-5": "HLT in ring 3",
    "0-7": "an endless loop in ring 3",
    "0-8": "a fault on processor 1",
    "0-9": "the watchdog ends the wait for processor 1",
}
FASTER = ["0-5", "0-8"]  # those that do not wait for the watchdog
SELFTEST = "selftest watchdog=20 run=" + ",".join(BREAKERS)


def cpus(n):
    """The simulator's option."""
    return ["--cpus", str(n)]


def check_breakers(result, name, numbers):
    """Each fails where it should and nowhere else."""
    tap = result.tap
    ok(not tap.errors and tap.bail_out is None, f"{name}: valid TAP", f"{tap.errors}\n{result}")
    equal(result.status, 1, f"{name}: exit 1")
    wanted = [f"ex{number} {BREAKERS[number]}" for number in numbers]
    ok(
        [point.text for point in tap.failures] == wanted,
        f"{name}: what breaks on purpose is not ok, the rest is",
        f"wanted: {wanted}\n{result}",
    )


for profile in PROFILES:
    result = sim("run=18-15", profile=profile, more=cpus(2))
    check_clean(result, f"{profile}, 2 processors", ["18-15"])
    ok("# 2 of 2 processors run, local APIC IDs 0, 1" in result.out, f"{profile}: both are named", result)
for words in ("pmi=nmi", "apic=xapic", "apic=x2apic"):
    check_clean(sim(f"run=18-15 {words}", more=cpus(4)), f"4 processors, {words}", ["18-15"])
check_clean(sim("run=18-15", profile="merom", more=cpus(2)), "perfmon v1", ["18-15"], skips=True)

alone = sim("run=18-15")
tap = check_clean(alone, "1 processor", ["18-15"], skips=True)
equal({point.skip for point in tap.points}, {"one processor in the MADT"}, "1 processor: each skip says what says so")

everything = sim(more=cpus(2))
tap = check_clean(everything, "everything on 2 processors", skips=True)
ok("18-15" in tap.experiments(), "everything on 2 processors: with 18-15")

for n in (1, 2, 8):
    result = sim(SELFTEST, more=cpus(n))
    check_breakers(result, f"{n} processors, what breaks", list(BREAKERS) if n > 1 else ["0-5", "0-7"])
result = sim(SELFTEST + ",18-15 pmi=nmi apic=xapic", more=cpus(2))
check_breakers(result, "pmi=nmi apic=xapic, what breaks", list(BREAKERS))
equal(
    [p.text for p in result.tap.of("18-15") if p.failed or p.skip], [], "18-15 holds after what breaks on the others"
)
for line in ("0x0000008000000000 user_halt+0x0", "processor 1: #UD at ", "fault+0x0", "hang+0x"):
    ok(line in result.out, f"the reports name {line.strip()}", result)

result = sim("run=18-15", more=[*cpus(4), "--fault", "no-cpu=2"])
check_clean(result, "a processor that does not come", ["18-15"])
ok(
    "# 3 of 4 processors run, local APIC IDs 0, 1, 3" in result.out
    and "# the processor with local APIC ID 2 stays asleep: it did not answer to two startup IPIs" in result.out,
    "the one that does not come is named",
    result,
)
result = sim("run=18-15", more=[*cpus(2), "--fault", "no-cpu=1"])
tap = check_clean(result, "the only other one does not come", ["18-15"], skips=True)
equal({p.skip for p in tap.points}, {"no other processor of the MADT started"}, "it is a skip that says so")

for name, words in (("quick", FASTER), ("all", BREAKERS)):
    # The host's other work takes time from QEMU: the watchdog is patient.
    words = f"selftest watchdog={5000 if name == 'quick' else 1000} run={','.join(words)}"
    made = run("scripts/iso", SCRATCH / f"smp-{name}.iso", words, seconds=60)
    ok(made.status == 0, f"the image is made: {words}", made)
for firmware, n in [("bios", 1), ("bios", 2), ("bios", 4), ("bios", 10), ("uefi", 4)]:
    complete = (firmware, n) == ("bios", 4)
    image = SCRATCH / ("smp-all.iso" if complete else "smp-quick.iso")
    result = run(
        "scripts/qemu", image, f"firmware={firmware}", f"cpus={n}", "memory=64M", "seconds=60", seconds=90
    )
    result.out = result.out[max(result.out.rfind("TAP version 14"), 0) :]  # the firmware prints too
    name = f"QEMU, {firmware}, {n} processors, 64 MiB"
    check_breakers(result, name, list(BREAKERS) if complete else FASTER if n > 1 else ["0-5"])
    if n > 1:
        started = min(n, 8)
        ids = ", ".join(str(i) for i in range(started))
        ok(f"# {started} of {n} processors run, local APIC IDs {ids}" in result.out, f"{name}: they run", result)
    if n > 8:
        ok("# the processor with local APIC ID 9 stays asleep" in result.out, f"{name}: the rest is named", result)

harness.done()
