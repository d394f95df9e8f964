#!/usr/bin/env python3
"""Proves that the tests of the PMU's rules, and the guests of the system instructions, can fail.

Puts one wrong line at a time into a copy of the simulator, builds it, and expects the tests named beside it to
turn red: functions of tests/model/, or points of a guest ("pmu: text"). Not part of `make test` (each mutant is a
build):

    tests/mutants/model.py SCRATCH_DIRECTORY [part of a mutant's text]

Prints TAP: a mutant whose test stays green is "not ok".
"""

import pathlib
import re
import shutil
import subprocess
import sys

FACILITIES, MSR, COUNTERS, PMU = (f"sim/pmu/{name}.c" for name in ("facilities", "msr", "counters", "pmu"))
LAPIC, EVENTS, SYSTEM_MSR = "sim/dev/lapic.c", "sim/cpu/events.c", "sim/cpu/system_msr.c"
PROFILE = "sim/profile.c"
PAGING, DELIVER, CALL, CR, DEBUG = (f"sim/cpu/{name}.c" for name in ("paging", "deliver", "system_call", "system_cr", "debug"))
GUESTS = ["pmu", "paging", "exceptions", "privilege", "control", "debug", "interrupts", "protected"]

# What is wrong, file, text, replacement, the tests that must notice.
MUTANTS = [
    ("the fixed counters' bitmap is ignored", FACILITIES, "(p->pmu.version >= 5 && (p->pmu.fixed_bitmap >> i & 1))", "false",
     ["fixed_bitmap_adds_counters_in_version_5"]),
    ("the bitmap counts before version 5", FACILITIES, "p->pmu.version >= 5 && (p->pmu.fixed_bitmap", "(p->pmu.fixed_bitmap",
     ["fixed_bitmap_adds_counters_in_version_5"]),
    ("fixed counters in version 1", FACILITIES, "p->pmu.version < 2 || i >= PROFILE_MAX_FIXED", "i >= PROFILE_MAX_FIXED",
     ["registers_exist_from_their_version"]),
    ("one counter too many", FACILITIES, "return p->pmu.version == 0 ? 0 : p->pmu.general;", "return p->pmu.version == 0 ? 0 : p->pmu.general + 1;",
     ["announced_counters_exist_the_next_faults"]),
    ("version 0 has counters", FACILITIES, "p->pmu.version == 0 ? 0 : p->pmu.general", "p->pmu.version == 0 ? 2 : p->pmu.general",
     ["announced_counters_exist_the_next_faults"]),
    ("global registers in version 1", MSR, "return p->pmu.version >= 2;", "return p->pmu.version >= 1;",
     ["registers_exist_from_their_version"]),
    ("STATUS_SET in version 3", MSR, "return p->pmu.version >= 4;", "return p->pmu.version >= 3;",
     ["registers_exist_from_their_version"]),
    ("EBX inverted", PROFILE, "p->pmu.events_unavailable", "~p->pmu.events_unavailable", ["leaf_0ah_ebx_bit_means_not_available"]),
    ("PERF_CAPABILITIES without PDCM", MSR, "return p->pmu.has_capabilities;", "(void)p; return 1;",
     ["capabilities_exist_with_pdcm_and_are_read_only"]),
    ("MISC_ENABLE may be written", MSR, "(value & ~MISC_ENABLE_READ_ONLY) | (pmu->misc_enable & MISC_ENABLE_READ_ONLY)", "value | (0 & MISC_ENABLE_READ_ONLY)",
     ["misc_enable_tells_and_keeps_availability"]),
    ("upper half of PERFEVTSEL taken", FACILITIES, "bits(32) & ~(PERFEVTSEL_ANY | PERFEVTSEL_PC)", "bits(33) & ~(PERFEVTSEL_ANY | PERFEVTSEL_PC)",
     ["perfevtsel_reserved_bits"]),
    ("AnyThread in version 2", FACILITIES, "if (p->pmu.version >= 3 && p->pmu.anythread)\n        mask |=", "if (p->pmu.anythread)\n        mask |=",
     ["perfevtsel_reserved_bits"]),
    ("PC for all", FACILITIES, "if (p->pmu.pin_control)", "if (true)", ["perfevtsel_reserved_bits"]),
    ("fixed AnyThread for all", FACILITIES, "if (p->pmu.version >= 3 && p->pmu.anythread)\n        field |=", "if (true)\n        field |=",
     ["fixed_ctr_ctrl_reserved_bits"]),
    ("GLOBAL_CTRL takes bit 48 always", FACILITIES, "(p->pmu.metrics ? GLOBAL_STATUS_PERF_METRICS_OVF : 0)", "GLOBAL_STATUS_PERF_METRICS_OVF",
     ["global_ctrl_reserved_bits"]),
    ("OVF_CTRL takes CTR_FRZ in version 3", FACILITIES, "if (p->pmu.version >= 4) {\n        mask |= GLOBAL_STATUS_LBR_FRZ", "if (p->pmu.version >= 3) {\n        mask |= GLOBAL_STATUS_LBR_FRZ",
     ["status_reset_reserved_bits"]),
    ("STATUS_SET takes CondChgd", FACILITIES, "global_reset_mask(p) & ~GLOBAL_STATUS_COND_CHGD", "global_reset_mask(p)", ["status_set_reserved_bits"]),
    ("GLOBAL_STATUS may be written", MSR, "read_global_status, NULL}", "read_global_status, write_global_reset}", ["status_registers_are_read_only"]),
    ("DEBUGCTL has freezes without version 2", FACILITIES, "p->pmu.version >= 2 && !p->pmu.no_freeze", "!p->pmu.no_freeze", ["debugctl_reserved_bits"]),
    ("DS_AREA takes anything", MSR, "if (!canonical(value))\n        return false;\n    pmu->ds_area", "pmu->ds_area", ["debug_store_registers_reserved_bits"]),
    ("no sign extension", MSR, "(uint64_t)(int64_t)(int32_t)value", "(uint64_t)(uint32_t)value", ["pmc_write_sign_extends"]),
    ("the old address takes the full width", MSR, "(uint64_t)(int64_t)(int32_t)value", "value", ["pmc_write_sign_extends"]),
    ("A_PMC cuts in place of #GP", MSR, "if (value & ~bits(pmu->profile->pmu.general_width))\n        return false;", "value &= bits(pmu->profile->pmu.general_width);",
     ["a_pmc_takes_the_full_width"]),
    ("a fixed counter takes more than its width", MSR, " || (value & ~bits(pmu->profile->pmu.fixed_width))", "", ["fixed_counter_takes_its_width"]),
    ("A_PMC without FW_WRITE", MSR, "return p->pmu.full_width ? general_count(p) : 0;", "return general_count(p);", ["a_pmc_takes_the_full_width"]),
    ("counters wrap at 48 bits", COUNTERS, "c->value = (c->value + n) & bits(width);", "c->value = (c->value + n) & bits(48);", ["counters_wrap_at_their_width"]),
    ("RDPMC masks the index", MSR, "return index < general_count(p) &&", "index &= 3; return index < general_count(p) &&", ["rdpmc_forms", "pmu: RDPMC past the general counters: #GP", "pmu: but no wrong index: #GP"]),
    ("RDPMC has metrics everywhere", MSR, "return p->pmu.metrics && index == 0", "return index == 0", ["rdpmc_forms"]),
    ("CR4.PCE is ignored", SYSTEM_MSR, " && !(cpu->cr4 & CR4_PCE))", " && false)", ["pmu: RDPMC in ring 3 without CR4.PCE: #GP", "pmu: the fixed kind too: #GP"]),
    ("ring 3 never has RDPMC", SYSTEM_MSR, " && !(cpu->cr4 & CR4_PCE))", ")", ["pmu: RDPMC in ring 3 with CR4.PCE"]),
    ("a counter counts by its event select alone", COUNTERS, "e->umask == umask", "(e->umask == umask || true)", ["clocks_run_at_their_rates"]),
    ("an absent event counts instructions", COUNTERS, ".event = e ? e->what : EV_ABSENT,", ".event = e ? e->what : EV_INSN,", ["an_absent_event_counts_nothing"]),
    ("USR is OS", COUNTERS, ".usr = sel & PERFEVTSEL_USR,", ".usr = sel & PERFEVTSEL_OS,", ["general_counters_filter_rings", "pmu: ring 3: three NOPs and the INT n"]),
    ("OS always", COUNTERS, ".os = sel & PERFEVTSEL_OS,", ".os = true,", ["general_counters_filter_rings", "conditions_hold_in_counted_rings_only"]),
    ("fixed: PMI enables", COUNTERS, ".os = field & FIXED_CTR_CTRL_OS,", ".os = field & (FIXED_CTR_CTRL_OS | FIXED_CTR_CTRL_PMI),", ["fixed_counters_filter_rings"]),
    ("EN is ignored", COUNTERS, "(sel & PERFEVTSEL_EN) && globally_enabled", "globally_enabled", ["en_switches_a_general_counter"]),
    ("GLOBAL_CTRL is one switch", COUNTERS, "return pmu->global_ctrl & ARCH_BIT(bit);", "(void)bit; return pmu->global_ctrl;", ["global_ctrl_gates_each_counter"]),
    ("version 1 looks at GLOBAL_CTRL", COUNTERS, "if (version < 2)\n        return true;", "", ["version_1_has_no_global_enable"]),
    ("GLOBAL_CTRL is 0 after power-on", PMU, "pmu->global_ctrl = bits(general_count(p));", "pmu->global_ctrl = 0;", ["power_on_values_and_init"]),
    ("INIT resets the PMU", PMU, "if (init)\n        return;", "(void)init;", ["power_on_values_and_init"]),
    ("fixed counter 2 counts core cycles", COUNTERS, "{EV_SLOTS, UNIT_TSC_CYCLE},", "{EV_SLOTS, UNIT_CORE_CYCLE},", ["clocks_run_at_their_rates"]),
    ("unhalted clocks run in HLT", COUNTERS, "uint64_t total = ring_total(pmu, c, c->event);", "uint64_t total = ring_total(pmu, c, c->event) + (c->event == EV_SLOTS ? pmu->cpu->halted : 0);",
     ["halted_time_is_not_counted", "pmu: HLT: the TSC runs on, the reference cycles stand"]),
    ("CMASK: more than", COUNTERS, "(events >= threshold) != invert", "(events > threshold) != invert", ["cmask_counts_cycles_at_or_above_it"]),
    ("INV is ignored", COUNTERS, "bool invert = c->invert && c->cmask;", "bool invert = false;", ["inv_counts_cycles_below_cmask"]),
    ("INV without CMASK", COUNTERS, "config.by_cycle = (config.edge || config.cmask)", "config.by_cycle = (config.edge || config.cmask || config.invert)", ["inv_counts_cycles_below_cmask"]),
    ("E is ignored", COUNTERS, "return c->edge ? rises : holds ? n : 0;", "(void)rises; return holds ? n : 0;", ["edge_counts_rises_of_the_condition"]),
    ("conditions hold in every ring", COUNTERS, "bool holds = enabled && condition_holds", "(void)enabled; bool holds = condition_holds", ["conditions_hold_in_counted_rings_only"]),
    ("no status bit", COUNTERS, "pmu->global_status |= ARCH_BIT(status_bit);", "(void)status_bit;", ["overflow_sets_its_status_bit"]),
    ("overflow one event late", COUNTERS, "return n > room;", "return n > room + 1;", ["overflow_comes_with_the_carry"]),
    ("the deadline is late", COUNTERS, "n / EVENTS_PER_SLOT + (n % EVENTS_PER_SLOT != 0)", "n + 1", ["the_deadline_is_never_late"]),
    ("OVF_CTRL clears all", MSR, "pmu->global_status &= ~value;", "pmu->global_status = 0;", ["status_reset_clears_what_it_names"]),
    ("STATUS_SET replaces", MSR, "pmu->global_status |= value;", "pmu->global_status = value;", ["status_set_sets_without_a_pmi"]),
    ("INUSE by EN", MSR, "if (pmu->perfevtsel[n] & PERFEVTSEL_EVENT)", "if (pmu->perfevtsel[n] & PERFEVTSEL_EN)", ["inuse_shows_what_is_programmed"]),
    ("INT is ignored", COUNTERS, "if (c->interrupt &&", "if ((c->interrupt || true) &&", ["pmi_needs_the_interrupt_bit", "overflow_without_pmi_does_not_freeze"]),
    ("version 1 has no PMI", COUNTERS, "if (c->interrupt &&", "if (c->interrupt && pmu->profile->pmu.version > 1 &&", ["version_1_pmi"]),
    ("no skid", COUNTERS, "cpu->now + (uint64_t)pmu->profile->pmu.skid", "cpu->now + 0 * (uint64_t)pmu->profile->pmu.skid", ["pmi_comes_after_the_skid"]),
    ("the PMI leaves the LVT unmasked", LAPIC, "mask_perfmon(l);\n        receive_fixed", "receive_fixed",
     ["pmi_masks_its_lvt_entry", "pmu: the local APIC has masked the entry"]),
    ("the mask is ignored", LAPIC, "if (!enabled(l) || (lvt & APIC_LVT_MASK)) {", "if (!enabled(l)) {", ["pmi_masks_its_lvt_entry", "pmu: while the entry is masked it is lost"]),
    ("a PMI as NMI is fixed", LAPIC, "cpu_attend(l->cpu, ATTN_NMI);\n        break;\n    case MODE_SMI: /* there is no system", "receive_fixed(l, 0xe0);\n        break;\n    case MODE_SMI: /* there is no system",
     ["pmi_as_nmi", "pmu: a PMI as NMI comes with IF = 0"]),
    ("SVR does not mask", LAPIC, "            l->lvt[i] |= APIC_LVT_MASK;\n    cpu_reschedule", "            (void)l->lvt[i];\n    cpu_reschedule", ["software_disabled_apic_takes_no_pmi"]),
    ("each overflow its own PMI", PMU, "pmu->pmi_due = NEVER;\n    freeze(pmu);", "pmu->pmi_due = pmu->global_status & 2 ? pmu->cpu->now + 1 : NEVER;\n    freeze(pmu);", ["one_pmi_for_overflows_that_meet"]),
    ("freezes always", PMU, "if (pmu->debugctl & DEBUGCTL_FREEZE_PERFMON_ON_PMI) {", "if (true) {", ["without_the_freeze_bit_counters_go_on"]),
    ("streamlined freeze in version 3", PMU, "bool streamlined = pmu->profile->pmu.version >= 4;", "bool streamlined = pmu->profile->pmu.version >= 3;", ["legacy_freeze_clears_global_ctrl"]),
    ("legacy freeze in version 4", PMU, "bool streamlined = pmu->profile->pmu.version >= 4;", "bool streamlined = pmu->profile->pmu.version >= 5;", ["streamlined_freeze_sets_ctr_frz", "freeze_lbrs_on_pmi_by_version"]),
    ("CTR_FRZ does not stop", COUNTERS, "version >= 4 && (pmu->global_status & GLOBAL_STATUS_CTR_FRZ)", "false", ["ctr_frz_set_by_software_stops_counting"]),
    ("IF is ignored", EVENTS, " || !(cpu_rflags(cpu) & RFLAGS_IF))", ")", ["pmu: with IF = 0 it waits"]),
    ("no interrupt shadow", EVENTS, "bool shadow = cpu->shadow && cpu->state == CPU_RUNNING;", "bool shadow = false;", ["pmu: after the interrupt shadow of STI"]),
    ("NMIs are not blocked", EVENTS, "cpu->nmi_blocked = true;", "cpu->nmi_blocked = false;", ["pmu: the next one waits while NMIs are blocked"]),
    ("the TPR is ignored", LAPIC, "return vector >= 0 && (vector & 0xf0) > (processor_priority(l) & 0xf0) ? vector : -1;", "return vector;", ["pmu: the TPR holds the fixed PMI back"]),
    ("a PMI does not wake HLT", EVENTS, "    cpu->state = CPU_RUNNING;\n    deliver(cpu, EVENT_INTERRUPT", "    deliver(cpu, EVENT_INTERRUPT", ["pmu: a PMI on its way wakes HLT"]),
    ("reserved bits without P", PAGING, "error | PF_P | PF_RSVD", "error | PF_RSVD", ["paging: reserved bit 51 in a page table entry: P RSVD", "protected: reserved bit 21 in a 4 MiB directory entry: P RSVD"]),
    ("bits below a large page's size are free", PAGING, "reserved |= (ARCH_BIT(12 + (level - 1) * m->index_bits) - 1) & ~0x1fffull;", ";", ["paging: reserved bit 13 in a 2 MiB directory entry: P RSVD", "paging: reserved bit 13 in a 1 GiB entry: P RSVD"]),
    ("XD is not reserved without NXE", PAGING, "if (!(cpu->efer & EFER_NXE))\n        reserved", "if (false)\n        reserved", ["paging: EFER.NXE = 0: bit 63 is reserved: P RSVD"]),
    ("CR0.WP is ignored", PAGING, " || !(cpu->cr0 & CR0_WP)", "", ["paging: CR0.WP = 0: the supervisor writes read-only pages"]),
    ("WP = 0 for ring 3 too", PAGING, "return user_page && (access != ACCESS_WRITE || writable);", "return user_page && (access != ACCESS_WRITE || writable || !(cpu->cr0 & CR0_WP));", ["paging: CR0.WP = 0 does not let ring 3 write: P W U"]),
    ("no A bits", PAGING, "uint64_t set = PTE_A |", "uint64_t set =", ["paging: a read sets A"]),
    ("D by reads", PAGING, "i == depth - 1 && access == ACCESS_WRITE ? PTE_D", "i == depth - 1 ? PTE_D", ["paging: a read sets A"]),
    ("fetch without I", PAGING, "error |= PF_I;", "error |= 0;", ["paging: fetch from a page that is not present: I"]),
    ("U is missing", PAGING, "error |= PF_U;", "error |= 0;", ["paging: ring 3 reads a supervisor page: P U"]),
    ("EXT with INT n", DELIVER, "? 0 : ERROR_EXT", "? ERROR_EXT : ERROR_EXT", ["exceptions: INT n through a gate that is not present: #NP, IDT"]),
    ("faults push no RF", DELIVER, "(event_sets_rf(e) ? RFLAGS_RF : 0)", "0 * event_sets_rf(e)", ["exceptions: a fault pushes RF = 1"]),
    ("the frame is not aligned", DELIVER, "st.sp &= ~(uint64_t)(STACK_ALIGN - 1);", "st.sp &= ~(uint64_t)0;", ["exceptions: so it is"]),
    ("IST is ignored", DELIVER, "g->ist = lm ? w[1] & 7 : 0;", "g->ist = 0;", ["exceptions: the frame lies at the top of IST1"]),
    ("trap gates clear IF", DELIVER, "if (g.type == SYS_INT || g.type == SYS_INT16)\n        flags &=", "flags &=", ["exceptions: a trap gate leaves IF"]),
    ("FMASK is ignored", CALL, "flags & ~cpu->fmask", "flags", ["privilege: FMASK cleared DF"]),
    ("SYSCALL without SCE", CALL, "!cpu_64bit(cpu) || !(cpu->efer & EFER_SCE)", "!cpu_64bit(cpu)", ["privilege: it is the SYSCALL that faults"]),
    ("SYSRET takes any address", CALL, "(to_64 && !canonical(cpu->r[RCX]))", "false", ["privilege: in ring 0"]),
    ("CR8 takes any value", CR, "if (value >> 4)\n            return false;", "", ["control: CR8 above 15: #GP"]),
    ("LMSW clears PE", CR, "(mask & ~(uint64_t)CR0_PE)", "mask", ["control: LMSW cannot clear PE"]),
    ("breakpoints ignore RF", DEBUG, "|| s->rf_armed ||", "||", ["debug: RF = 1 from IRETQ steps over it"]),
    ("RF stays", DEBUG, "cpu_set_rflags(cpu, cpu_rflags(cpu) & ~(uint64_t)RFLAGS_RF);", ";", ["debug: RF lasts one instruction"]),
    ("general detect stays", DEBUG, "cpu->dr[7] &= ~(uint64_t)DR7_GD;", ";", ["debug: DR7.GD is cleared"]),
    ("EOI ends all", LAPIC, "if (vector >= 0)\n        clear_bit(l->isr, vector);", "while ((vector = highest(l->isr)) >= 0)\n        clear_bit(l->isr, vector);", ["interrupts: EOI ends the higher one"]),
    ("the same class interrupts", LAPIC, "(vector & 0xf0) > (processor_priority(l) & 0xf0) ? vector", "vector > processor_priority(l) ? vector", ["interrupts: the same class waits for EOI"]),
    ("EDX's width one bit off", PROFILE, "p->pmu.fixed | p->pmu.fixed_width << 5", "p->pmu.fixed | p->pmu.fixed_width << 6", ["leaf_0ah_tells_version_numbers_widths"]),
    ("core cycles count nothing", COUNTERS, "return total / p->uarch.retire_width;", "return 0;", ["announced_events_count", "clocks_run_at_their_rates"]),
    ("every event counts instructions", COUNTERS, ".event = e ? e->what : EV_ABSENT,", ".event = e ? EV_INSN : EV_ABSENT,", ["only_the_selected_event_counts"]),
    ("RDPMC and RDMSR keep the upper half", SYSTEM_MSR, "cpu->r[RAX] = (uint32_t)value;", "cpu->r[RAX] = (cpu->r[RAX] & ~0xffffffffULL) | (uint32_t)value;", ["pmu: RDPMC: a general counter; the upper half of RAX is 0"]),
    ("RDPMC masks the fixed index", MSR, "return read_fixed(pmu, index, value);", "return read_fixed(pmu, index & 1, value);", ["rdpmc_forms", "pmu: RDPMC past the fixed counters: #GP"]),
    ("system instructions count twice", "sim/cpu/exec.c", "cpu->total[class][EV_INSN]++;", "cpu->total[class][EV_INSN] += 2;",
     ["pmu: INT n, one instruction in the handler, IRETQ", "pmu: UD2 does not retire; two instructions in the handler do", "pmu: an interrupt: four around it, two in the handler"]),
    ("a REP of none counts nothing", "sim/cpu/ops_string.c", "spend(cpu, 1, 0, 0);", "spend(cpu, 0, 0, 0);", ["pmu: a REP of none is one"]),
    ("the PMI's vector is one off", LAPIC, "mask_perfmon(l);\n        receive_fixed(l, vector);", "mask_perfmon(l);\n        receive_fixed(l, vector + 1);", ["pmu: a PMI by the fixed vector"]),
    ("what comes while IF = 0 is lost", LAPIC, "if (!software_enabled(l))\n        return;\n    if (vector", "if (!software_enabled(l) || !(cpu_rflags(l->cpu) & RFLAGS_IF))\n        return;\n    if (vector", ["pmu: and comes when IF is set"]),
    ("lowering the TPR lets nothing go", LAPIC, "l->tpr = tpr;\n    update(l);", "l->tpr = tpr;", ["pmu: and lets it go"]),
    ("IRET does not end the blocking of NMIs", "sim/cpu/system_far.c", "cpu->nmi_blocked = false;", ";", ["pmu: until IRET"]),
    ("a masked PMI does not freeze", PMU, "freeze(pmu);", "uint64_t pmis = pmu->cpu->stats.pmis;\n    lapic_pmi(pmu->cpu->lapic);\n    if (pmu->cpu->stats.pmis != pmis)\n        freeze(pmu);\n    return;", ["masked_pmi_freezes_all_the_same"]),
    ("plain instructions count twice", "sim/cpu/exec.c", "total[EV_INSN] += (uint64_t)(e->insns - f->insns) * sign;", "total[EV_INSN] += 2 * (uint64_t)(e->insns - f->insns) * sign;", ["pmu: three NOPs are three instructions"]),
    ("each iteration of REP counts", "sim/cpu/ops_string.c", "total[EV_INSN] += insns;", "total[EV_INSN] += 1 + 0 * insns;", ["pmu: a REP STOSB of 1000 is one", "pmu: a REPE CMPSB is one"]),
]


