// SPDX-License-Identifier: Apache-2.0
// Random quantised networks as ONNX models: layers between QuantizeLinear and DequantizeLinear, and
// further patterns of real files: integer operators, several readers with other scales,
// intermediate outputs, bodies.
#pragma once

#include <cstdint>
#include <string>

namespace tengine::test {

struct QuantisedNetwork
{
    std::string text;  // see onnx_text.h
    int opset;

    std::string encode() const;
};

// Makes the network of a seed, which is equal on all machines. Inputs: "image", of fp32 or
// quantised, and "words", fp32.
QuantisedNetwork make_quantised_network(unsigned seed);

}  // namespace tengine::test
