#!/usr/bin/env python3
"""Debian's Linux and its perf on the simulator: they find each profile's PMU, and count and sample as they should.

usage: t_linux.py [PROFILE ...]

What dmesg must say comes from Linux's source (linux_facts.py), what perf must report from the listings of the programs
it looks at (linux/*.S). One boot a profile runs all. By itself: skylake; with ALL=1: every profile.
"""

import concurrent.futures
import math
import os
import pathlib
import re
import sys

import harness
from harness import BUILD, SCRATCH, equal, ok, run
from linux_facts import FACTS, TOOLS, in_order, report_of

WHOLE = bool(os.environ.get("ALL"))
PROFILES = sys.argv[1:] or (sorted(FACTS) if WHOLE else ["skylake"])
SECONDS = 1800  # of a boot with its list, on a machine that others use too

# What dmesg must not say. "disabled" only of what is measured here, and beside the lines that linux_facts allows.
BAD = re.compile(
    r"broken|firmware bug|unchecked MSR|\bhung\b|soft lockup|hard LOCKUP|(?-i:WARNING:)|Call Trace|\bBUG:|Oops|Uhhuh"
    r"|\bstall|(PMU|PEBS|LBR|BTS|perf|NMI|TSC|tsc|APIC|FPU).*disabled|took too long", re.IGNORECASE)  # fmt: skip
# Of Linux's own doing on every machine: the first is the default without its option, the second said in passing.
HARMLESS = re.compile(r"apparmor|debug_pagealloc", re.IGNORECASE)

# What thousands of samples a second, and switching the limit of them off, make it say on any machine.
AFTERWARDS = re.compile(HARMLESS.pattern + r"|^perf: (interrupt took too long|Dynamic interrupt throttling disabled)")

SECTION = "== "
SECTION_TMA = "-- "  # within a part


def constant(program, name):
    """The value of a macro of linux/PROGRAM.S, whose text may name macros before it."""
    values = {}
    for found in re.finditer(r"^#define (\w+) +(.*)$", pathlib.Path(f"linux/{program}.S").read_text("utf-8"), re.M):
        text = re.sub(r"/\*.*", "", found[2])
        text = re.sub(r"[A-Z]\w*", lambda word: str(values.get(word[0], word[0])), text)
        if re.fullmatch(r"[0-9+*() -]+", text):
            values[found[1]] = eval(text)  # pylint: disable=eval-used # digits and signs alone
    return values[name]


class Part:
    """A part of what CMD printed: its lines."""

    def __init__(self, lines):
        self.lines = lines

    def __str__(self):
        return "\n".join(self.lines)

    def counts(self):
        """Of perf stat -x, each event's count by name; None: not counted, or not supported. Several kinds of core
        are added up."""
        counts = {}
        for line in self.lines:
            words = line.split(",")
            if len(words) < 5:
                continue
            name = re.sub(r"^cpu_(core|atom)/(.*)/(.*)$", r"\2:\3", words[2]).rstrip(":")
            value = int(words[0]) if words[0].isdigit() else None
            if value is not None or name not in counts:
                counts[name] = (counts.get(name) or 0) + value if value is not None else None
        return counts


def boot(profile, commands, cpus):
    """Boots that profile once; gives the run, and what each command printed, by its name."""
    script = "".join(f"echo '{SECTION}{name}'\n{command}\n" for name, command in commands.items())
    words = {"O": str(BUILD), "PROFILE": profile, "CPUS": str(cpus), "CMD": script, "CMDLINE": "", "ENGINE": "sim"}
    result = run("scripts/linux", env=words, seconds=SECONDS)
    SCRATCH.mkdir(parents=True, exist_ok=True)
    (SCRATCH / f"linux-{profile}-{cpus}.log").write_text(str(result), encoding="utf-8")
    parts, name = {}, None
    for line in result.out.splitlines():
        if line.startswith(SECTION):
            name = line.removeprefix(SECTION)
            parts[name] = Part([])
        elif name:
            parts[name].lines.append(line)
    return result, parts


# ---- What dmesg says ----


def lines_of_dmesg(part):
    return [in_order(re.sub(r"^(<\d+>)?\[ *\d+\.\d+\] ", "", line).rstrip()) for line in part.lines]


def check_complaints(profile, part, when, harmless=HARMLESS):
    """It complains of nothing but what linux_facts expects."""
    said = lines_of_dmesg(part)
    allowed = [line for facts in FACTS[profile] for line in facts.also]
    bad = [line for line in said if BAD.search(line) and not harmless.search(line)
           and not any(line.startswith(word) for word in allowed)]  # fmt: skip
    ok(said and not bad, f"{profile}: dmesg complains of nothing {when}", "\n".join(bad))


def check_dmesg(profile, part):
    said = lines_of_dmesg(part)
    pmu = "\n".join(line for line in said if re.search(r"Perf|PMU|\.\.\. |PEBS|LBR|NMI", line))
    wanted = [f"Performance Events: {FACTS[profile][0].line}"]
    for facts in FACTS[profile]:
        wanted += report_of(facts) if facts.general else []
        wanted += facts.also
        if facts.pmu:
            wanted.append(f"core: {facts.pmu} PMU driver:")
    missing = [line for line in wanted if not any(each.startswith(line) for each in said)]
    ok(not missing, f"{profile}: dmesg names the PMU as Linux's source has it",
       "missing:\n" + "\n".join(missing) + f"\nsaid:\n{pmu}")  # fmt: skip
    check_complaints(profile, part, "at its start")


# ---- What perf counts ----

# What interrupts a program: of what comes from outside, part may come while the kernel works for it.
INSIDE, OUTSIDE = "page-faults:u", "irq_vectors:*_entry"


def interruptions(profile):
    """More events for perf stat, where its counts have interrupts and exceptions too."""
    return f",{INSIDE},{OUTSIDE}" if TOOLS[profile].taken else ""


