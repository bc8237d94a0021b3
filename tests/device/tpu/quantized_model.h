// SPDX-License-Identifier: Apache-2.0
// Adds integer operators with random weights to a graph, for comparisons of devices bit by bit.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "support/ir_builder.h"

namespace tengine::tpu {

struct ConvOptions
{
    int outputs = 8;
    int kernel_h = 3, kernel_w = 3;
    int stride = 1, dilation = 1, group = 1;
    std::vector<int64_t> pads = {1, 1, 1, 1};
    bool per_channel = false, bias = true;
    int weight_zero = 0;  // of uint8 weights also 128
};

// Tensors get generated names. Activations have scale 0.05 and a random zero point.
class QuantizedModel
{
  public:
    // Types of activations and of weights: TENGINE_DT_INT8 or UINT8.
    QuantizedModel(test::IrBuilder& builder, unsigned seed, int data_type = TENGINE_DT_INT8,
                   int weight_type = TENGINE_DT_INT8);

    std::string input(std::vector<int> dims);
    std::string conv(const std::string& x, int channels, const ConvOptions& options = {});
    std::string gemm(const std::string& x, int k, int n, bool per_channel = false,
                     bool transposed = true);
    std::string matmul(const std::string& x, int k, int n);
    // "QLinearAdd" or "QLinearMul".
    std::string pair(const std::string& op, const std::string& a, const std::string& b);
    std::string average_pool(const std::string& x, int kernel, int stride, int pad,
                             bool counts_padding);
    std::string global_average_pool(const std::string& x);
    std::string max_pool(const std::string& x, int kernel, int stride, int pad);
    std::string lookup(const std::string& x);
    // Any other operator; attributes are set on the node afterwards with set_ints.
    std::string plain(const std::string& op, std::vector<std::string> inputs);
    std::string bytes(std::vector<int> dims);  // a constant of the type of activations
    std::string ints(const std::vector<int64_t>& values);
    void set_ints(const std::string& output, const char* name, const std::vector<int64_t>& values);
    void set_int(const std::string& output, const char* name, int64_t value);
    void set_text(const std::string& output, const char* name, const char* value);
    void finish(const std::string& output) { builder_.outputs({output.c_str()}); }
    test::IrBuilder& builder() { return builder_; }

  private:
    std::string next(const std::string& stem) { return stem + std::to_string(number_++); }
    std::string scales(int number, float typical);
    std::string zero(int data_type, int value);
    std::string zero_of(const std::string& activation);
    std::string random_bytes(std::vector<int> dims, int data_type, int low, int high);
    std::string weights(std::vector<int> dims);
    std::string bias(int number);
    int random(int low, int high);
    std::string result(const std::string& stem);

    test::IrBuilder& builder_;
    std::mt19937 random_;
    int data_type_, weight_type_;
    int number_ = 0;
};

}  // namespace tengine::tpu
