// SPDX-License-Identifier: Apache-2.0
// The files and messages of `tengine quantize --dynamic`.
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tensor_file/tensor_file.h"
#include "tools/program.h"
#include "tools/quantize_model.h"

namespace tengine::program {
namespace {

using nlohmann::json;
using ::onnx::ModelProto;
using testing::ElementsAre;
using testing::HasSubstr;

// y = Softmax(Gemm(x w, v transposed, c) x), where w has columns of 127 and of 1.
ModelMaker make_products(int64_t opset = 13)
{
    ModelMaker maker({2, 2}, opset);
    maker.constant("w", {2, 2}, {127, 1, -127, 0.5f});
    maker.constant("v", {2, 2}, {-2.54f, 1.28f, 0, 0});
    maker.constant("c", {1, 2}, {0.5f, 3});
    maker.node("MatMul", {"x", "w"}, "product");
    set_int(maker.node("Gemm", {"x", "v", "c"}, "gemm"), "transB", 1);
    maker.node("MatMul", {"product", "gemm"}, "computed");
    maker.node("Softmax", {"computed"}, "y");
    return maker;
}

Finished quantize(const ModelMaker& maker, const std::string& to,
                  std::vector<std::string> more = {})
{
    std::vector<std::string> arguments = {"quantize", maker.write(scratch_folder()), "--dynamic",
                                          "-o", to};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
}

TEST(QuantizeDynamic, WritesTheNodesOfOnnxRuntime)
{
    const std::string path = scratch_folder() + "/dynamic.onnx";
    const Finished finished = quantize(make_products(10), path);  // which has none of them
    ASSERT_EQ(finished.status, 0) << finished.errors;
    const ModelProto model = load_model(path);
    EXPECT_EQ(count_nodes(model, "DynamicQuantizeLinear"), 1) << "x is quantised once";
    EXPECT_EQ(count_nodes(model, "MatMulInteger"), 2);
    const auto product = producer(model, "product_sums");
    EXPECT_EQ(product.name(), "product");
    EXPECT_THAT(product.input(), ElementsAre("x_quantized", "w_quantized", "x_zero_point"));
    EXPECT_THAT(elements<int8_t>(initializer(model, "w_quantized")),
                ElementsAre(127, 127, -127, 64));  // 63.5, a half to even
    EXPECT_THAT(elements<float>(initializer(model, "w_scale")), ElementsAre(1, 1.0f / 127));
    const auto gemm = producer(model, "gemm_sums");
    EXPECT_THAT(gemm.input(), ElementsAre("x_quantized", "v_quantized", "x_zero_point"));
    EXPECT_THAT(elements<int8_t>(initializer(model, "v_quantized")),
                ElementsAre(-127, 0, 64, 0));  // transposed
    EXPECT_THAT(producer(model, "gemm").input(), ElementsAre("gemm_product", "c"));
    EXPECT_EQ(producer(model, "computed").op_type(), "MatMul");
}

TEST(QuantizeDynamic, TellsWhatStaysInFloat)
{
    const std::string path = scratch_folder() + "/dynamic.onnx";
    const Finished text = quantize(make_products(), path);
    EXPECT_THAT(text.output, HasSubstr("quantised   2 of 4 nodes"));
    EXPECT_THAT(text.output, HasSubstr("in float    1 MatMul, 1 Softmax\n"));
    const Finished data = quantize(make_products(), path, {"--json", "-", "--keep-float", "gemm"});
    ASSERT_EQ(data.status, 0) << data.errors;
    const json report = json::parse(data.output);
    EXPECT_EQ(report["method"], "dynamic");
    EXPECT_EQ(report["quantized_nodes"], 1);
    EXPECT_EQ(report["layers"][0]["name"], "product");
    EXPECT_EQ(report["in_float"]["Gemm"], 1);
}

TEST(QuantizeDynamic, RunsNearTheFloatModel)
{
    const std::string folder = scratch_folder(), path = folder + "/dynamic.onnx";
    ASSERT_EQ(quantize(make_products(), path).status, 0);
    ASSERT_EQ(run({"run", folder + "/model.onnx", "--output", folder}).status, 0);
    // A softmax of products near 100: only the decision has to be equal.
    const Finished finished =
        run({"run", path, "--expect", folder + "/y.npy", "--tolerance", "0.1,0.05"});
    EXPECT_EQ(finished.status, 0) << finished.output << finished.errors;
}

TEST(QuantizeDynamic, RefusesWhatItCannotDo)
{
    const std::string path = scratch_folder() + "/dynamic.onnx";
    const auto expect_refusal = [&](const Finished& finished, int status, const char* sentence) {
        EXPECT_EQ(finished.status, status);
        EXPECT_THAT(finished.errors, HasSubstr(sentence));
    };
    for (const std::vector<std::string>& more :
         std::vector<std::vector<std::string>>{{"--data", "."},
                                               {"--random", "1"},
                                               {"--activations", "int8"},
                                               {"--table", "t"},
                                               {"--per-channel"},
                                               {"--max-drop", "1"},
                                               {"--method", "kl"}})
        expect_refusal(quantize(make_products(), path, more), 2, more[0].c_str());
    expect_refusal(quantize(make_products(), scratch_folder() + "/dynamic.tmfile"), 2,
                   "must not end in .tmfile");
    expect_refusal(quantize(make_products(), path, {"--keep-float", "op:*"}), 1,
                   "no MatMul or Gemm that --keep-float leaves multiplies by a constant matrix");
}

}  // namespace
}  // namespace tengine::program