def build(tree):
    guests = [f"m/test/guests/{guest}.elf" for guest in GUESTS]
    return subprocess.run(
        ["make", "-s", "O=m", "m/test/unit/unit_model", "m/pmusim", *guests], cwd=tree, capture_output=True, text=True, check=False
    )


def run_guest(tree, guest):
    """What it printed; a broken machine may hang or print for ever."""
    command = [tree / "m/pmusim", "--max-insns", "5000000", tree / f"m/test/guests/{guest}.elf"]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120).stdout


def green(tree):
    """The names of all tests that pass."""
    host = subprocess.run(
        [tree / "m/test/unit/unit_model"], capture_output=True, text=True, check=False, timeout=120, env={"CMOCKA_MESSAGE_OUTPUT": "TAP"}
    )
    passed = set(re.findall(r"^ok \d+ - (\w+)$", host.stdout, re.MULTILINE))
    for guest in GUESTS:
        passed |= {f"{guest}: {text}" for text in re.findall(r"^ok \d+ - (.*)$", run_guest(tree, guest), re.MULTILINE)}
    return passed


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    root = pathlib.Path(__file__).resolve().parents[2]
    tree = pathlib.Path(sys.argv[1]).resolve() / "tree"
    wanted = [m for m in MUTANTS if (len(sys.argv) < 3 or sys.argv[2] in m[0])]
    if tree.exists():
        shutil.rmtree(tree)
    shutil.copytree(root, tree, ignore=shutil.ignore_patterns(".git", "build"))
    made = build(tree)
    if made.returncode:
        sys.exit(made.stderr)
    whole = green(tree)
    missing = [test for *_, tests in wanted for test in tests if test not in whole]
    if missing:
        sys.exit(f"these do not pass as it is: {missing}")
    print(f"TAP version 14\n1..{len(wanted)}")
    survived = 0
    for number, (name, file, old, new, tests) in enumerate(wanted, 1):
        path = tree / file
        original = path.read_text()
        why = ""
        if old not in original:
            why = "the text to change is no longer there"
        else:
            path.write_text(original.replace(old, new, 1))
            made = build(tree)
            if made.returncode:
                why = "does not build: " + next((line for line in made.stderr.splitlines() if "error" in line), "?")
            else:
                passed = green(tree)
                unnoticed = [test for test in tests if test in passed]
                why = f"not noticed by {', '.join(unnoticed)}" if unnoticed else ""
            path.write_text(original)
        survived += bool(why)
        print(f"{'not ok' if why else 'ok'} {number} - {name}{': ' + why if why else ''}", flush=True)
    sys.exit(1 if survived else 0)


main()
