/*
 * Reads a kernel image: Multiboot headers, the header of a bzImage, ELF program headers and notes.
 * Nothing in the file is trusted:
 * every offset and size is checked before it is used, with 64-bit sums that cannot wrap because
 * each part is at most 32 bits or has been compared with the file's size first.
 * Sources: Multiboot2 Specification "OS image format"; Multiboot Specification "OS image format";
 * System V ABI "ELF Header", "Program Header", "Note Section"; Linux, Documentation/x86/boot.rst;
 * Xen, docs/misc/pvh.pandoc.
 */
#include <elf.h>
#include <inttypes.h>
#include <string.h>

#include "sim/linux.h"
#include "sim/loader.h"
#include "sim/multiboot.h"

struct image {
    const uint8_t *data;
    size_t size;
    FILE *err;
};

/* The fields of either header that give the addresses of an image that is not ELF. */
struct addresses {
    bool given;
    uint32_t header, load, load_end, bss_end;
};

static bool inside(const struct image *im, uint64_t offset, uint64_t length)
{
    return offset <= im->size && length <= im->size - offset;
}

static uint16_t get16(const uint8_t *p)
{
    return p[0] | p[1] << 8;
}

static uint32_t get32(const uint8_t *p)
{
    return get16(p) | (uint32_t)get16(p + 2) << 16;
}

static bool add_segment(struct load_plan *plan, const struct image *im, struct load_segment s)
{
    if (s.memory_size == 0)
        return true;
    if (plan->n_segments == LOADER_MAX_SEGMENTS) {
        fprintf(im->err, "more than %d segments to load\n", LOADER_MAX_SEGMENTS);
        return false;
    }
    plan->segment[plan->n_segments++] = s;
    return true;
}

/* ---- ELF ---- */

struct elf_segment {
    uint32_t type;
    uint64_t offset, virtual, physical, file_size, memory_size;
};

static struct elf_segment program_header(const uint8_t *p, bool elf64)
{
    struct elf_segment s;

    if (elf64) {
        Elf64_Phdr h;
        memcpy(&h, p, sizeof(h));
        s = (struct elf_segment){h.p_type, h.p_offset, h.p_vaddr, h.p_paddr, h.p_filesz, h.p_memsz};
    } else {
        Elf32_Phdr h;
        memcpy(&h, p, sizeof(h));
        s = (struct elf_segment){h.p_type, h.p_offset, h.p_vaddr, h.p_paddr, h.p_filesz, h.p_memsz};
    }
    return s;
}

static bool is_elf(const struct image *im)
{
    return im->size >= EI_NIDENT && memcmp(im->data, ELFMAG, SELFMAG) == 0;
}

/* False, with the reason, when this is no x86 ELF executable. */
static bool check_elf(const struct image *im)
{
    bool elf64;

    if (!is_elf(im)) {
        fprintf(im->err, "not an ELF file (it does not begin with 7FH 'E' 'L' 'F')\n");
        return false;
    }
    if (im->data[EI_CLASS] != ELFCLASS32 && im->data[EI_CLASS] != ELFCLASS64) {
        fprintf(im->err, "ELF class %u: must be 1 (32-bit) or 2 (64-bit)\n", im->data[EI_CLASS]);
        return false;
    }
    if (im->data[EI_DATA] != ELFDATA2LSB) {
        fprintf(im->err, "ELF data encoding %u: must be 1 (little-endian)\n", im->data[EI_DATA]);
        return false;
    }
    elf64 = im->data[EI_CLASS] == ELFCLASS64;
    if (im->size < (elf64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr))) {
        fprintf(im->err, "ELF file ends within its header\n");
        return false;
    }
    if (get16(im->data + 18) != (elf64 ? EM_X86_64 : EM_386)) {
        fprintf(im->err, "%s-bit ELF for machine %u: must be %u (%s)\n", elf64 ? "64" : "32",
                get16(im->data + 18), elf64 ? EM_X86_64 : EM_386, elf64 ? "x86-64" : "80386");
        return false;
    }
    if (get16(im->data + 16) != ET_EXEC) {
        fprintf(im->err, "ELF type %u: must be 2 (executable)\n", get16(im->data + 16));
        return false;
    }
    return true;
}

