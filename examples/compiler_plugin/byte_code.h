// SPDX-License-Identifier: Apache-2.0
// The byte code of ACME, a made-up chip that computes floats row by row. Its compiler writes it
// and its dispatch interprets it; numbers are little-endian, as the machines of both.
//
//     module     head, then `entry_num` entries, `instruction_num` instructions and
//                `constant_num` floats
//     entry      a part: its name, its instructions, and how many registers it has: first those of
//                its inputs, then those of its outputs, then others
//     instruction  y = a op b, for `rows` rows of `columns` floats. Operands are registers, or rows
//                of constants that serve for all rows. RMS_NORM: y = a / sqrt(mean(a^2) + value),
//                the mean over a row; b is not used. The chip A1 lacks it, A2 has it.
#pragma once

#include <stdint.h>

#define ACME_MAGIC 0x454d4341u  // "ACME"
#define ACME_VERSION "1"

enum
{
    ACME_MUL,
    ACME_SUB,
    ACME_ADD,
    ACME_RMS_NORM,
    ACME_CODE_NUMBER
};

// An operand that is a constant: the index of its first float, with this bit.
#define ACME_CONSTANT 0x80000000u

// The failures that a module requests, for tests and demonstrations.
enum
{
    ACME_FAULT_NONE,
    ACME_FAULT_LOAD,
    ACME_FAULT_INVOKE
};

typedef struct acme_head
{
    uint32_t magic;
    uint32_t entry_num;
    uint32_t instruction_num;
    uint32_t constant_num;
    uint32_t fault;  // ACME_FAULT_*
} acme_head_t;

typedef struct acme_entry
{
    char name[16];
    uint32_t first;  // the part's first instruction
    uint32_t number;
    uint32_t input_num;
    uint32_t output_num;
    uint32_t register_num;
    uint32_t register_size;  // floats
} acme_entry_t;

typedef struct acme_instruction
{
    uint32_t code;
    uint32_t a;
    uint32_t b;
    uint32_t y;
    uint32_t rows;
    uint32_t columns;
    float value;
} acme_instruction_t;
