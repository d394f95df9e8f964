/*
 * The differential test: instruction sequences run on the host's own processor and in pmusim's
 * interpreter, and everything the manual defines must be equal afterwards.
 *
 *   forms.c      the table of instruction forms
 *   generate.c   makes a sequence from a seed: which forms, and what each kind needs
 *   x87.c        x87 instructions
 *   vector.c     MMX, SSE and AVX: their forms, and what they need
 *   operands.c   what they work on     branches.c   near branches     encode.c   their bytes
 *   image.c      the memory they find
 *   native.c     runs it on the host      native_entry.S  its way in and out
 *   simulated.c  runs it in the simulator
 *   report.c     compares, shrinks and shows
 *   main.c       options, families, coverage, TAP
 */
#ifndef TESTS_DIFF_DIFF_H
#define TESTS_DIFF_DIFF_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/diff/layout.h"

/* ---- Forms ---- */

enum {
    FL_CF = 1 << 0,
    FL_PF = 1 << 2,
    FL_AF = 1 << 4,
    FL_ZF = 1 << 6,
    FL_SF = 1 << 7,
    FL_IF = 1 << 9,
    FL_DF = 1 << 10,
    FL_OF = 1 << 11,
    FL_STATUS = FL_CF | FL_PF | FL_AF | FL_ZF | FL_SF | FL_OF,
    FL_ALWAYS = 1 << 1, /* RFLAGS[1] reads as 1 */
    /* The condition codes of x87's status word, among the flags that forms read and write. */
    FL_C0 = 1 << 12,
    FL_C1 = 1 << 13,
    FL_C2 = 1 << 14,
    FL_C3 = 1 << 15,
    FL_CODES = FL_C0 | FL_C1 | FL_C2 | FL_C3
};

enum family {
    FAM_ARITH,
    FAM_MOVE,
    FAM_SHIFT,
    FAM_BIT,
    FAM_MULDIV,
    FAM_STACK,
    FAM_BRANCH,
    FAM_STRING,
    FAM_ATOMIC,
    FAM_FLAG,
    FAM_BMI,
    FAM_MISC,
    FAM_X87,
    FAM_FAULT,
    FAM_VMOVE,
    FAM_VINTEGER,
    FAM_VSHUFFLE,
    FAM_VFLOAT,
    FAM_COUNT
};

/* How a form's operands are encoded. */
enum kind {
    K_NONE,    /* opcode alone */
    K_RM_R,    /* ModRM: r/m and a register */
    K_RM,      /* ModRM: r/m, the reg field extends the opcode */
    K_O,       /* register in the opcode's low three bits */
    K_ACC,     /* accumulator, perhaps an immediate */
    K_MOFFS,   /* accumulator and a 64-bit (32-bit) address */
    K_VEX_RVM, /* VEX: reg, vvvv, r/m */
    K_VEX_RMV, /* VEX: reg, r/m, vvvv */
    K_VEX_VM,  /* VEX: vvvv, r/m, the reg field extends the opcode */
    K_VEX_RMI, /* VEX: reg, r/m, imm8 */
    K_STRING,
    K_JUMP, /* relative branch forward */
    K_LOOP, /* LOOPcc, JRCXZ: rel8, forward or as a small loop */
    K_CALL, /* CALL rel32, CALL r/m to a routine inside the sequence */
    K_JUMP_IND,
    K_RET, /* only as the end of a K_CALL */
    K_ENTER,
    K_LEAVE,
    K_POPF,
    K_X87,
    K_VECTOR
};

enum { S8 = 1, S16 = 2, S32 = 4, S64 = 8, SW = S16 | S32 | S64, SALL = S8 | SW };
enum imm { IMM_NONE, IMM_B, IMM_Z, IMM_V, IMM_COUNT };