/* The parts of the ELF header that say where the program headers are. */
struct elf_table {
    uint64_t at, entry;
    unsigned entry_size, n;
    bool elf64;
};

static bool program_headers(struct elf_table *t, const struct image *im)
{
    unsigned minimum;

    if (!check_elf(im))
        return false;
    t->elf64 = im->data[EI_CLASS] == ELFCLASS64;
    if (t->elf64) {
        Elf64_Ehdr h;
        memcpy(&h, im->data, sizeof(h));
        t->at = h.e_phoff, t->entry_size = h.e_phentsize, t->n = h.e_phnum, t->entry = h.e_entry;
        minimum = sizeof(Elf64_Phdr);
    } else {
        Elf32_Ehdr h;
        memcpy(&h, im->data, sizeof(h));
        t->at = h.e_phoff, t->entry_size = h.e_phentsize, t->n = h.e_phnum, t->entry = h.e_entry;
        minimum = sizeof(Elf32_Phdr);
    }
    if (t->n == 0) {
        fprintf(im->err, "ELF file without program headers: nothing to load\n");
        return false;
    }
    if (t->entry_size < minimum || !inside(im, t->at, (uint64_t)t->n * t->entry_size)) {
        fprintf(im->err,
                "ELF program headers (%u of %u bytes at offset %" PRIu64
                ") do not lie within the file of %zu bytes\n",
                t->n, t->entry_size, t->at, im->size);
        return false;
    }
    return true;
}

static struct elf_segment nth_segment(const struct elf_table *t, const struct image *im, unsigned i)
{
    return program_header(im->data + t->at + (uint64_t)i * t->entry_size, t->elf64);
}

static bool plan_elf(struct load_plan *plan, const struct image *im)
{
    struct elf_table t;
    bool entry_found = false;

    if (!program_headers(&t, im))
        return false;
    for (unsigned i = 0; i < t.n; i++) {
        struct elf_segment s = nth_segment(&t, im, i);
        if (s.type != PT_LOAD)
            continue;
        if (s.file_size > s.memory_size || !inside(im, s.offset, s.file_size)) {
            fprintf(im->err,
                    "ELF segment %u (%" PRIu64 " bytes at offset %" PRIu64 ", %" PRIu64
                    " in memory) does not lie within the file of %zu bytes\n",
                    i, s.file_size, s.offset, s.memory_size, im->size);
            return false;
        }
        if (!add_segment(plan, im,
                         (struct load_segment){s.offset, s.file_size, s.physical, s.memory_size}))
            return false;
        /* e_entry is a virtual address; the machine starts without paging. */
        if (!entry_found && t.entry >= s.virtual && t.entry - s.virtual < s.memory_size) {
            plan->entry = t.entry - s.virtual + s.physical;
            entry_found = true;
        }
    }
    /* An entry tag may still give a better one; loader_plan checks what comes out. */
    if (!entry_found)
        plan->entry = t.entry;
    return true;
}

/* ---- ELF notes ---- */

#define NOTE_ALIGN 4
#define NOTE_PVH   18 /* XEN_ELFNOTE_PHYS32_ENTRY */

struct note {
    uint32_t type, size;
    const uint8_t *data;
};

static uint64_t note_pad(uint64_t n)
{
    return (n + NOTE_ALIGN - 1) & ~(uint64_t)(NOTE_ALIGN - 1);
}

/* The first note of an owner, with any type (0) or with this one. What is not well formed is no
 * note. */
static bool find_note(struct note *found, const struct image *im, const char *owner, uint32_t type)
{
    struct elf_table t;

    if (!program_headers(&t, im))
        return false;
    for (unsigned i = 0; i < t.n; i++) {
        struct elf_segment s = nth_segment(&t, im, i);
        if (s.type != PT_NOTE || !inside(im, s.offset, s.file_size))
            continue;
        for (uint64_t at = 0; s.file_size - at >= sizeof(Elf32_Nhdr);) {
            const uint8_t *h = im->data + s.offset + at;
            uint32_t name_size = get32(h), data_size = get32(h + 4);
            uint64_t data = sizeof(Elf32_Nhdr) + note_pad(name_size);
            if (data + data_size > s.file_size - at)
                break;
            *found = (struct note){get32(h + 8), data_size, h + data};
            if (name_size == strlen(owner) + 1 &&
                memcmp(h + sizeof(Elf32_Nhdr), owner, name_size) == 0 &&
                (type == 0 || found->type == type))
                return true;
            data += note_pad(data_size);
            if (data > s.file_size - at)
                break;
            at += data;
        }
    }
    return false;
}

