/* From the RSDP to the processors of the MADT. Nothing here is trusted: lengths and checksums come
 * first. */
#include "kernel/acpi.h"

#include "kernel/string.h"

#define RSDP_RSDT       16
#define RSDP_XSDT       24
#define RSDP_V2         36
#define HEADER_SIZE     36
#define HEADER_LENGTH   4
#define TABLE_MAX       (1 << 24) /* the DSDT of a large server has some MiB */
#define GAS_SIZE        12
#define GAS_ADDRESS     4
#define MADT_ENTRIES    (HEADER_SIZE + 8)
#define ENTRY_HEADER    2 /* type, length */
#define LAPIC_ENABLED   1
#define XAPIC_BROADCAST 0xff
#define X2APIC_NO_ID    0xffffffff

uint64_t acpi_little(const uint8_t *p, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)p[i] << (8 * i);
    return value;
}

static bool sum_is_zero(const uint8_t *p, size_t size)
{
    uint8_t sum = 0;
    for (size_t i = 0; i < size; i++)
        sum = (uint8_t)(sum + p[i]);
    return sum == 0;
}

/* The table at address, whole, when it has the signature ("System Description Table Header"). NULL,
 * with *error set only when it is that table and broken. */
const uint8_t *acpi_table_at(uint64_t address, const char *signature, acpi_reader read,
                             size_t *length, const char **error)
{
    const uint8_t *header = address ? read(address, HEADER_SIZE) : NULL;
    if (!header || memcmp(header, signature, 4) != 0)
        return NULL;
    *length = (size_t)acpi_little(header + HEADER_LENGTH, 4);
    if (*length < HEADER_SIZE || *length > TABLE_MAX) {
        *error = "the length of an ACPI table makes no sense";
        return NULL;
    }
    const uint8_t *whole = read(address, *length);
    if (!whole)
        *error = "an ACPI table lies where it cannot be read";
    else if (!sum_is_zero(whole, *length))
        *error = "the checksum of an ACPI table is wrong";
    else
        return whole;
    return NULL;
}

struct acpi_register acpi_gas(const uint8_t *table, size_t length, size_t offset)
{
    if (offset > length || length - offset < GAS_SIZE)
        return (struct acpi_register){0};
    const uint8_t *gas = table + offset;
    return (struct acpi_register){gas[0], acpi_little(gas + GAS_ADDRESS, 8)};
}

struct acpi_register acpi_fadt_register(const uint8_t *fadt, size_t length, size_t old, size_t gas)
{
    struct acpi_register wide = acpi_gas(fadt, length, gas);
    if (wide.address != 0 || old > length || length - old < 4)
        return wide;
    return (struct acpi_register){ACPI_IO, acpi_little(fadt + old, 4)};
}

static void add(struct acpi_processors *out, uint32_t apic_id, uint32_t flags)
{
    if (!(flags & LAPIC_ENABLED)) {
        out->disabled++;
        return;
    }
    for (unsigned i = 0; i < out->n; i++)
        if (out->apic_id[i] == apic_id)
            return;
    if (out->n == ACPI_MAX_PROCESSORS)
        out->left_out++;
    else
        out->apic_id[out->n++] = apic_id;
}

/* "Processor Local APIC Structure" */
static void local_apic(struct acpi_processors *out, const uint8_t *entry)
{
    if (entry[3] != XAPIC_BROADCAST)
        add(out, entry[3], (uint32_t)acpi_little(entry + 4, 4));
}

/* "Processor Local x2APIC Structure" */
static void local_x2apic(struct acpi_processors *out, const uint8_t *entry)
{
    uint32_t id = (uint32_t)acpi_little(entry + 4, 4);
    if (id != X2APIC_NO_ID)
        add(out, id, (uint32_t)acpi_little(entry + 8, 4));
}

static const struct {
    uint8_t type, size;
    void (*take)(struct acpi_processors *out, const uint8_t *entry);
} entries[] = {{0, 8, local_apic}, {9, 16, local_x2apic}};

static void read_madt(struct acpi_processors *out, const uint8_t *madt, size_t length)
{
    if (length < MADT_ENTRIES) {
        out->error = "the MADT is shorter than its header";
        return;
    }
    for (size_t at = MADT_ENTRIES; at < length;) {
        size_t left = length - at, size = left < ENTRY_HEADER ? 0 : madt[at + 1];
        if (size < ENTRY_HEADER || size > left) {
            out->error = "an entry of the MADT has a length that makes no sense; the rest is "
                         "ignored";
            return;
        }
        for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
            if (entries[i].type == madt[at] && entries[i].size <= size)
                entries[i].take(out, madt + at);
        at += size;
    }
}

/* A table through the RSDT (pointers of 4 bytes) or the XSDT (of 8). */
static const uint8_t *through(uint64_t root, const char *root_signature, unsigned pointer,
                              const char *signature, acpi_reader read, size_t *length,
                              const char **error)
{
    size_t root_length;
    const uint8_t *pointers = acpi_table_at(root, root_signature, read, &root_length, error);
    if (!pointers)
        return NULL;
    for (size_t at = HEADER_SIZE; root_length - at >= pointer; at += pointer) {
        uint64_t address = acpi_little(pointers + at, pointer);
        const uint8_t *found = acpi_table_at(address, signature, read, length, error);
        if (found)
            return found;
    }
    return NULL;
}

const uint8_t *acpi_find_table(const uint8_t *rsdp, size_t rsdp_size, const char *signature,
                               acpi_reader read, size_t *length, const char **error)
{
    const uint8_t *found = NULL;

    *error = NULL;
    if (rsdp_size < RSDP_RSDT + 4) {
        *error = "no ACPI RSDP in the boot information";
        return NULL;
    }
    if (rsdp_size >= RSDP_V2)
        found =
            through(acpi_little(rsdp + RSDP_XSDT, 8), "XSDT", 8, signature, read, length, error);
    if (!found)
        found =
            through(acpi_little(rsdp + RSDP_RSDT, 4), "RSDT", 4, signature, read, length, error);
    return found;
}

bool acpi_find_processors(struct acpi_processors *out, const uint8_t *rsdp, size_t rsdp_size,
                          acpi_reader read)
{
    const char *error;
    size_t length = 0;

    memset(out, 0, sizeof(*out));
    const uint8_t *madt = acpi_find_table(rsdp, rsdp_size, "APIC", read, &length, &error);
    if (madt)
        read_madt(out, madt, length);
    else
        out->error = error ? error : "no MADT among the ACPI tables";
    if (out->n == 0 && !out->error)
        out->error = "no enabled processor in the MADT";
    return out->n > 0;
}
