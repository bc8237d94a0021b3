// SPDX-License-Identifier: Apache-2.0
#include "optimizer/precision/halves.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/half.h"
#include "base/mapped_file.h"
#include "graph/graph.h"

namespace tengine {
namespace {

// The bytes of a file that are in memory at once.
constexpr int64_t kPieceBytes = 4 << 20;

template <class Narrow>
void narrow_each(const void* floats, int64_t number, uint16_t* out_halves, const Narrow& narrow)
{
    const auto* bytes = static_cast<const char*>(floats);
    for (int64_t i = 0; i < number; ++i) {
        float value;
        std::memcpy(&value, bytes + i * int64_t{sizeof value}, sizeof value);
        out_halves[i] = narrow(value);
    }
}

// The largest number in fp32 rounds to infinity, by which 0 is NaN: models mask with it.
uint16_t narrow_to_bf16(float value)
{
    constexpr float kLargest = 0x1.fep127f;
    return fp32_to_bf16(std::isfinite(value) ? std::clamp(value, -kLargest, kLargest) : value);
}

}  // namespace

void narrow_floats(const void* floats, int64_t number, int data_type, uint16_t* out_halves)
{
    if (data_type == TENGINE_DT_FP16)
        narrow_each(floats, number, out_halves, [](float value) { return fp32_to_fp16(value); });
    else
        narrow_each(floats, number, out_halves, narrow_to_bf16);
}

void make_halves(const ir_late_values_t* late, const tensor* constant, bool is_file,
                 void* out_values)
{
    const auto* bytes = static_cast<const char*>(late->data);
    auto* halves = static_cast<uint16_t*>(out_values);
    constexpr int64_t kPiece = kPieceBytes / sizeof(float);
    for (int64_t begin = 0; begin < late->elem_num; begin += kPiece) {
        const int64_t number = std::min(kPiece, late->elem_num - begin);
        const char* floats = bytes + begin * int64_t{sizeof(float)};
        narrow_floats(floats, number, constant->data_type, halves + begin);
        if (is_file) drop_mapped_bytes(floats, static_cast<size_t>(number) * sizeof(float));
    }
}

}  // namespace tengine
