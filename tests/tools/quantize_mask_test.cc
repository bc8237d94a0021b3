// SPDX-License-Identifier: Apache-2.0
// `tengine quantize` of scores with masks, which a Softmax reads.
#include <gtest/gtest.h>
#include <sstream>

#include "tools/accelerated_run.h"
#include "tools/program.h"
#include "tools/quantize_model.h"

namespace tengine::program {
namespace {

constexpr float kLeast = -3.4028235e38f;

// Scores of x, of which the third of each row is masked; "a" has them.
ModelMaker make_masked(float mask)
{
    ModelMaker maker({1, 5, 4});
    maker.constant("w", {4, 4}, {2, -1, 0.5f, 1, 0, 3, 1, -2, 1, 1, -1, 0, 0.5f, 0, 2, 1});
    maker.constant("v", {4, 2}, {1, -1, 0.5f, 2, 3, -3, -2, 0.5f});
    maker.constant("mask", {4}, {0, 0, mask, 0});
    maker.node("MatMul", {"x", "w"}, "p");
    maker.node("Add", {"p", "mask"}, "a");
    set_int(maker.node("Softmax", {"a"}, "s"), "axis", -1);
    maker.node("MatMul", {"s", "v"}, "y");
    return maker;
}

struct Masked
{
    std::string onnx, quantised, report;
    float scale = 0;  // of the scores
};

Masked quantize(const ModelMaker& maker, const std::string& folder)
{
    Masked masked = {maker.write(folder), folder + "/int8.onnx", ""};
    const Finished finished =
        run({"quantize", masked.onnx, "--random", "8", "-o", masked.quantised});
    EXPECT_EQ(finished.status, 0) << finished.errors;
    const ::onnx::ModelProto model = load_model(masked.quantised);
    masked.scale = scale_of(model, producer(model, "a_quantized"));
    masked.report = finished.output;
    return masked;
}

// A scale of the scores without a mask, and 16 further below the least of them.
TEST(QuantizeMask, AMaskTakesNoLevelsOfTheScores)
{
    const std::string folder = scratch_folder();
    const float unmasked = quantize(make_masked(0), folder).scale;
    for (const float mask : {-1e4f, -1e9f, kLeast}) {
        SCOPED_TRACE(mask);
        const Masked masked = quantize(make_masked(mask), folder);
        EXPECT_LE(masked.scale, unmasked + 16.1f / 255);
        const ModelResult expected = run_model(masked.onnx, folder, {"--seed", "5"});
        for (const char* precision : {"fp32", "int8"}) {
            const ModelResult found =
                run_model(masked.quantised, folder, {"--seed", "5", "--precision", precision});
            for (size_t i = 0; i < expected.output.element_number(); ++i)
                EXPECT_NEAR(get_element(found.output, i), get_element(expected.output, i), 0.1);
        }
    }
}

// The results are between -3 and 3; 20 dB are an error of a tenth.
TEST(QuantizeMask, TheReportComparesWhatTheSoftmaxMakes)
{
    const Masked masked = quantize(make_masked(-1e4f), scratch_folder());
    std::istringstream lines(masked.report);
    double decibels = 0;
    for (std::string line; std::getline(lines, line);)
        if (line.compare(0, 11, "MatMul+Add ") == 0) decibels = std::stod(line.substr(11));
    EXPECT_GT(decibels, 20) << masked.report;
}

// Scores that are a result, or that another node reads, keep all their values.
TEST(QuantizeMask, OtherReadersGetTheMask)
{
    ModelMaker result = make_masked(-1e4f), other = make_masked(-1e4f),
               columns = make_masked(-1e4f);
    result.model.mutable_graph()->add_output()->CopyFrom(result.model.graph().output(0));
    result.model.mutable_graph()->mutable_output(1)->set_name("a");
    other.node("Relu", {"a"}, "r");
    other.model.mutable_graph()->add_output()->CopyFrom(other.model.graph().output(0));
    other.model.mutable_graph()->mutable_output(1)->set_name("r");
    columns.model.mutable_graph()->mutable_node(2)->mutable_attribute(0)->set_i(1);
    for (const ModelMaker& maker : {result, other, columns})
        EXPECT_GT(quantize(maker, scratch_folder()).scale, 39);
}

}  // namespace
}  // namespace tengine::program
