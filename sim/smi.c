/* System-management interrupts. */
#include "sim/smi.h"

#include <errno.h>
#include <stdlib.h>

#include "sim/pmu/pmu.h"

#define NEVER            UINT64_MAX
#define EVERY_MIN        2000 /* core cycles: the program must get on */
#define INSNS            2000
#define BRANCHES         200
#define INSNS_MAX        1000000
#define NUMBERS          3
#define SEPARATOR        ':'
#define SMM_ENTRY        0x38000 /* SMBASE + 8000H, SDM vol. 3 "SMRAM" */
#define SMM_BRANCH_BYTES 2

/* ---- The word ---- */

bool smi_choose(struct smi *s, const char *text)
{
    uint64_t value[NUMBERS] = {0, INSNS, BRANCHES};

    for (unsigned i = 0; i < NUMBERS; i++) {
        char *end;
        errno = 0;
        value[i] = strtoull(text, &end, 0);
        if (text[0] < '0' || text[0] > '9' || errno != 0)
            return false;
        if (*end == '\0' && i == 1 && value[2] > value[1])
            value[2] = value[1]; /* the default, of a handler that is shorter */
        if (*end == '\0')
            break;
        if (*end != SEPARATOR || i == NUMBERS - 1)
            return false;
        text = end + 1;
    }
    if (value[0] < EVERY_MIN || value[0] > INT32_MAX || value[1] < 1 || value[1] > INSNS_MAX ||
        value[2] > value[1])
        return false;
    s->every = value[0];
    s->insns = value[1];
    s->branches = value[2];
    return true;
}

/* ---- When ---- */

static uint64_t from_now(const struct smi *s, const struct cpu *cpu)
{
    return cpu->now + s->every * cpu->profile->uarch.retire_width;
}

void smi_start(struct smi *s, const struct cpu *cpu)
{
    s->next[cpu->index] = from_now(s, cpu);
}

uint64_t smi_deadline(const struct smi *s, const struct cpu *cpu)
{
    return s->every && cpu->state == CPU_RUNNING ? s->next[cpu->index] : NEVER;
}

/* ---- What passes in SMM ---- */

/* SMM runs at CPL 0 ("SMI Handler Execution Environment"), and nothing says that its instructions
 * are not counted and its branches not recorded: DEBUGCTL.FREEZE_WHILE_SMM is there because they
 * are. The manual leaves open whether entry and RSM are recorded; here they are not. */
static void run_handler(const struct smi *s, struct cpu *cpu)
{
    uint64_t *total = cpu->total[0], slots = s->insns * cpu->profile->uarch.retire_width;
    unsigned cpl = cpu->cpl;

    total[EV_INSN] += s->insns;
    total[EV_UOPS] += s->insns;
    total[EV_BRANCH] += s->branches;
    total[EV_BRANCH_COND] += s->branches;
    total[EV_BRANCH_TAKEN] += s->branches;
    total[EV_SLOTS] += slots;
    total[EV_SLOTS_BACKEND] += slots - s->insns;
    cpu->now += slots;
    cpu->cpl = 0;
    for (uint64_t i = 0; i < s->branches && cpu->want_branches; i++)
        pmu_branch(cpu->pmu, BR_JCC, SMM_ENTRY + SMM_BRANCH_BYTES * (i + 1), SMM_ENTRY, 0, false);
    cpu->cpl = cpl;
}

void smi_tick(struct smi *s, struct cpu *cpu)
{
    if (cpu->now < smi_deadline(s, cpu))
        return;
    cpu->smi_count++;
    pmu_enter_smm(cpu->pmu);
    run_handler(s, cpu);
    pmu_leave_smm(cpu->pmu);
    if (s->spoils && cpu->want_branches)
        pmu_branch(cpu->pmu, BR_FAR, SMM_ENTRY, cpu->rip, 0, false);
    smi_start(s, cpu);
    cpu_reschedule(cpu);
}
