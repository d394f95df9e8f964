/* The FADT's registers, and \_S5 found in the DSDT by its bytes. Nothing here is trusted. */
#include "kernel/power.h"

#include "kernel/string.h"

/* "Fixed ACPI Description Table (FADT)": offsets. */
#define FADT_DSDT          40
#define FADT_SMI_CMD       48
#define FADT_ACPI_ENABLE   52
#define FADT_PM1A_CNT      64
#define FADT_PM1B_CNT      68
#define FADT_RESET_REG     116
#define FADT_RESET_VALUE   128
#define FADT_X_DSDT        140
#define FADT_X_PM1A_CNT    172
#define FADT_X_PM1B_CNT    184
#define FADT_SLEEP_CONTROL 244

#define HEADER_SIZE 36
#define SLP_TYP_MAX 7

/* "ACPI Machine Language (AML) Specification": the bytes of Name (\_S5, Package () {a, b, ...}). */
#define AML_ZERO          0x00
#define AML_ONE           0x01
#define AML_NAME          0x08
#define AML_BYTE          0x0a
#define AML_WORD          0x0b
#define AML_DWORD         0x0c
#define AML_PACKAGE       0x12
#define AML_ROOT          '\\'
#define AML_LENGTH_SHIFT  6 /* PkgLength: how many bytes follow its first */
#define S5_NAME           "_S5_"
#define S5_NAME_SIZE      4
#define S5_ELEMENTS_LEAST 2

struct bytes {
    const uint8_t *at, *end;
};

static size_t left(const struct bytes *in)
{
    return (size_t)(in->end - in->at);
}

/* A constant of AML that fits SLP_TYP. False: it is something else. */
static bool take_type(struct bytes *in, uint8_t *type)
{
    static const struct {
        uint8_t prefix, size;
    } constants[] = {{AML_BYTE, 1}, {AML_WORD, 2}, {AML_DWORD, 4}};

    if (left(in) == 0)
        return false;
    uint8_t op = *in->at++;
    *type = op;
    if (op == AML_ZERO || op == AML_ONE)
        return true;
    for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++) {
        if (constants[i].prefix != op || left(in) < constants[i].size)
            continue;
        uint64_t value = acpi_little(in->at, constants[i].size);
        in->at += constants[i].size;
        *type = (uint8_t)value;
        return value <= SLP_TYP_MAX;
    }
    return false;
}

/* The package's own end, from its PkgLength. False: it does not lie in what there is. */
static bool enter_package(struct bytes *in)
{
    const uint8_t *start = in->at + 1;
    if (left(in) < 2 || in->at[0] != AML_PACKAGE)
        return false;
    unsigned more = start[0] >> AML_LENGTH_SHIFT;
    if (left(in) < 2 + more)
        return false;
    /* One byte has 6 bits of the length; with more, the first has 4 and they the rest. */
    uint64_t length = more ? (start[0] & 0xf) | acpi_little(start + 1, more) << 4 : start[0];
    if (length < 1 + more || length > (uint64_t)(in->end - start))
        return false;
    in->at = start + 1 + more;
    in->end = start + length;
    return true;
}

static bool take_s5(struct bytes in, uint8_t type[2])
{
    if (!enter_package(&in) || left(&in) == 0 || *in.at++ < S5_ELEMENTS_LEAST)
        return false;
    return take_type(&in, &type[0]) && take_type(&in, &type[1]);
}

/* Does a NameOp stand before this name, with or without the root's sign? */
static bool is_named(const uint8_t *aml, size_t at)
{
    if (at >= 1 && aml[at - 1] == AML_NAME)
        return true;
    return at >= 2 && aml[at - 1] == AML_ROOT && aml[at - 2] == AML_NAME;
}

static bool find_s5(const uint8_t *aml, size_t size, uint8_t type[2])
{
    for (size_t at = 0; at + S5_NAME_SIZE <= size; at++) {
        struct bytes behind = {aml + at + S5_NAME_SIZE, aml + size};
        if (memcmp(aml + at, S5_NAME, S5_NAME_SIZE) == 0 && is_named(aml, at) &&
            take_s5(behind, type))
            return true;
    }
    return false;
}