enum attr {
    A_BW = 1 << 0,      /* opcode bit 0 is clear for 8-bit operands, set for the others */
    A_LOCK = 1 << 1,    /* LOCK allowed with a memory destination */
    A_MEM = 1 << 2,     /* memory operand only */
    A_REG = 1 << 3,     /* register operand only */
    A_CC = 1 << 4,      /* stands for sixteen forms, one a condition */
    A_SHIFT = 1 << 5,   /* flags depend on the count */
    A_CL = 1 << 6,      /* count in CL */
    A_ONE = 1 << 7,     /* count 1 */
    A_DOUBLE = 1 << 8,  /* SHLD, SHRD */
    A_SCAN = 1 << 9,    /* BSF, BSR: destination undefined for a zero source */
    A_BITREG = 1 << 10, /* BT family with a register bit offset, which reaches beyond the operand */
    A_DIV = 1 << 11,
    A_D64 = 1 << 12,      /* operand size 64 without REX.W */
    A_ATOMIC = 1 << 13,   /* locks the bus with or without LOCK: kept within a cache line */
    A_NOACCESS = 1 << 14, /* the memory operand is not accessed */
    A_STACK = 1 << 15,    /* uses RSP */
    A_CMPXCHG = 1 << 16,
    A_TWICE = 1 << 17, /* CMPXCHG8B/16B: the memory operand has twice the operand size */
    A_FAULTS = 1 << 18,
    A_XLAT = 1 << 19,
    A_STI = 1 << 20,         /* x87: the opcode's low three bits are a register's number */
    A_ENVIRONMENT = 1 << 21, /* x87: 14 or 28 bytes */
    A_STATE = 1 << 22,       /* x87: 80 bytes more */
    A_STORES = 1 << 23,      /* x87: the memory operand is written */
    A_INTEGER = 1 << 24,     /* x87: it is an integer, or BCD */
    A_SIZED = 1 << 25,       /* vectors: the memory operand has the operand size */
    A_ALIGNED = 1 << 26,     /* vectors: it must be aligned */
    A_W = 1 << 27,           /* vectors: W = 1 */
    A_SMALL = 1 << 28,       /* vectors: the immediate is a count */
    A_IS4 = 1 << 29,         /* vectors: a register in the immediate */
    A_DI = 1 << 30,          /* vectors: the address is in RDI */
};

enum { D_RM = 1, D_REG = 2, D_VVVV = 4 };

enum feature {
    F_ALWAYS,
    F_BMI1,
    F_BMI2,
    F_ADX,
    F_POPCNT,
    F_LZCNT,
    F_MOVBE,
    F_CX16,
    F_CRC32,
    F_LAHF,
    F_CLFSH,
    F_CLFLUSHOPT,
    F_SSE3,
    F_MMX,
    F_SSE,
    F_SSE2,
    F_SSSE3,
    F_PCLMUL,
    F_SSE41,
    F_SSE42,
    F_AVX,
    F_AVX2,
    F_COUNT
};

/* Registers that an operand of a vector instruction may be. */
enum vector_class { V_NONE, V_GENERAL, V_MMX, V_XMM };

struct form {
    char name[24];
    enum family family;
    uint8_t map; /* 0: one byte, 1: 0F, 2: 0F 38, 3: 0F 3A */
    uint8_t opcode;
    int8_t ext; /* ModRM.reg, when it extends the opcode */
    enum kind kind;
    uint8_t sizes; /* bitmap; a size's bit is its number of bytes */
    enum imm imm;
    uint8_t prefix;                /* mandatory or repeat prefix, 0: none */
    uint8_t dst;                   /* operands written */
    uint16_t implicit;             /* registers used without being named, written or not */
    uint16_t reads, writes, undef; /* status flags; SDM vol. 2, "Flags Affected" */
    uint32_t attr;
    uint8_t rm_size; /* bytes of the r/m operand when not the operand size */
    enum feature feature;
    char vector_form; /* M, S, V, Y, see vector.c */
    uint8_t vector_reg, vector_rm;
    bool vector_vvvv, vector_gather;
};

#define MAX_FORMS 1600
extern struct form forms[MAX_FORMS];
extern unsigned n_forms;
extern const char *const family_names[FAM_COUNT];
struct feature_bit {
    const char *name;
    uint32_t leaf, subleaf;
    unsigned word, bit; /* word: 0 EAX to 3 EDX */
};
extern const struct feature_bit feature_bits[F_COUNT];
/* Expands the table; must be called first. */
void forms_init(void);
void vector_forms_init(void);
/* Prefix, map, opcode and extension, as the manual writes them. */
void form_encoding(struct form *f, const char *text);
int form_find(const char *name);
/* Bitmap of the features which CPUID shows. */
typedef void cpuid_fn(uint32_t leaf, uint32_t subleaf, uint32_t out[4]);
uint32_t features_of(cpuid_fn *cpuid);