def check_count(profile, counts, event, listed, name):
    """A count is the listing's; where it has interrupts and exceptions too, as many more as there were of them."""
    surely, perhaps = 0, 0
    if event in TOOLS[profile].taken:
        surely = counts.get(INSIDE) or 0
        perhaps = sum(count or 0 for each, count in counts.items() if each.startswith("irq_vectors:"))
    ok(listed + surely <= (counts.get(event) or 0) <= listed + surely + perhaps, f"{profile}: {name}",
       f"{counts.get(event)}, wanted {listed} and {surely} exceptions, at most {perhaps} interrupts")  # fmt: skip


def check_known(profile, counts):
    """The program known: every number is its listing's."""
    instructions = constant("known", "KNOWN_INSTRUCTIONS")
    check_count(profile, counts, "instructions:u", instructions, f"perf stat counts the {instructions} instructions")
    branches = constant("known", "KNOWN_BRANCHES")
    check_count(profile, counts, "branches:u", branches, f"… and the {branches} branches")
    cycles, reference = counts.get("cycles:u") or 0, counts.get("ref-cycles:u")
    # Between one instruction in four cycles and eight in one: no machine of the profiles is outside.
    ok(instructions / 8 < cycles < instructions * 4, f"{profile}: … in a plausible number of cycles", cycles)
    if FACTS[profile][0].fixed >= 3:
        # It is the base clock's, of leaf 16H, while the core runs up to the highest one: a quarter, on Gracemont.
        leaf = re.search(r"^cpuid\.0x16 = (\d+) (\d+)", pathlib.Path(f"sim/profiles/{profile}.profile").read_text("utf-8"), re.M)
        slow = int(leaf[1]) / int(leaf[2]) if leaf else 1
        ok(reference and instructions / 8 * slow < reference < instructions * 4, f"{profile}: … also at the reference clock",
           reference)  # fmt: skip


def check_same(profile, counts):
    """The function that experiment 15-2 counts, counted by it and by perf on the same processor."""
    ours = harness.sim("run=15-2", profile).out
    around = constant("mixed", "MIXED_AROUND")
    numbers = {each: int(n) for each, n in re.findall(r"^  (pmc0|window): (\d+)$", ours, re.M)}
    iterations = f"#define ITERATIONS {constant('mixed', 'MIXED_ITERATIONS')}\n"
    ok(iterations in pathlib.Path("experiments/15/ex15_2.c").read_text("utf-8") and len(numbers) == 2,
       f"{profile}: 15-2 counts as many iterations as mixed makes", ours)  # fmt: skip
    check_count(profile, counts, "instructions:u", numbers["pmc0"] - numbers["window"] + around,
                "perf stat and 15-2 count the same instructions of the same function")  # fmt: skip


def check_group(profile, kind, part):
    """A group of as many events as there are general counters is counted all the time, and each like the others."""
    counts = [line.split(",") for line in part.lines if line.count(",") >= 4 and "branches" in line]
    values = {words[0] for words in counts}
    ok(len(counts) == kind.general and len(values) == 1 and all(float(words[4]) == 100 for words in counts),
       f"{profile}: a group of {kind.general} events, all the time {kind.pmu}".rstrip(), part)  # fmt: skip
    check_count(profile, part.counts() | {"branches:u": int(min(values, default=0))}, "branches:u", constant("known", "KNOWN_BRANCHES"),
                f"… each counts the branches {kind.pmu}".rstrip())  # fmt: skip


def check_rings(profile, kind, part):
    """A group of counters starts and stops by one write of GLOBAL_CTRL: ring 3 and ring 0 are the whole. Of cycles
    the manual does not say in which ring those of a change between them are."""
    counts = [int(words[0]) for words in (line.split(",") for line in part.lines) if len(words) > 4 and words[0].isdigit()]
    known = constant("known", "KNOWN_INSTRUCTIONS")
    ok(len(counts) == 6 and counts[0] == known and counts[1] > 1000 and counts[2] == counts[0] + counts[1],
       f"{profile}: instructions of user and kernel are all instructions {kind.pmu}".rstrip(), part)  # fmt: skip
    ok(len(counts) == 6 and all(counts[i + 3] > counts[i] / 8 for i in range(3))
       and abs(counts[5] - counts[3] - counts[4]) <= counts[5] / 1000,
       f"{profile}: cycles of user and kernel are all cycles {kind.pmu}".rstrip(), part)  # fmt: skip


def shares_turns():
    """Of a round of shares: its turns, each of four instructions."""
    return sum(int(turn) for turn in re.findall(r"^ +share \w+, (\d+)", text_of("shares"), re.M))


def shares_instructions():
    """Of shares-long: a round has also three calls with a MOV and a RET each, a DEC and a jump; four are around."""
    return constant("shares-long", "ROUNDS") * (4 * shares_turns() + 11) + 4


def check_multiplexed(profile, part):
    """More events than counters take turns; scaled up, each is near what it is."""
    counts = [line.split(",") for line in part.lines if line.count(",") >= 4]
    shares = [float(words[4]) for words in counts]
    values = [int(words[0]) for words in counts if words[0].isdigit()]
    # The three loops of shares are one branch in four instructions all the time: so is each part of the time.
    wanted = constant("shares-long", "ROUNDS") * (shares_turns() + 7) + 1  # of each round also three calls, three returns, one jump
    ok(len(values) == len(counts) > 0 and min(shares) < 100 and all(abs(v - wanted) < wanted / 5 for v in values),
       f"{profile}: events that take turns are scaled to their counts", f"wanted {wanted}\n{part}")  # fmt: skip


# ---- What perf samples ----


def text_of(program):
    return pathlib.Path(f"linux/{program}.S").read_text("utf-8")


