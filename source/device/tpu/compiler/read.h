// SPDX-License-Identifier: Apache-2.0
// Translates nodes to layers. Each function adds the layers of one node, or sets the reason in the
// verdict and returns false. read.cc has the function of each operator.
#pragma once

#include <vector>

#include "device/tpu/compiler/network.h"
#include "device/tpu/machine/isa.h"
#include "tengine/device.h"

namespace tengine::tpu {

struct NodeReader
{
    const node& of;
    NetworkBuilder& network;
    ir_verdict_t* verdict;

    const tensor* input(int index) const { return get_ir_node_input(&of, index); }
    const tensor* output(int index = 0) const { return get_ir_node_output(&of, index); }
    // Sets the verdict; always false.
    bool refuse(int code, const char* attribute, const char* value, const char* format, ...) const
        TENGINE_PRINTF(5, 6);

    // Whether an input is constant; an absent one is accepted.
    bool constant(int index, const char* what) const;
    // Reads scale and zero point at `index` and after it, one value each; the zero point as a byte.
    bool quantization(int index, double* out_scale, uint8_t* out_zero) const;
    bool is_float() const { return output()->data_type == TENGINE_DT_BF16; }
};

// Whether all data have one of these types.
bool require_bytes(const NodeReader& reader, std::initializer_list<int> inputs);
bool require_bf16(const NodeReader& reader);

bool read_conv(const NodeReader& reader);
bool read_qlinear_conv(const NodeReader& reader);
bool read_gemm(const NodeReader& reader);
bool read_matmul(const NodeReader& reader);
bool read_qgemm(const NodeReader& reader);
bool read_qlinear_matmul(const NodeReader& reader);
bool read_max_pool(const NodeReader& reader);
bool read_average_pool(const NodeReader& reader);
bool read_qlinear_average_pool(const NodeReader& reader);
bool read_global_pool(const NodeReader& reader);
bool read_pair(const NodeReader& reader);
bool read_qlinear_pair(const NodeReader& reader);
bool read_lookup(const NodeReader& reader);
bool read_clamp(const NodeReader& reader);
bool read_reshape(const NodeReader& reader);
bool read_transpose(const NodeReader& reader);
bool read_concat(const NodeReader& reader);
bool read_split(const NodeReader& reader);
bool read_slice(const NodeReader& reader);
bool read_pad(const NodeReader& reader);
bool read_resize(const NodeReader& reader);

// Reads a node of any operator.
bool read_node(const NodeReader& reader);
const std::vector<const char*>& operator_names();

}  // namespace tengine::tpu
