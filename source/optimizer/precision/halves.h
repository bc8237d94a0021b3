// SPDX-License-Identifier: Apache-2.0
// Constants in fp32 as fp16 or bf16.
#pragma once

#include <cstdint>

#include "graph/late_constant.h"

namespace tengine {

// Converts values at any address. Finite ones stay finite in bf16. `data_type`: TENGINE_DT_FP16 or
// TENGINE_DT_BF16.
void narrow_floats(const void* floats, int64_t number, int data_type, uint16_t* out_halves);

// A function for ir_late_values_t::make.
void make_halves(const ir_late_values_t* late, const tensor* constant, bool is_file,
                 void* out_values);

}  // namespace tengine