/* An ELF file without a Multiboot header: which kernel it is says a note. */
static bool plan_noted(struct load_plan *plan, const struct image *im)
{
    struct note note;

    if (!plan_elf(plan, im))
        return false;
    plan->protocol = LOAD_LINUX;
    if (im->data[EI_CLASS] == ELFCLASS64 && find_note(&note, im, "Linux", 0))
        return true;
    plan->protocol = LOAD_PVH;
    if (find_note(&note, im, "Xen", NOTE_PVH) && note.size >= 4) {
        plan->entry = get32(note.data);
        return true;
    }
    fprintf(im->err,
            "no Multiboot2 header in the first %d bytes (nor a Multiboot one in the first %d), and "
            "no ELF note of owner \"Linux\" (with 64-bit ELF) or of \"Xen\" with type %d (PVH)\n",
            MB2_SEARCH, MB1_SEARCH, NOTE_PVH);
    return false;
}

/* ---- bzImage ---- */

static bool is_bzimage(const struct image *im)
{
    return im->size >= LINUX_HEADER_END &&
           get16(im->data + LINUX_BOOT_FLAG) == LINUX_BOOT_FLAG_IS &&
           get32(im->data + LINUX_MAGIC) == LINUX_MAGIC_IS;
}

static bool plan_bzimage(struct load_plan *plan, const struct image *im)
{
    const uint8_t *h = im->data;
    unsigned version = get16(h + LINUX_VERSION), sectors = h[LINUX_SETUP_SECTS];
    uint64_t start = ((uint64_t)(sectors ? sectors : LINUX_SECTS_DEFAULT) + 1) * LINUX_SECTOR;
    uint64_t at = get32(h + LINUX_PREF_ADDRESS) | (uint64_t)get32(h + LINUX_PREF_ADDRESS + 4) << 32;

    plan->protocol = LOAD_BZIMAGE;
    if (version < LINUX_VERSION_2_12 || !(get16(h + LINUX_XLOADFLAGS) & LINUX_KERNEL_64)) {
        fprintf(
            im->err,
            "bzImage of boot protocol %u.%02u, xloadflags %XH, without a 64-bit entry (2.12 and "
            "bit 0)\n",
            version >> 8, version & 0xff,
            version < LINUX_VERSION_2_12 ? 0 : get16(h + LINUX_XLOADFLAGS));
        return false;
    }
    if (start >= im->size || im->size - start > get32(h + LINUX_INIT_SIZE)) {
        fprintf(im->err,
                "bzImage: its 64-bit part at offset %" PRIu64
                " does not lie within the file of %zu "
                "bytes and the %u that it says to need\n",
                start, im->size, get32(h + LINUX_INIT_SIZE));
        return false;
    }
    plan->entry = at + LINUX_ENTRY_64;
    return add_segment(
        plan, im, (struct load_segment){start, im->size - start, at, get32(h + LINUX_INIT_SIZE)});
}

/* ---- An image placed by the addresses in its header ---- */

static bool plan_flat(struct load_plan *plan, const struct image *im, uint64_t header_offset,
                      const struct addresses *a)
{
    uint64_t before = (uint64_t)a->header - a->load; /* header's distance from the first byte */
    struct load_segment s;

    if (a->load > a->header || before > header_offset) {
        fprintf(im->err,
                "Multiboot header_addr %" PRIXMAX "H and load_addr %" PRIXMAX
                "H put the start of the image before the file's\n",
                (uintmax_t)a->header, (uintmax_t)a->load);
        return false;
    }
    s.offset = header_offset - before;
    s.physical = a->load;
    s.file_size = im->size - s.offset;
    if (a->load_end) {
        if (a->load_end < a->load || a->load_end - a->load > s.file_size) {
            fprintf(im->err, "Multiboot load_end_addr %XH: the file has no such bytes\n",
                    a->load_end);
            return false;
        }
        s.file_size = a->load_end - a->load;
    }
    s.memory_size = s.file_size;
    if (a->bss_end) {
        if (a->bss_end < a->load || a->bss_end - a->load < s.file_size) {
            fprintf(im->err, "Multiboot bss_end_addr %XH is below the end of the loaded data\n",
                    a->bss_end);
            return false;
        }
        s.memory_size = a->bss_end - a->load;
    }
    return add_segment(plan, im, s);
}