class Listing:
    """A program's instructions, as objdump sees them."""

    def __init__(self, program):
        self.branches = {}  # of each branch instruction: where it can go
        self.calls = []  # of each call: where it is, and where it goes
        self.after = {}
        lines = run("objdump", "-d", "--no-show-raw-insn", BUILD / "linux/bin" / program).out.splitlines()
        found = [re.match(r" +([0-9a-f]+):\s+(\S+)\s*([0-9a-f]*)", line) for line in lines]
        found = [each for each in found if each]
        returns = []
        for each, following in zip(found, found[1:] + [None]):
            at, name, target = int(each[1], 16), each[2], each[3]
            after = int(following[1], 16) if following else None
            self.after[at] = after
            if name == "call":
                self.branches[at] = {int(target, 16)}
                self.calls.append((at, int(target, 16)))
                returns.append(after)
            elif name.startswith("j"):
                self.branches[at] = {int(target, 16)} | ({after} if name != "jmp" else set())
            elif name in ("ret", "syscall"):
                self.branches[at] = set()
        for each in found:
            if each[2] == "ret":
                self.branches[int(each[1], 16)] = set(returns)

    def straight(self, at, to):
        """Whether the way from one instruction to another needs no branch taken."""
        while at != to:
            if at not in self.after or at in self.branches and self.after[at] not in self.branches[at]:
                return False
            at = self.after[at]
        return True

    def is_way(self, at, pairs):
        """Whether who is there can have come by these branches, the newest first, and by no others since."""
        starts = [at] + [source for source, _ in pairs]
        return all(start not in self.after or self.straight(target, start) for start, (_, target) in zip(starts, pairs))


def tally(part):
    """Of lines that uniq -c has counted: each line's words, so often."""
    found = [re.match(r" *(\d+) +(\S.*)$", line) for line in part.lines]
    return [tuple(each[2].split()) for each in found if each for _ in range(int(each[1]))]


def check_shares(profile, name, part, least, within=None):
    """The profile of shares: 60, 30 and 10 in 100; without a limit, as near as chance lets so many samples come (four
    standard deviations)."""
    names = [words[-1] for words in tally(part)]
    shares = {each: 100 * names.count(each) / max(1, len(names)) for each in ("sixty", "thirty", "ten")}
    ok(len(names) >= least and all(abs(shares[each] - wanted) <= (within or 4 * math.sqrt(wanted * (100 - wanted) / len(names)))
                                   for each, wanted in (("sixty", 60), ("thirty", 30), ("ten", 10))),
       f"{profile}: perf record {name}: 60, 30 and 10 in 100", f"{len(names)} samples, {shares}")  # fmt: skip


def check_precise(profile, part, exact):
    """PEBS on branches: what is sampled is a branch (:pp), or what follows one (:p)."""
    listing = Listing("calls")
    right = set(listing.branches)
    if not exact:
        right = {target for at, targets in listing.branches.items() for target in targets | {listing.after[at]}}
    seen = [int(words[0], 16) for words in tally(part) if re.fullmatch(r"[0-9a-f]+", words[0])]
    wrong = sorted({hex(at) for at in seen if at not in right})
    ok(len(seen) >= 100 and not wrong,
       f"{profile}: branches:{'pp' if exact else 'p'}: every sample is {'a branch' if exact else 'behind a branch'}",
       f"{len(seen)} samples; not so: {wrong[:20]}")  # fmt: skip


def check_branches(profile, name, pairs, least, whole=True):
    """Every pair of user addresses is a branch of calls that was taken; whole: and none of them is missing."""
    listing = Listing("calls")
    top = 1 << 47
    own = [(a, b) for a, b in pairs if 0 < a < top and b < top]
    wrong = {(hex(a), hex(b)) for a, b in own if b not in listing.branches.get(a, ())}
    ok(len(own) >= least and not wrong and (not whole or len(set(own)) == PAIRS_OF_CALLS),
       f"{profile}: perf record {name}: every pair is a branch of the program" + ", and each of its eight is there" * whole,
       f"{len(own)} pairs, {len(set(own))} different; wrong: {sorted(wrong)[:20]}")  # fmt: skip


# A round of calls: three calls, three returns, two loops; of inner's all turns but the last are taken.
PAIRS_OF_CALLS = 8
TAKEN = constant("calls", "TURNS") - 1 + 7
INSTRUCTIONS = 3 * constant("calls", "TURNS") + 11
PLACES = 3 + 11  # of them different: inner's loop is 3 instructions


def stacks_of(part):
    """Of each sample its address and its pairs, the newest first."""
    return [(int(words[0], 16), tuple(tuple(int(at, 16) for at in each.split("/")) for each in words[1:]))
            for words in tally(part) if re.fullmatch(r"[0-9a-f]+", words[0])]  # fmt: skip


def check_lbr(profile, part, name="-b", whole=None):
    """The records stop with the PMI (DEBUGCTL.FREEZE_LBRS_ON_PMI): they are the way to where it came. A stack that
    holds a round has each of its branches. One that does not has what was before its sample, and samples at a fixed
    period may come at the same few places of the round, as when the period is nearly a number of whole rounds."""
    listing, samples, depth = Listing("calls"), stacks_of(part), TOOLS[profile].branches
    astray = [(hex(at), [(hex(a), hex(b)) for a, b in pairs]) for at, pairs in samples if not listing.is_way(at, pairs)]
    lacking = [pairs for _, pairs in samples if len(pairs) >= TAKEN and len(set(pairs)) < PAIRS_OF_CALLS]
    ok(samples and not astray and not lacking, f"{profile}: perf record {name}: each stack is the way to its sample",
       f"{len(samples)} samples; astray: {astray[:3]}; with a round, but not all its branches: {len(lacking)}")  # fmt: skip
    check_branches(profile, name, [pair for _, pairs in samples for pair in pairs], 20 * depth,
                   depth >= TAKEN if whole is None else whole)  # fmt: skip


