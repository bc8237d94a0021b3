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
    kTfliteInt32 = 2,
    kTfliteInt8 = 9
};

struct TfliteTensor
{
    std::string name;
    std::vector<int32_t> shape;
    int8_t type = kTfliteFloat;
    std::string values = {};  // bytes of a constant
    std::vector<float> scales = {};
    std::vector<int64_t> zero_points = {};
};

struct TfliteOperator
{
    int code = 0;
    std::vector<int32_t> inputs;
    std::vector<int32_t> outputs;
    // Number of the field, its bytes (1 or 4) and value.
    struct Option
    {
        int field;
        int bytes;
        int32_t value;
    };
    std::vector<Option> options = {};
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