/* ---- Multiboot headers ---- */

/* Offset of a header: magic at an aligned place within the first limit bytes, whose words sum to 0.
 * -1: none; -2: a magic number stands there but the sum is wrong or the header is cut off. */
static int64_t find_header(const struct image *im, uint32_t magic, size_t limit, unsigned align,
                           unsigned words)
{
    int64_t found = -1;

    for (size_t at = 0; at < limit && inside(im, at, 4); at += align) {
        uint32_t sum = 0;
        if (get32(im->data + at) != magic)
            continue;
        found = -2;
        if (!inside(im, at, 4 * words))
            continue;
        for (unsigned i = 0; i < words; i++)
            sum += get32(im->data + at + 4 * i);
        if (sum == 0)
            return at;
    }
    return found;
}

static bool information_request(const struct image *im, const uint8_t *tag, uint32_t size)
{
    for (uint32_t at = 8; at + 4 <= size; at += 4) {
        uint32_t type = get32(tag + at);
        if (type > MB2_INFO_LAST) {
            fprintf(im->err, "Multiboot2 header requires boot information of unknown type %u\n",
                    type);
            return false;
        }
    }
    return true;
}

/* Smallest sizes of the header tags, by type. */
static const uint8_t tag_size[] = {
    [MB2_HEADER_END] = 8,          [MB2_HEADER_INFORMATION] = 8,  [MB2_HEADER_ADDRESS] = 24,
    [MB2_HEADER_ENTRY] = 12,       [MB2_HEADER_CONSOLE] = 12,     [MB2_HEADER_FRAMEBUFFER] = 20,
    [MB2_HEADER_MODULE_ALIGN] = 8, [MB2_HEADER_EFI_BS] = 8,       [MB2_HEADER_ENTRY_EFI32] = 12,
    [MB2_HEADER_ENTRY_EFI64] = 12, [MB2_HEADER_RELOCATABLE] = 24,
};

static bool plan_multiboot2(struct load_plan *plan, const struct image *im, uint64_t header)
{
    uint32_t length = get32(im->data + header + 8);
    struct addresses a = {.given = false};
    uint64_t at = header + 16, end = header + length;
    uint32_t entry = 0;
    bool has_entry = false;

    if (get32(im->data + header + 4) != MB2_ARCH_I386) {
        fprintf(im->err, "Multiboot2 header for architecture %u: must be 0 (32-bit x86)\n",
                get32(im->data + header + 4));
        return false;
    }
    if (length < 16 || end > MB2_SEARCH || end > im->size) {
        fprintf(im->err,
                "Multiboot2 header of %u bytes at offset %" PRIu64
                " does not lie within the first %d bytes of the file\n",
                length, header, MB2_SEARCH);
        return false;
    }
    for (;;) {
        const uint8_t *tag = im->data + at;
        uint16_t type, flags;
        uint32_t size;

        if (at > end || end - at < 8) {
            fprintf(im->err, "Multiboot2 header: no end tag\n");
            return false;
        }
        type = get16(tag), flags = get16(tag + 2), size = get32(tag + 4);
        if (size < 8 || size > end - at || (type < sizeof(tag_size) && size < tag_size[type])) {
            fprintf(im->err,
                    "Multiboot2 header tag of type %u at offset %" PRIu64 ": bad size %u\n", type,
                    at, size);
            return false;
        }
        if (type == MB2_HEADER_END)
            break;
        switch (type) {
        case MB2_HEADER_INFORMATION:
            if (!(flags & MB2_TAG_OPTIONAL) && !information_request(im, tag, size))
                return false;
            break;
        case MB2_HEADER_ADDRESS:
            a = (struct addresses){true, get32(tag + 8), get32(tag + 12), get32(tag + 16),
                                   get32(tag + 20)};
            break;
        case MB2_HEADER_ENTRY:
            entry = get32(tag + 8);
            has_entry = true;
            break;
        case MB2_HEADER_CONSOLE:      /* there is EGA text */
        case MB2_HEADER_FRAMEBUFFER:  /* a wish: the specification promises no mode */
        case MB2_HEADER_MODULE_ALIGN: /* there are no modules */
        case MB2_HEADER_EFI_BS:       /* EFI's tags mean nothing on a BIOS machine */
        case MB2_HEADER_ENTRY_EFI32:
        case MB2_HEADER_ENTRY_EFI64:
            break;
        case MB2_HEADER_RELOCATABLE:
            plan->freedom =
                (struct load_freedom){true, get32(tag + 8), get32(tag + 12), get32(tag + 16),
                                      get32(tag + 20) == MB2_PREFER_HIGH};
            break;
        default:
            if (!(flags & MB2_TAG_OPTIONAL)) {
                fprintf(im->err, "Multiboot2 header requires the unknown tag type %u\n", type);
                return false;
            }
            break;
        }
        at += ((uint64_t)size + MB2_ALIGN - 1) & ~(uint64_t)(MB2_ALIGN - 1);
    }
    plan->protocol = LOAD_MULTIBOOT2;
    if (a.given && !has_entry) {
        fprintf(im->err, "Multiboot2 header has an address tag but no entry address tag\n");
        return false;
    }
    if (!(a.given ? plan_flat(plan, im, header, &a) : plan_elf(plan, im)))
        return false;
    if (has_entry)
        plan->entry = entry;
    return true;
}

