/*
 * What else a PC has at its I/O ports, as far as a kernel may look: ports 80H and 92H, PCI
 * configuration ports of a bus without devices, and two devices that QEMU invented and bare-metal
 * tests rely on, fw_cfg and the debug-exit port.
 */
#include <string.h>

#include "sim/dev/internal.h"

/* ---- fw_cfg (QEMU docs/specs/fw_cfg, the I/O port interface without DMA) ---- */

#define FW_CFG_SELECTOR       0x510
#define FW_CFG_DATA           0x511
#define FW_CFG_SIGNATURE      0x00
#define FW_CFG_ID             0x01
#define FW_CFG_RAM_SIZE       0x03
#define FW_CFG_NB_CPUS        0x05
#define FW_CFG_MAX_CPUS       0x0f
#define FW_CFG_FILE_DIR       0x19
#define FW_CFG_ID_TRADITIONAL 1

static uint8_t fw_cfg_byte(struct cpu *cpu, uint16_t key, uint32_t offset)
{
    struct machine *m = cpu->machine;
    const struct {
        uint16_t key;
        uint8_t length;
        uint64_t value; /* little-endian */
    } items[] = {
        {FW_CFG_SIGNATURE, 4, 0x554d4551 /* "QEMU" */},
        {FW_CFG_ID, 4, FW_CFG_ID_TRADITIONAL},
        {FW_CFG_RAM_SIZE, 8, m->ram_size},
        {FW_CFG_NB_CPUS, 2, m->n_cpus},
        {FW_CFG_MAX_CPUS, 2, m->n_cpus},
        {FW_CFG_FILE_DIR, 4, 0}, /* no files */
    };

    for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++)
        if (items[i].key == key)
            return offset < items[i].length ? items[i].value >> (8 * offset) : 0;
    return 0; /* a key that does not exist reads as zeros */
}

uint32_t fw_cfg_in(struct cpu *cpu, uint16_t port, unsigned bytes)
{
    struct devices *d = devices_of(cpu);

    (void)bytes;
    return port == FW_CFG_DATA ? fw_cfg_byte(cpu, d->fw_cfg_key, d->fw_cfg_offset++) : 0xff;
}

void fw_cfg_out(struct cpu *cpu, uint16_t port, unsigned bytes, uint32_t value)
{
    struct devices *d = devices_of(cpu);

    if (port != FW_CFG_SELECTOR || bytes < 2)
        return;
    d->fw_cfg_key = value;
    d->fw_cfg_offset = 0;
}

/* ---- Ports 80H (POST codes), 92H (A20, always on), CF8H (PCI configuration address) ---- */

#define PORT_POST        0x80
#define PORT_SYSTEM_A    0x92
#define PORT_SYSTEM_A20  0x02
#define PCI_ADDRESS      0xcf8
#define PCI_ADDRESS_BITS 0x80fffffcu

uint32_t platform_in(struct cpu *cpu, uint16_t port, unsigned bytes)
{
    struct devices *d = devices_of(cpu);

    switch (port) {
    case PORT_POST:
        return d->port80;
    case PORT_SYSTEM_A:
        return d->port92 | PORT_SYSTEM_A20;
    default: /* CF8H is a register for 32-bit accesses alone; the data port answers all ones */
        return port == PCI_ADDRESS && bytes == 4 ? d->pci_address : UINT32_MAX;
    }
}

void platform_out(struct cpu *cpu, uint16_t port, unsigned bytes, uint32_t value)
{
    struct devices *d = devices_of(cpu);

    switch (port) {
    case PORT_POST:
        d->port80 = value;
        break;
    case PORT_SYSTEM_A:
        d->port92 = value & ~1u; /* bit 0, fast reset, is not wired */
        break;
    default:
        if (port == PCI_ADDRESS && bytes == 4)
            d->pci_address = value & PCI_ADDRESS_BITS;
        break;
    }
}

/* ---- Debug exit (QEMU's isa-debug-exit): the guest ends the run ---- */

void debug_exit_out(struct cpu *cpu, uint16_t port, unsigned bytes, uint32_t value)
{
    (void)port, (void)bytes;
    cpu->machine->exit_value = value;
    machine_stop(cpu->machine, STOP_DEBUG_EXIT);
}