/* ---- Sequences ---- */

/* As FXSAVE has it in 64-bit mode. */
struct fx_image {
    uint16_t control, status;
    uint8_t valid, reserved;
    uint16_t opcode;
    uint64_t instruction_pointer, data_pointer;
    uint32_t mxcsr, mxcsr_mask;
    struct {
        uint64_t mantissa;
        uint16_t sign_exponent;
        uint16_t reserved[3];
    } st[8];
    uint64_t xmm[16][2];
    uint64_t rest[12];
};

struct state {
    uint64_t r[16];
    uint64_t rflags, unused;
    struct fx_image fx;
    uint64_t upper[16][2]; /* bits 255:128 of the vector registers; 0 where the host has none */
};

/* JMP rel32 to EXIT_BASE, behind every sequence. */
#define EXIT_JUMP_BYTES 5

#define MAX_CODE    1024
#define MAX_INSNS   96
#define MAX_PATCHES 96

struct insn_record {
    uint16_t off;
    uint8_t len, unit;
    int16_t form; /* -1: the generator's own (loads a register, cleans flags) */
    uint8_t size; /* operand bytes */
    bool memory, lock;
    bool control; /* may only be dropped with its unit */
    bool conditional;
    bool dropped;
    int16_t join; /* also reached from that instruction; -1: is not */
    uint16_t reads, writes, undef;
};

struct sequence {
    uint64_t seed, index;
    struct state in;
    uint16_t pinned; /* registers whose values the sequence depends on: not simplified */
    bool user;       /* simulated at CPL 3, otherwise 0 */
    unsigned start;  /* offset of the code in its area */
    unsigned len;    /* without the jump to the exit */
    uint8_t code[MAX_CODE];
    unsigned n_insns, n_units;
    struct insn_record insn[MAX_INSNS + 1]; /* and the end */
    unsigned n_patches;
    struct {
        uint64_t address, value;
    } patch[MAX_PATCHES];
};

struct result {
    struct state out;
    uint64_t rip;   /* of the fault; the exit's address when there was none */
    int vector;     /* -1: reached the exit; -2: did not end, see why */
    uint32_t error; /* page-fault error code */
    uint64_t cr2;
    const char *why;
};

/* Forms that may be used, with the weights by which families are drawn. */
struct choice {
    unsigned n;
    uint16_t form[MAX_FORMS];
};

void generate(struct sequence *s, uint64_t seed, uint64_t index, const struct choice *mainly,
              const struct choice *any);
/* Flags undefined when control reaches offset off (UINT32_MAX: the end). *valid is false when an
 * instruction would read a flag that is undefined. */
uint16_t undefined_flags(const struct sequence *s, unsigned off, bool *valid);

/* ---- Memory ---- */

#define N_PAGES 6
struct page {
    uint64_t linear;
    bool writable;
};
extern const struct page pages[N_PAGES];
extern uint8_t image[N_PAGES][PAGE_BYTES]; /* contents before each sequence, but for the patches */
void image_init(uint64_t seed);
/* Puts the image and the sequence's patches in place; page[i] is where page i is. */
void image_load(uint8_t *const page[N_PAGES], const struct sequence *s);

uint64_t random_next(uint64_t *state);

/* ---- Runners ---- */

void native_init(void);
void native_run(const struct sequence *s, struct result *r);
uint8_t *const *native_pages(void);
void native_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t out[4]);

bool simulated_init(const char *profile);
void simulated_run(const struct sequence *s, struct result *r);
uint8_t *const *simulated_pages(void);
void simulated_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t out[4]);

/* Runs one sequence both ways and compares. self: host against host, to test the test. */
bool sequence_agrees(const struct sequence *s, bool self, struct result *host, struct result *sim);
void shrink(struct sequence *s, bool self);
/* Prints the sequence, its state in and what differs, each line after a '#'. only: the option's
 * value, without which the sequence would be another; NULL: none. */
void show(const struct sequence *s, bool self, const char *only);

#endif