def check_places(profile, part):
    """A period that is prime to the instructions of a round comes to each of them in its turn, and PEBS has no skid:
    four records are enough to see all branches."""
    samples = stacks_of(part)
    times = [samples.count(each) for each in set(samples)]
    ok(math.gcd(PERIOD, INSTRUCTIONS) == 1 and len(times) == INSTRUCTIONS and max(times) - min(times) <= 1,
       f"{profile}: perf record -b by PEBS: each instruction of a round as often as the others", part)  # fmt: skip
    check_lbr(profile, part, "-b by PEBS", whole=True)


def check_bts(profile, part):
    """Without an option perf takes a buffer of 4 MiB, which calls fills many times; what does not fit is lost. A
    record of the branch trace store has 24 bytes. At least half of a buffer must have come."""
    pairs = [(int(words[0], 16), int(words[2], 16)) for words in tally(part) if words[1:2] == ("=>",)]
    check_branches(profile, "intel_bts//u", pairs, (4 << 20) // 24 // 2)


def check_callgraph(profile, part, precise=False):
    """--call-graph lbr: a sample's records are the calls that it is under, the newest first. _start, outer, middle and
    inner stand in this order in memory, as each calls the next. By a PMI samples may all come at the same few places;
    by PEBS, which has no skid, at each."""
    samples, calls = stacks_of(part), sorted(Listing("calls").calls, reverse=True)
    wrong = [(hex(at), pairs) for at, pairs in samples if list(pairs) != [call for call in calls if call[1] <= at]]
    places = {at for at, _ in samples}
    ok(len(samples) >= 100 and not wrong and len(calls) == 3 and (not precise or len(places) == PLACES),
       f"{profile}: perf record --call-graph lbr{' by PEBS' * precise}: a sample's stack are the calls that it is under",
       f"{len(samples)} samples, at {len(places)} places; wrong: {wrong[:5]}")  # fmt: skip


def symbols_of(program):
    lines = map(str.split, run("nm", BUILD / "linux/bin" / program).out.splitlines())
    return {words[2]: int(words[0], 16) for words in lines if len(words) == 3}


def check_loads(profile, part):
    """perf mem: loads that took long are far's, of its line of memory."""
    symbols = symbols_of("loads")
    start, size = symbols["far_data"], constant("loads", "LINE") * constant("loads", "LINES")
    seen = [(int(words[0], 16), words[-1]) for words in tally(part) if re.fullmatch(r"[0-9a-f]+", words[0])]
    wrong = [(hex(at), name) for at, name in seen if not start <= at < start + size or name != "far"]
    # All of far's are slow, and each 41st or 42nd is sampled.
    least = constant("loads", "ROUNDS") // 50
    ok(len(seen) >= least and not wrong, f"{profile}: perf mem record: slow loads are far's, of far_data",
       f"{len(seen)} samples; not so: {wrong[:10]}")  # fmt: skip


# ---- AMD's instruction-based sampling ----

IBS_PERIOD = 262144  # in sixteens (perf_ibs_init()), and fewer samples than Linux lets come in a tick
IBS_LOADS = 2000
IBS_RANDOM = 127  # so much of it the processor may leave out: IBS Op Data, IbsOpCurCnt[6:0]


def check_ibs_shares(profile, name, part, listed):
    """Of what the listing has of ops or fetches, each sample is a period less some random part behind the last; those of
    the kernel come on top, one in twenty at the most."""
    check_shares(profile, name, part, listed * 0.97 // IBS_PERIOD)
    ok(len(tally(part)) <= listed / (IBS_PERIOD - IBS_RANDOM) * 1.05, f"{profile}: … as often as the period says", part)


def check_ibs_places(profile, part):
    """What IBS names is the instruction itself: each is one of the program's, and each of a round is there."""
    listing = Listing("calls")
    seen = {int(words[0], 16) for words in tally(part) if re.fullmatch(r"[0-9a-f]+", words[0]) and int(words[0], 16) < 1 << 47}
    ok(len(seen) >= PLACES and seen <= set(listing.after), f"{profile}: ibs_op//: every sample is an instruction, and each is there",
       part)  # fmt: skip


def check_ibs_branches(profile, part):
    check_branches(profile, "ibs_op//", [(int(words[0], 16), int(words[2], 16)) for words in tally(part) if words[1:2] == ("=>",)], 100)


def check_ibs_loads(profile, part):
    """The loads of which IBS says that they waited for memory are far's, at its address, and it says where in far_data."""
    symbols = symbols_of("loads")
    start, size = symbols["far_data"], constant("loads", "LINE") * constant("loads", "LINES")
    seen = [(int(words[0], 16), words[-1]) for words in tally(part) if "RAM" in words]
    wrong = [(hex(at), name) for at, name in seen if not start <= at < start + size or name != "far"]
    # Of an instruction that comes once in a round, a sample or two by chance.
    ok(seen and not wrong, f"{profile}: ibs_op//: loads from memory are far's, of far_data",
       part)  # fmt: skip


# In the order in which perf prints them; the program bound has a loop for each.
BOUND = ("retiring", "speculation", "frontend", "backend")


def check_topdown(profile, kind, part):
    """Where the slots went, of four programs whose listing says where most of them must go: the rest of a share is
    what the machine does besides, in the 3 to 8 ms of such a program."""
    rows = [[float(share) for share in words[-5:-1]] for words in (line.split(",") for line in part.lines)
            if len(words) >= 5 and not words[-1] and all(re.fullmatch(r"-?[0-9.]+", share) for share in words[-5:-1])]  # fmt: skip
    ok(len(rows) == len(BOUND), f"{profile}: perf stat --topdown says where the slots went {kind.pmu}".rstrip(), part)
    for name, row in zip(BOUND, rows):
        # Four numbers, each rounded to a tenth.
        ok(all(0 <= share <= 100 for share in row) and abs(sum(row) - 100) <= 0.2 and row[BOUND.index(name)] > 50,
           f"{profile}: … of a program whose slots go to {name} {kind.pmu}".rstrip(), f"{BOUND}: {row}")  # fmt: skip


def check_tma(profile, part):
    """The same by the formulas of Intel's that perf has with it, which need more events than Linux's: where they take
    turns, not all shares are of the same time."""
    runs = "\n".join(part.lines).split(SECTION_TMA)[1:]
    for name, text in zip(BOUND, runs):
        shares = {metric: float(share) for share, metric in re.findall(r",(-?[0-9.]+),%  tma_(\w+)$", text, re.M)}
        row = [shares.get(each, -1) for each in ("retiring", "bad_speculation", "frontend_bound", "backend_bound")]
        together = set(re.findall(r"^\d+,,.*?,\d+,(\d+\.\d+),", text, re.M)) == {"100.00"}
        ok(all(0 <= share <= 100 for share in row) and (not together or abs(sum(row) - 100) <= 0.2) and row[BOUND.index(name)] > 50,
           f"{profile}: perf stat -M TopdownL1 of a program whose slots go to {name}", text)  # fmt: skip
    equal(len(runs), len(BOUND), f"{profile}: … of all four")


def check_goes_with(profile, part):
    name = "perf stat goes with a program from processor to processor"
    check_count(profile, part.counts(), "instructions:u", constant("hops", "HOPS_INSTRUCTIONS"), name)
    check_count(profile, part.counts(), "branches:u", constant("hops", "HOPS") * constant("hops", "HOPS_BRANCHES") + 1, "… its branches too")


PERFS_OWN = 1000  # to enable and read a processor's events perf goes there itself: affinity__set(), in its evlist.c


def check_hops(profile, own, part):
    """System-wide: the processor on which perf is not counts what hops does there, and what perf does there with the
    events themselves; the other that, and all of perf."""
    before, after, branches = (constant("hops", f"HOPS_{name}") for name in ("BEFORE", "AFTER", "BRANCHES"))
    # A hop's last part is on the next one's processor: processor 0 has the end, and of the start what perf lets it.
    half = constant("hops", "HOPS") // 2
    ends = {0: half * after + (half - 1) * before + constant("hops", "HOPS_END"), 1: half * (before + after)}
    wanted = {f"CPU{cpu}": [ends[cpu], half * branches] for cpu in ends}
    found = {}
    for words in (line.split(",") for line in part.lines):
        if words[0].startswith("CPU") and len(words) > 5 and words[1].isdigit():
            found.setdefault(words[0], []).append(int(words[1]))
    over = {cpu: [n - least for n, least in zip(found.get(cpu, ()), wanted[cpu])] for cpu in wanted}
    other = f"CPU{1 - own}"
    ok(all(len(each) == 2 and min(each) >= 0 for each in over.values()) and max(over[other]) <= PERFS_OWN,
       f"{profile}: perf stat -a from CPU{own} counts on {other} what is done there", f"wanted {wanted}\n{part}")  # fmt: skip


def check_pinned(profile, name, part, period=None):
    """System-wide: each of two programs at once is sampled on its processor alone, its shares right there. Of
    instructions it is known how many samples there are: what else runs there moves the first and the last."""
    samples = tally(part)  # process, processor, function
    where = {(process, cpu) for process, cpu, _ in samples}
    ok(sorted(cpu for _, cpu in where) == ["[000]", "[001]"] and len({process for process, _ in where}) == 2,
       f"{profile}: perf record -a {name}: each program on its processor", part)  # fmt: skip
    for cpu in ("[000]", "[001]"):
        own = Part([f"1 {symbol}" for _, at, symbol in samples if at == cpu])
        check_shares(profile, f"-a {name} on processor {cpu}", own, 300, 3)
        if period:
            wanted = shares_instructions() / period
            ok(abs(len(own.lines) - wanted) <= 2, f"{profile}: … a sample each {period} instructions",
               f"{len(own.lines)} samples, wanted {wanted}")  # fmt: skip


COUNT = "sort | uniq -c"
# Of perf's words about IBS's registers: each branch that was taken, and to where.
IBS_BRANCHES = ("awk '/^IbsOpRip/ { rip = $2 } /^ibs_op_data:/ { taken = /OpBrnTaken 1/ } "
                "/^IbsBrTarget/ { if (taken) print \"0x\" rip, \"=>\", \"0x\" $2 }' | sort | uniq -c")  # fmt: skip
SYMBOLS = "awk '{ print $2 }' | " + COUNT
PAIRS = r"sed -E 's:(0x[0-9a-f]+/0x[0-9a-f]+)[^ ]*:\1:g' | " + COUNT
PERIOD = 30011  # no more than 400 samples a tick: at 100 kHz and a tick of 4 ms Linux throttles


def record(event, program, fields, more="", digest=COUNT, how="perf record"):
    """Records a program, and prints its samples, each kind with how often it came."""
    data = "/tmp/perf.data"
    return f"{how} -q -o {data} {more} {event and '-e ' + event} {program}; perf script -i {data} -F {fields} | {digest}; rm {data}"


def commands_of(profile):
    """The commands for that processor, each with its check (of profile and part)."""
    tools, facts = TOOLS[profile], FACTS[profile][0]
    fixed = facts.fixed >= 3
    yield "dmesg", "dmesg", check_dmesg
    if not tools:
        return
    reference = ",ref-cycles:u" if fixed else ""
    # Of version 1's two counters the watchdog has one: one event at a time.
    events, more = f"instructions:u,branches:u,cycles:u{reference}", interruptions(profile)
    few = not fixed and facts.general < 3
    yield ("known", "; ".join(f"perf stat -x, -e '{each}{more}' known" for each in (events.split(",") if few else [events])),
           lambda p, part: check_known(p, part.counts()))  # fmt: skip
    yield ("same", f"perf stat -x, -e 'instructions:u{more}' mixed", lambda p, part: check_same(p, part.counts()))
    yield ("shares", record("instructions:u", "shares-long", "ip,sym", "-c 213019", SYMBOLS),
           lambda p, part: check_shares(p, "at a period", part, 700, 2))  # fmt: skip
    if not WHOLE and not sys.argv[1:]:
        return
    yield ("caps", "cd /sys/bus/event_source/devices; for i in cpu cpu_core; do cat $i/caps/max_precise $i/caps/pmu_name; "
           "cat $i/caps/branches; done 2>/dev/null; ls | cat; cd", check_caps)  # fmt: skip
    yield ("nowatchdog", "cat /proc/sys/kernel/nmi_watchdog; echo 0 >/proc/sys/kernel/nmi_watchdog",
           lambda p, part: equal(part.lines, [str(int(TOOLS[p].watchdog))], f"{p}: the NMI watchdog was on till here"))  # fmt: skip
    group = ",".join(["branches:u"] * facts.general)
    for cpu, kind in enumerate(FACTS[profile]):
        # A bare name means an event of every kind of core, which no group can have: of a hybrid, one kind on its core.
        on = f"taskset {1 << cpu} perf stat -x," if kind.pmu else "perf stat -x,"
        event = (f"{kind.pmu}/{{}}/{{}}" if kind.pmu else "{}:{}").format
        if kind.version > 1:  # two counters of version 1 are too few, and each is started by itself
            names = [[event(name, ring) for ring in ("u", "k", "uk")] for name in ("instructions", "cycles")]
            yield (f"rings {cpu}", "; ".join(f"{on} -e '{{{','.join(each)}}}' known" for each in names),
                   lambda p, part, kind=kind: check_rings(p, kind, part))  # fmt: skip
        branches = event("branches", "u")
        yield (f"group {cpu}", f"{on} -e '{{{','.join([branches] * kind.general)}}}{more}' known",
               lambda p, part, kind=kind: check_group(p, kind, part))  # fmt: skip
        # A turn takes a tick of 4 ms and brings one event more; the program lasts three.
        # Linux has fine timers once it has measured the TSC, which it takes a second for.
        yield (f"multiplexed {cpu}", "sleep 1; echo 1 | tee /sys/bus/event_source/devices/cpu*/perf_event_mux_interval_ms >/dev/null; "
               f"{on} -e {','.join([branches] * (kind.general + min(4, kind.general)))} shares-long", check_multiplexed)  # fmt: skip
        if tools.topdown:
            one = f" --cputype {kind.pmu.removeprefix('cpu_')}" if kind.pmu else ""
            yield (f"topdown {cpu}", "; ".join(f"{on} -a --topdown --td-level 1{one} bound {name}" for name in BOUND),
                   lambda p, part, kind=kind: check_topdown(p, kind, part))  # fmt: skip
    if tools.tma:
        yield "tma", "; ".join(f"echo '{SECTION_TMA}{name}'; perf stat -x, -a -M TopdownL1 bound {name}" for name in BOUND), check_tma
    # At a frequency Linux changes the period with each sample (perf_adjust_period()): they come as by chance. At four
    # instructions a cycle and 5.7 GHz, the fastest of the profiles, 160 million instructions take 7 ms, or 175 samples.
    yield ("frequency", record("cycles:u", "shares-long", "ip,sym", "-F 25000", SYMBOLS),
           lambda p, part: check_shares(p, "at a frequency", part, 150))  # fmt: skip
    for level in range(1, tools.precise + 1):
        yield (f"precise {level}", record("cycles:u" + "p" * level, "shares-long", "ip,sym", "-c 53003", SYMBOLS),
               lambda p, part, level=level: check_shares(p, "cycles:" + "p" * level, part, 500, 3))  # fmt: skip
    if tools.precise and profile != "core2":  # whose PEBS knows no event of all branches
        for level in (1, 2):
            yield (f"branches {level}", record("branches:u" + "p" * level, "calls", "ip", "-c 10007"),
                   lambda p, part, level=level: check_precise(p, part, level > 1))  # fmt: skip
    if tools.latency:
        # No shorter period than 32 on haswell, where Linux refuses it: hsw_limit_period(), for an erratum.
        yield ("loads", record("", "loads", "addr,ip,sym", "-t load --ldlat 50 --all-user --count=41", how="perf mem record"),
               check_loads)  # fmt: skip
    if tools.branches and facts.version > 1:
        yield "pairs", record("cycles:u", "calls", "ip,brstack", "-c 50021 -j any,u", PAIRS), check_lbr
        if tools.branches < TAKEN:
            yield "places", record("instructions:up", "calls", "ip,brstack", f"-c {PERIOD} -j any,u", PAIRS), check_places
    # Of version 1 the driver (core_pmu, whose handle_irq is x86_pmu_handle_irq()) does not know the interrupt of BTS.
    if tools.bts and facts.version > 1:
        yield "bts", record("intel_bts//u", "calls", "ip,addr --itrace=b", "--per-thread"), check_bts
    if tools.callstack:
        for precise in [""] + ["p"] * (tools.precise > 0):
            event = "r1c0:u" if precise and tools.prec_dist else "instructions:u"
            yield (f"stacks {precise}", record(event + precise, "calls", "ip,brstack -G", f"-c {PERIOD} --call-graph lbr", PAIRS),
                   lambda p, part, precise=precise: check_callgraph(p, part, bool(precise)))  # fmt: skip
    if tools.ibs:
        # System-wide, as Linux 6.1 has it alone.
        yield ("ibs op", record("ibs_op/cnt_ctl=1/", "shares-long", "ip,sym --comm shares-long", f"-a -c {IBS_PERIOD}", SYMBOLS),
               lambda p, part: check_ibs_shares(p, "ibs_op//", part, shares_instructions()))  # fmt: skip
        # A turn of each loop is one fetch, and its four instructions are in one block of 32 bytes.
        yield ("ibs fetch", record("ibs_fetch/rand_en=1/", "shares-long", "ip,sym --comm shares-long", f"-a -c {IBS_PERIOD // 4}", SYMBOLS),
               lambda p, part: check_shares(p, "ibs_fetch//", part, shares_instructions() * 0.97 // IBS_PERIOD))  # fmt: skip
        yield ("ibs cycles", record("cycles:p", "shares-long", "ip,sym --comm shares-long", f"-a -c {IBS_PERIOD // 4}", SYMBOLS),
               lambda p, part: check_shares(p, "cycles:p by ibs_op//", part, 150))  # fmt: skip
        yield "ibs places", record("ibs_op/cnt_ctl=1/", "calls", "ip --comm calls", "-a -c 16384"), check_ibs_places
        yield ("ibs branches", record("ibs_op/cnt_ctl=1/", "calls", "ip -D", "-a -R -c 16384", IBS_BRANCHES), check_ibs_branches)
        # The whole program has more samples in a fraction of a tick than Linux lets come in one (100,000 in a second).
        yield ("ibs loads", "cd /proc/sys/kernel; echo 1000000 >perf_event_max_sample_rate; echo 0 >perf_cpu_time_max_percent; cd; "
               + record("ibs_op/cnt_ctl=1/", "loads", "addr,ip,sym,data_src --comm loads", f"-a -d -W -m 8M -c {IBS_LOADS}", "grep 'Local RAM' | " + COUNT)
               + "; cd /proc/sys/kernel; echo 25 >perf_cpu_time_max_percent; echo 100000 >perf_event_max_sample_rate; cd", check_ibs_loads)  # fmt: skip
    # The event that a hybrid's rdpmc opens is the first kind's, and has no counter on another.
    yield ("rdpmc", "taskset 1 rdpmc",
           lambda p, part: equal(part.lines, [str(constant("rdpmc", "KNOWN"))], f"{p}: RDPMC in user space"))  # fmt: skip
    yield from excerpts(profile)
    if profile in PERF_TESTED:
        yield "perf test", perf_test_command(), check_perf_test
    if tools.metrics:
        yield "slots", "taskset 1 perf stat -x, -e slots:u known", check_slots  # of a hybrid: on its P core


def several(profile):
    """The commands for two processors, both at work."""
    # Where handlers take long Linux samples less. How many samples there are is checked here: it must not.
    yield ("rate", "cd /proc/sys/kernel; echo 0 >nmi_watchdog; echo 100000 >perf_event_max_sample_rate; "
           "echo 0 >perf_cpu_time_max_percent; cat perf_event_max_sample_rate; cd",
           lambda p, part: equal(part.lines, ["100000"], f"{p}: perf may take 100000 samples a second"))  # fmt: skip
    events = "instructions:u,branches:u"
    # Not scaled up: on a hybrid the event of each kind counts while the program is on its core, and the sum is all.
    yield "hops", f"perf stat --no-scale -x, -e '{events}{interruptions(profile)}' hops", check_goes_with
    for own in (0, 1):
        yield (f"hops {own}", f"taskset {1 << own} perf stat -a -A -x, -e {events} hops",
               lambda p, part, own=own: check_hops(p, own, part))  # fmt: skip
    # The last records of a process are taken out of the PEBS buffer when it is switched from. Had its parent, on the
    # other processor, reaped it by then, Linux would call it -1 (perf_event_pid_type()): each has one on its own.
    if profile in PERF_TESTED:
        yield ("exit events", f"perf test '{EXIT_EVENTS}' 2>&1", lambda p, part: ok(re.search(r": .*\bOk", str(part)),
               f"{p}: perf test of the number of exit events", part))  # fmt: skip
    both = "sh -c 'for i in 1 2; do taskset $i sh -c \"shares-long; :\" & done; wait'"
    process = "awk '{ print $1, $2, $4 }' | " + COUNT
    for precise, event, period in (("", "instructions:u", 400009), ("pp", "cycles:upp", 100003)):
        if not precise or TOOLS[profile].precise:
            yield (f"pinned {precise}", record(event, both, "tid,cpu,ip,sym --comm shares-long", f"-a -c {period}", process),
                   lambda p, part, event=event, period=period: check_pinned(p, event, part, period if event[0] == "i" else None))  # fmt: skip
    if TOOLS[profile].branches and FACTS[profile][0].version > 1:
        yield ("pairs -a", record("cycles:u", "taskset 2 calls", "ip,brstack --comm calls", "-a -c 50021 -j any,u", PAIRS),
               lambda p, part: check_lbr(p, part, "-a -b"))  # fmt: skip


# ---- What perf tests itself ----

# Without and with Top-down's metrics and branch records in XSAVE's area.
PERF_TESTED = ("skylake", "sapphirerapids")

# Of `perf test`, what concerns counters, samples, debug registers and the clock: a part of the name, how many results.
PERF_TESTS = {
    "mmap interface": 1,
    "User space counter reading": 2,  # by RDPMC
    "data source output": 1,
    "PMU events from sysfs": 2,
    "PERF_RECORD_": 1,  # with a program that has libraries
    "Breakpoint": 3,
    "Watchpoint": 4,
    "Software clock": 1,
    "Object code reading": 1,  # at each sample the code that objdump sees there
    "dummy software event": 1,
    "Sample parsing": 2,  # perf's own, and x86's
    "sched_switch": 1,
    "Event times": 1,
    "backward ring buffer": 1,
    "TSC support": 1,
    "Perf time to TSC": 1,
    "Sigtrap": 1,
    "bp modify": 1,
    "csv summary": 1,
    "shadow stat": 1,
    "perf stat tests": 1,  # with slots and their metrics, in and out of groups
}
EXIT_EVENTS = "Number of exit events"
NO_SUCH = "Read Only Watchpoint"  # R/W of DR7 knows writes, and reads or writes: perf says "missing hardware support"

# The rest, and why it is not run.
PERF_LEFT = {
    "perf's own parsers, lists, tables and files; no event is opened":
        ["Test event parsing", "hybrid", "aliased", "Parsing of terms", "expression parser", "perf pmu format", "DSO data",
         "evsel->name", "perf_event_attr", "hist", "sample_id_all", "mmap thread", "thread map", "Thread map", "fdarray", "kmod",
         "topology", "Synthesize", "cpu map", "printable", "bitmap", "hooks", "unit_number", "mem2node", "time utils",
         "jit_write", "api io", "maps__merge", "Demangle", "process metrics", "PE file", "cgroups", "dlfilter", "decoder",
         "build id", "daemon", "pipe", "Zstd"],
    # It polls a thousand times till its child has ended; on one processor, woken by the child, it takes it from the child.
    "run with two processors": [EXIT_EVENTS],
    "minutes of perf's own work over its tables; \"all metricgroups\" took three on skylake, and was Ok":
        ["PMU event", "all metric", "all PMU"],
    "tracepoints and probes, which are Linux's own":
        ["openat", "sched tracepoints", "vfs_getname", "inet_pton", "SDT", "lock contention", "uprobe", "different CU"],
    "what Debian's perf is built without, or the file system has not: Python, bash, compilers, BPF, Java, a vmlinux":
        ["vmlinux", "python", "LLVM", "BPF", "bpf", "clang", "libpfm4", "pfm-events", "linter", "branch stack", "data symbol",
         "Java", "java", "offcpu"],
    "its `true` ends before the 124,999 instructions that are Linux's first period of that frequency":
        ["perf record tests"],
    "what no profile has: Processor Trace": ["Intel PT"],
    "another architecture's": ["Arm"],
    "the stack's unwinding by DWARF, without an event; it fails, not looked into": ["dwarf unwind"],
}  # fmt: skip


def perf_test_command():
    return "perf test list 2>&1; echo; perf test " + " ".join(f"'{name}'" for name in PERF_TESTS)


def check_perf_test(profile, part):
    lines = [re.sub(r"\033\[[0-9;]*m", "", line) for line in part.lines]
    cut = lines.index("") if "" in lines else len(lines)
    listed = [found[1] for found in (re.match(r" *[0-9]+:(?:[0-9]+:)? *(.+?) *$", line) for line in lines[:cut]) if found]
    known = [*PERF_TESTS, *(name for names in PERF_LEFT.values() for name in names)]
    heads = [name for name, after in zip(listed, lines[1:]) if re.match(r" *[0-9]+:[0-9]+:", after)]  # of several, the others say
    new = [name for name in listed if name not in heads and not any(each in name for each in known)]
    ok(listed and not new, f"{profile}: each of perf's tests is run, or there is a reason", new)
    found = [re.match(r" *[0-9.]+: (.*?) *: (Ok|Skip|FAILED)", line) for line in lines[cut:]]
    results = [each.groups() for each in found if each]
    wrong = [(name, result) for name, result in results if result != ("Skip" if name == NO_SUCH else "Ok")]
    ok(len(results) == sum(PERF_TESTS.values()) and not wrong, f"{profile}: perf test of counters and samples", part)


# ---- The page ----

EXCERPT = re.compile(r"^<!-- linux: (\S+) ([^\n]*) -->\n```\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def excerpts(profile):
    """Of docs/linux.md, what it shows for that processor: each with its command and its check."""
    for number, (name, command, block) in enumerate(EXCERPT.findall(pathlib.Path("docs/linux.md").read_text("utf-8"))):
        if name == profile:
            yield (f"excerpt {number}", command, lambda p, part, block=block: check_excerpt(p, part, block))


def check_excerpt(profile, part, block):
    """Its lines stand together in what was printed, with anything for each ellipsis."""
    lines = [r"\s*" + ".*?".join(map(re.escape, line.strip().split("…"))) + r"\s*" for line in block.splitlines()]
    ok(lines and re.search("^" + "\n".join(lines) + "$", str(part), re.MULTILINE),
       f"{profile}: docs/linux.md shows what is printed: {block.split(chr(10))[0].strip()}", part)  # fmt: skip


def check_caps(profile, part):
    tools = TOOLS[profile]
    wanted = [str(tools.precise)] + [tools.name] * (tools.name != "") + [str(tools.branches)] * (tools.branches > 0)
    equal(part.lines[: len(wanted)], wanted, f"{profile}: the capabilities in /sys")
    for name, there in (("intel_bts", tools.bts), ("ibs_op", tools.ibs), ("ibs_fetch", tools.ibs)):
        equal(name in part.lines, there, f"{profile}: … and whether there is {name}")


def check_slots(profile, part):
    """As many slots a cycle as the processor is wide, so not fewer than instructions."""
    slots = part.counts().get("slots:u") or 0
    ok(slots >= constant("known", "KNOWN_INSTRUCTIONS"), f"{profile}: slots", part)


def check(profile, steps, result, parts):
    ok(result.status == 0 and list(parts) == [name for name, _, _ in steps], f"{profile}: Linux boots, runs perf, ends",
       result)  # fmt: skip
    for name, _, test in steps:
        if name in parts:
            test(profile, parts[name])


def boots(profile):
    """What a profile is booted for: the steps, and with how many processors. A hybrid has one of each kind."""
    steps, kinds = list(commands_of(profile)), len(FACTS[profile])
    if not TOOLS[profile] or not (WHOLE or sys.argv[1:]):
        return [(profile, steps, kinds)]
    first = ("dmesg", "dmesg", check_dmesg)
    last = ("after", "dmesg", lambda p, part: check_complaints(p, part, "after all that", AFTERWARDS))
    if kinds == 2:
        return [(profile, [*steps, *several(profile), last], 2)]
    return [(profile, [*steps, last], kinds), (profile, [first, *several(profile), last], 2)]


def main():
    todo = [each for profile in PROFILES for each in boots(profile)]
    with concurrent.futures.ThreadPoolExecutor(2 if WHOLE else 1) as pool:
        runs = pool.map(lambda each: boot(each[0], {name: line for name, line, _ in each[1]}, each[2]), todo)
        for (profile, steps, _), (result, parts) in zip(todo, runs):
            check(profile, steps, result, parts)
    harness.done()


main()
