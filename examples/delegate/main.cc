// SPDX-License-Identifier: Apache-2.0
// Runs a model with one input on the delegate of elementwise.hpp: delegate_example MODEL.onnx
// BYTES. The file BYTES has one byte for each element of the input, whose free dimensions are 1.
// Prints the outputs.
#include <cstdio>
#include <fstream>
#include <iterator>

#include "elementwise.hpp"

static int fail(const char* step, const tengine::delegate::Status& status)
{
    std::fprintf(stderr, "%s: %s\n", step, status.GetErrDescription().c_str());
    return 1;
}

int main(int number, char** arguments)
{
    if (number != 3) {
        std::fprintf(stderr, "usage: delegate_example MODEL.onnx BYTES\n");
        return 2;
    }
    auto context = std::make_shared<tengine::delegate::Context>();
    context->SetDelegate(std::make_shared<elementwise::Delegate>());
    tengine::delegate::Model model;
    auto status = model.Build(arguments[1], tengine::delegate::kONNX, context);
    if (status.IsError()) return fail("Build", status);

    std::ifstream file(arguments[2], std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    auto inputs = model.GetInputs();
    std::vector<int64_t> shape = inputs[0].Shape();
    std::replace(shape.begin(), shape.end(), int64_t{-1}, int64_t{1});
    status = model.Resize(inputs, {shape});
    if (status.IsError()) return fail("Resize", status);
    float* x = static_cast<float*>(inputs[0].MutableData());
    if (static_cast<int64_t>(bytes.size()) != inputs[0].ElementNum()) {
        std::fprintf(stderr, "%s: %zu bytes, expected %lld\n", arguments[2], bytes.size(),
                     static_cast<long long>(inputs[0].ElementNum()));
        return 1;
    }
    for (size_t i = 0; i < bytes.size(); ++i)
        x[i] = static_cast<float>(static_cast<unsigned char>(bytes[i]));

    std::vector<tengine::delegate::MSTensor> outputs;
    status = model.Predict(inputs, &outputs);
    if (status.IsError()) return fail("Predict", status);
    for (auto& output : outputs)
        for (int64_t i = 0; i < output.ElementNum(); ++i)
            std::printf("%g\n", static_cast<double>(static_cast<float*>(output.MutableData())[i]));
    return 0;
}
