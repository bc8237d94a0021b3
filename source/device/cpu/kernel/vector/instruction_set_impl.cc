// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdio>

#include "base/cpu.h"
#include "device/cpu/kernel/product/tile/group_tile.h"
#include "device/cpu/kernel/vector/instruction_set.h"
#include "device/cpu/kernel/vector/vector_target.h"

namespace tengine::cpu {
namespace {

const char* word_if(const TileFormat& format, const char* word)
{
    const bool runs = (get_cpu_features() & format.features) == format.features;
    return format.multiply && runs ? word : "";
}

}  // namespace

const char* get_instruction_set_text()
{
    static const auto text = [] {
        std::array<char, 96> line = {};
        std::snprintf(line.data(), line.size(), "%s%s%s%s%s%s%s%s", get_vector_target_name(0),
                      word_if(avx512_vnni_format, " avx512_vnni"),
                      word_if(avx_vnni_format, " avx_vnni"), word_if(i8mm_format, " i8mm"),
                      word_if(dotprod_format, " dotprod"),
                      word_if(avx512_bf16_format, " avx512_bf16"), word_if(bfmmla_format, " bf16"),
                      word_if(fhm_format, " fhm"));
        return line;
    }();
    return text.data();
}

}  // namespace tengine::cpu
