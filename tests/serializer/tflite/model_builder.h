// SPDX-License-Identifier: Apache-2.0
// Builds small .tflite models for tests.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tengine::test {

// The types of the format that tests use.
enum TfliteType : int8_t
{
    kTfliteFloat = 0,
    kTfliteHalf = 1,
    kTfliteInt32 = 2,
    kTfliteInt64 = 4,
    kTfliteString = 5,
    kTfliteBool = 6,
    kTfliteInt16 = 7,
    kTfliteComplex = 8,
    kTfliteInt8 = 9,
    kTfliteUint64 = 12,
    kTfliteResource = 13,
    kTfliteUint32 = 15,
    kTfliteInt4 = 17,
    kTfliteInt2 = 19,
    kTfliteUint4 = 20
};

// A level of a sparse constant: dense, or with lists of int32, uint16 or uint8 (width 1, 2 or 3).
struct TfliteLevel
{
    int32_t dense_size = 0;
    std::vector<int32_t> segments = {};
    std::vector<int32_t> indices = {};
    uint8_t width = 0;  // 0: dense
};

struct TfliteSparsity
{
    std::vector<int32_t> order;
    std::vector<int32_t> blocks = {};
    std::vector<TfliteLevel> levels = {};
};

// A scale for each block along the last axis, in tensors.
struct TfliteBlocks
{
    int32_t scales = 0;
    int32_t zero_points = 0;
    int32_t size = 0;
};

struct TfliteTensor
{
    std::string name;
    std::vector<int32_t> shape;
    int8_t type = kTfliteFloat;
    std::string values = {};  // bytes of a constant
    std::vector<float> scales = {};
    std::vector<int64_t> zero_points = {};
    int32_t axis = 0;  // of the scales
    TfliteSparsity sparsity = {};
    TfliteBlocks blocks = {};
    std::vector<int32_t> shape_signature = {};
    std::vector<float> minimum = {};
    std::vector<float> maximum = {};
    bool is_variable = false;
};

struct TfliteOperator
{
    int code = 0;
    std::vector<int32_t> inputs;
    std::vector<int32_t> outputs;
    // Number of the field, its bytes (1, 4 or 8) and value; 0 bytes: a list of words, or a text,
    // -8: a list of longs, -1: one of bytes.
    struct Option
    {
        int field;
        int bytes;
        int32_t value;
        std::vector<int32_t> list = {};
        std::string text = {};
    };
    std::vector<Option> options = {};
    std::string name = {};  // of a custom operator
    std::string custom_options = {};
    int32_t version = 1;
};

// An entry point: each tensor of a subgraph's inputs and outputs, and its name.
struct TfliteSignature
{
    std::string key;
    uint32_t subgraph = 0;
    std::vector<std::pair<uint32_t, std::string>> inputs;
    std::vector<std::pair<uint32_t, std::string>> outputs;
};

struct TfliteModel
{
    std::vector<TfliteTensor> tensors;
    std::vector<TfliteOperator> operators;
    std::vector<int32_t> inputs;
    std::vector<int32_t> outputs;
    // The names of a signature: each tensor and its name; none: the model has no signature.
    std::vector<std::pair<uint32_t, std::string>> named_inputs = {};
    std::vector<std::pair<uint32_t, std::string>> named_outputs = {};
    std::vector<TfliteSignature> signatures = {};  // beside that one
    // Subgraphs 1 and on: tensors, operators, inputs and outputs.
    std::vector<TfliteModel> called = {};
    std::string description = {};
    std::string name = {};  // of the subgraph
    // Names and bytes.
    std::vector<std::pair<std::string, std::string>> metadata = {};
    // Constants lie behind the tables.
    bool constants_trail = false;
};

// The file's bytes. Indices are not checked.
std::string encode_tflite(const TfliteModel& model);

// The bytes of a list of numbers.
template <class Value>
std::string bytes_of(const std::vector<Value>& values)
{
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value)};
}

}  // namespace tengine::test
