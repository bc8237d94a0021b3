// SPDX-License-Identifier: Apache-2.0
// The number that a file gives the type of an operator's options, by the operator's code.
#include "serializer/tflite/writing.h"

namespace tengine::tflite {
namespace {

// Codes 0 to 161, whose options lie in the first union. 0: the operator has none.
constexpr uint8_t kOptionTypes[] = {
    11,  5,   10,  1,   2,   94,  0,   0,   0,   8,    // ADD to FULLY_CONNECTED
    0,   12,  5,   13,  0,   4,   14,  5,   21,  0,    // HASHTABLE_LOOKUP to RELU
    0,   0,   17,  15,  7,   9,   19,  6,   0,   3,    // RELU_N1_TO_1 to CONCAT_EMBEDDINGS
    18,  16,  0,   20,  22,  31,  23,  24,  25,  26,   // SKIP_GRAM to TRANSPOSE
    27,  28,  29,  30,  71,  32,  70,  33,  34,  35,   // MEAN to SPLIT
    36,  0,   69,  37,  0,   39,  40,  39,  41,  42,   // LOG_SOFTMAX to NEG
    43,  44,  45,  46,  47,  48,  0,   49,  50,  51,   // PADV2 to TILE
    52,  53,  54,  0,   27,  0,   0,   55,  56,  57,   // EXPAND_DIMS to ARG_MIN
    58,  27,  27,  59,  60,  61,  62,  63,  64,  27,   // FAKE_QUANT to REDUCE_MIN
    65,  27,  66,  67,  68,  72,  73,  74,  75,  76,   // FLOOR_DIV to SQUARED_DIFFERENCE
    77,  78,  79,  80,  0,   81,  82,  83,  84,  85,   // MIRROR_PAD to WHERE
    86,  0,   87,  88,  89,  90,  0,   91,  92,  93,   // RANK to WHILE
    95,  96,  97,  98,  99,  100, 101, 0,   102, 103,  // NON_MAX_SUPPRESSION_V4 to CALL_ONCE
    104, 105, 106, 0,   0,   0,   107, 108, 109, 110,  // BROADCAST_TO to HASHTABLE_SIZE
    27,  106, 111, 112, 113, 0,   114, 115, 114, 114,  // REDUCE_ALL to MULTINOMIAL
    116, 117, 0,   118, 119, 121, 122, 120, 123, 124,  // GELU to BITCAST
    125, 126};

struct LaterType
{
    int code;
    uint8_t type;
};

// Those in the second union.
constexpr LaterType kLaterTypes[] = {
    {169, 1},  {170, 2},  {171, 4},  {172, 3},  {173, 5},  {174, 6},  {190, 7},  {191, 8},
    {193, 9},  {195, 10}, {196, 11}, {197, 12}, {198, 13}, {199, 14}, {200, 15}, {201, 16},
    {202, 17}, {203, 18}, {204, 19}, {205, 20}, {206, 21}, {207, 22}, {209, 23}};

}  // namespace

OptionsType find_options_type(int code)
{
    constexpr int kNumber = sizeof(kOptionTypes) / sizeof(kOptionTypes[0]);
    if (code >= 0 && code < kNumber) return {kOptionTypes[code], false};
    for (const LaterType& later : kLaterTypes)
        if (later.code == code) return {later.type, true};
    return {0, false};
}

}  // namespace tengine::tflite