static const uint8_t *find_fadt(const uint8_t *rsdp, size_t rsdp_size, acpi_reader read,
                                size_t *length, const char **why)
{
    const char *error;
    const uint8_t *fadt = acpi_find_table(rsdp, rsdp_size, "FACP", read, length, &error);
    if (!fadt)
        *why = error ? error : "no FADT among the ACPI tables";
    else if (*length < FADT_SIZE_1)
        *why = "the FADT is shorter than ACPI 1.0's";
    else
        return fadt;
    return NULL;
}

/* X_DSDT holds when it is there and not 0. */
static uint64_t dsdt_address(const uint8_t *fadt, size_t length)
{
    uint64_t wide = length >= FADT_X_DSDT + 8 ? acpi_little(fadt + FADT_X_DSDT, 8) : 0;
    return wide ? wide : acpi_little(fadt + FADT_DSDT, 4);
}

static bool reaches(struct acpi_register where)
{
    return where.space == ACPI_MEMORY || (where.space == ACPI_IO && where.address <= UINT16_MAX);
}

static const char *find_controls(struct power_off *out, const uint8_t *fadt, size_t length)
{
    struct acpi_register found[2] = {
        acpi_fadt_register(fadt, length, FADT_PM1A_CNT, FADT_X_PM1A_CNT),
        acpi_fadt_register(fadt, length, FADT_PM1B_CNT, FADT_X_PM1B_CNT),
    };
    out->reduced = acpi_little(fadt + FADT_FLAGS, 4) & FADT_HW_REDUCED;
    if (out->reduced) {
        found[0] = acpi_gas(fadt, length, FADT_SLEEP_CONTROL);
        found[1].address = 0;
    }
    if (found[0].address == 0)
        return out->reduced ? "the FADT names no sleep control register"
                            : "the FADT names no PM1a control register";
    while (out->n < 2 && found[out->n].address != 0) {
        if (!reaches(found[out->n]))
            return "the FADT's control register lies where the kernel cannot write";
        out->control[out->n] = found[out->n];
        out->n++;
    }
    return NULL;
}

const char *power_find_off(struct power_off *out, const uint8_t *rsdp, size_t rsdp_size,
                           acpi_reader read)
{
    const char *why = NULL;
    size_t length;

    memset(out, 0, sizeof(*out));
    const uint8_t *fadt = find_fadt(rsdp, rsdp_size, read, &length, &why);
    if (!fadt)
        return why;
    why = find_controls(out, fadt, length);
    if (why)
        return why;
    uint64_t smi_port = acpi_little(fadt + FADT_SMI_CMD, 4);
    if (smi_port <= UINT16_MAX && fadt[FADT_ACPI_ENABLE] != 0) {
        out->smi_port = (uint16_t)smi_port;
        out->smi_enable = fadt[FADT_ACPI_ENABLE];
    }
    why = "no DSDT where the FADT says";
    const uint8_t *dsdt = acpi_table_at(dsdt_address(fadt, length), "DSDT", read, &length, &why);
    if (!dsdt)
        return why;
    if (!find_s5(dsdt + HEADER_SIZE, length - HEADER_SIZE, out->type))
        return "no package \\_S5 in the DSDT that can be read without an interpreter of AML";
    return NULL;
}

const char *power_find_reset(struct power_reset *out, const uint8_t *rsdp, size_t rsdp_size,
                             acpi_reader read)
{
    const char *why = NULL;
    size_t length;

    memset(out, 0, sizeof(*out));
    const uint8_t *fadt = find_fadt(rsdp, rsdp_size, read, &length, &why);
    if (!fadt)
        return why;
    if (!(acpi_little(fadt + FADT_FLAGS, 4) & FADT_RESET_REG_SUP) || length <= FADT_RESET_VALUE)
        return "the FADT names no reset register";
    out->control = acpi_gas(fadt, length, FADT_RESET_REG);
    out->value = fadt[FADT_RESET_VALUE];
    /* Offset 0 of function 0 of device 0 of PCI is a vendor's ID: no reset register either. */
    if (out->control.address == 0)
        return "the FADT's reset register has the address 0";
    if (!reaches(out->control) && out->control.space != ACPI_PCI)
        return "the FADT's reset register lies where the kernel cannot write";
    return NULL;
}