static bool plan_multiboot1(struct load_plan *plan, const struct image *im, uint64_t header)
{
    const uint8_t *h = im->data + header;
    uint32_t flags = get32(h + 4);
    uint32_t unknown = flags & MB1_REQUIRED & ~(MB1_PAGE_ALIGN | MB1_MEMORY_INFO | MB1_VIDEO_MODE);

    plan->protocol = LOAD_MULTIBOOT;
    if (unknown) {
        fprintf(im->err, "Multiboot header requires unknown features (flags %XH)\n", unknown);
        return false;
    }
    if (!(flags & MB1_ADDRESSES))
        return plan_elf(plan, im);
    if (!inside(im, header, 32)) {
        fprintf(im->err, "Multiboot header: the file ends within its addresses\n");
        return false;
    }
    struct addresses a = {true, get32(h + 12), get32(h + 16), get32(h + 20), get32(h + 24)};
    plan->entry = get32(h + 28);
    return plan_flat(plan, im, header, &a);
}

bool loader_plan(struct load_plan *plan, const uint8_t *image, size_t size, FILE *err)
{
    struct image im = {image, size, err};
    int64_t v2 = find_header(&im, MB2_HEADER_MAGIC, MB2_SEARCH, MB2_ALIGN, 4);
    int64_t v1 = find_header(&im, MB1_HEADER_MAGIC, MB1_SEARCH, MB1_ALIGN, 3);

    memset(plan, 0, sizeof(*plan));
    if (v2 >= 0) {
        if (!plan_multiboot2(plan, &im, v2))
            return false;
    } else if (v1 >= 0) {
        if (!plan_multiboot1(plan, &im, v1))
            return false;
    } else if (is_bzimage(&im)) {
        if (!plan_bzimage(plan, &im))
            return false;
    } else if (v2 == -2 || v1 == -2) {
        fprintf(err, "Multiboot header with a wrong checksum\n");
        return false;
    } else if (!plan_noted(plan, &im)) {
        return false;
    }
    /* The machine starts in 32-bit mode, or with the low 4 GiB mapped one to one. */
    if (plan->entry > UINT32_MAX) {
        fprintf(err, "entry address %" PRIX64 "H: must lie below 4 GiB\n", plan->entry);
        return false;
    }
    for (unsigned i = 0; i < plan->n_segments; i++)
        if (plan->entry >= plan->segment[i].physical &&
            plan->entry - plan->segment[i].physical < plan->segment[i].memory_size)
            return true;
    fprintf(err, "entry address %" PRIX64 "H lies outside what the image loads\n", plan->entry);
    return false;
}
