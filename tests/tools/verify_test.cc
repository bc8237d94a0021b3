// SPDX-License-Identifier: Apache-2.0
// `tengine verify` from outside: the devices that pass, and the messages about them.
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "../api/onnx_bytes.h"
#include "tools/program.h"
#include "tools/quantize_model.h"

namespace tengine::program {
namespace {

using testing::HasSubstr;

bool has_device(const std::string& name)
{
    return run({"devices"}).output.find("\ndevice " + name) != std::string::npos;
}

nlohmann::json report_of(std::vector<std::string> arguments)
{
    arguments.insert(arguments.begin(), "verify");
    arguments.insert(arguments.end(), {"--quiet", "--json", "-"});
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.status, 0) << finished.errors;
    return nlohmann::json::parse(finished.output, nullptr, false);
}

TEST(VerifyCommand, PassesTheFastKernelsOfTheCpu)
{
    const nlohmann::json report = report_of({"--device", "CPU", "--only", "fp32"});
    EXPECT_TRUE(report["passed"]);
    EXPECT_EQ(report["checks"]["values"]["failed"], 0);
    EXPECT_EQ(report["checks"]["values"]["skipped"], 0);
    // Some 1,200, of every family.
    EXPECT_GT(report["checks"]["values"]["passed"], 1000);
    EXPECT_GT(report["claims"].size(), 300U);
}

// The names of the CPU's kernels, as its list of implementations has them; without plain ones.
std::set<std::string> list_kernels()
{
    const std::string path =
        std::string(TENGINE_SOURCE_DIR) + "/source/device/cpu/implementations.cc";
    std::ifstream file(path);
    const std::string text((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    const std::regex pattern("\"([a-z0-9_]+\\.[a-z0-9_.]+)\"");
    std::set<std::string> names;
    for (std::sregex_iterator each(text.begin(), text.end(), pattern), end; each != end; ++each)
        if ((*each)[1].str().rfind("reference.", 0) != 0) names.insert((*each)[1]);
    return names;
}

// Kernels whose results were compared and passed.
std::set<std::string> find_verified_kernels(const std::string& only)
{
    std::set<std::string> names;
    const nlohmann::json report = report_of({"--device", "CPU", "--only", only});
    for (const nlohmann::json& finding : report["findings"]) {
        if (finding["check"] != "values") continue;
        EXPECT_EQ(finding["verdict"], "passed") << finding["subject"];
        std::istringstream kernels(finding.value("kernels", ""));
        for (std::string name; std::getline(kernels, name, ',');)
            names.insert(name);
    }
    return names;
}

// The kernels that no case reaches, and why.
const std::map<std::string, const char*> kUnreached = {
    {"lstm.s8.packed", "of an operator that the precision hybrid_int8 makes"},
    {"row_quantize_matmul.s8.packed", "of an operator that the precision hybrid_int8 makes"},
    {"matmul_nbits.s8.avx2", "computes with other numbers, by leave of the model's accuracy_level"},
    {"matmul_nbits.s8.vnni", "computes with other numbers, by leave of the model's accuracy_level"},
};

// A kernel that no case has is not judged: NHWC ones need a convolution in front of them.
TEST(VerifyCommand, ReachesTheKernelsOfTheCpu)
{
    const std::string devices = run({"devices"}).output;
    if (devices.find("runs on AVX") == std::string::npos)
        GTEST_SKIP() << "kernels of bytes need instructions that this processor lacks";
    std::set<std::string> reached;
    for (const char* only : {"fp32", "bf16", "int8", "DynamicQuantizeLinear"})
        reached.merge(find_verified_kernels(only));
    const std::set<std::string> known = list_kernels();
    ASSERT_GT(known.size(), 100U);
    for (const std::string& name : known)
        EXPECT_NE(reached.count(name), kUnreached.count(name)) << name;
}

TEST(VerifyCommand, PassesSeveralThreads)
{
    const nlohmann::json report =
        report_of({"--device", "CPU", "--only", "Conv", "--threads", "2"});
    EXPECT_TRUE(report["passed"]);
    EXPECT_EQ(report["threads"], 2);
}

TEST(VerifyCommand, HasRowsOfBytes)
{
    for (const char* only : {"com.microsoft.QLinearSoftmax", "tengine.QLinearLayerNormalization"}) {
        const nlohmann::json report = report_of({"--device", "CPU", "--only", only});
        EXPECT_TRUE(report["passed"]) << only;
        EXPECT_EQ(report["checks"]["values"]["passed"], 10) << only;
    }
}

// Two kernels compute trees: a plain one, which judges, and one in blocks of rows.
TEST(VerifyCommand, HasTrees)
{
    const std::pair<const char*, int> operators[] = {{"ai.onnx.ml.TreeEnsembleRegressor", 12},
                                                     {"ai.onnx.ml.TreeEnsembleClassifier", 8}};
    for (const auto& [only, number] : operators) {
        const nlohmann::json report = report_of({"--device", "CPU", "--only", only});
        EXPECT_TRUE(report["passed"]) << only;
        EXPECT_EQ(report["checks"]["values"]["passed"], number) << only;
        EXPECT_EQ(find_verified_kernels(only).count("reference.blocks"), 1u) << only;
    }
}

TEST(VerifyCommand, PassesTheTpu)
{
    if (!has_device("TPU")) GTEST_SKIP() << "this build has no TPU";
    for (const char* only : {"Conv bf16", "QLinearConv", "MaxPool"}) {
        const nlohmann::json report = report_of({"--device", "TPU", "--only", only});
        EXPECT_TRUE(report["passed"]) << only;
        EXPECT_GT(report["checks"]["values"]["passed"], 5) << only;
    }
    const nlohmann::json in_bf16 =
        report_of({"--device", "TPU", "--precision", "bf16", "--only", "Gemm"});
    EXPECT_GT(in_bf16["checks"]["values"]["passed"], 5);
}

TEST(VerifyCommand, PassesAcl)
{
    if (!has_device("ACL")) GTEST_SKIP() << "this build has no ACL";
    for (const char* only : {"Conv fp32", "QLinearConv", "Elu", "Softmax", "MaxPool uint8"}) {
        const nlohmann::json report = report_of({"--device", "ACL", "--only", only});
        EXPECT_TRUE(report["passed"]) << only;
        EXPECT_GT(report["checks"]["values"]["passed"], 3) << only;
    }
}

// y = Identity(Concat(x, x)) of strings or complex numbers.
TEST(VerifyCommand, LayersMayHaveNoNumbers)
{
    constexpr uint64_t kString = 8, kComplex64 = 14;  // of ONNX
    for (const uint64_t type : {kString, kComplex64}) {
        const auto value = [type](const char* name, uint64_t length) {
            const std::string shape = Message().bytes(1, Message().number(1, length).text()).text();
            const std::string tensor = Message().number(1, type).bytes(2, shape).text();
            return Message().bytes(1, name).bytes(2, Message().bytes(1, tensor).text()).text();
        };
        const std::string axis = Message().bytes(1, "axis").number(3, 0).number(20, 2).text();
        Message concat, identity, graph;
        concat.bytes(1, "x").bytes(1, "x").bytes(2, "t").bytes(4, "Concat").bytes(5, axis);
        identity.bytes(1, "t").bytes(2, "y").bytes(4, "Identity");
        graph.bytes(1, concat.text()).bytes(1, identity.text()).bytes(2, "g");
        graph.bytes(11, value("x", 2)).bytes(12, value("y", 4));
        const std::string opset = Message().bytes(1, "").number(2, 20).text();
        const std::string file = scratch_folder() + "/model.onnx";
        std::ofstream(file, std::ios::binary)
            << Message().number(1, 9).bytes(8, opset).bytes(7, graph.text()).text();
        const nlohmann::json report = report_of({"--device", "CPU", "--model", file});
        EXPECT_TRUE(report["passed"]) << type;
        EXPECT_EQ(report["checks"]["layers"]["passed"], 2) << type;
    }
}

// The CPU computes it in fp32 in any precision, from the weights of the file, which here a node
// has, as PaddlePaddle writes them.
TEST(VerifyCommand, PassesWeightsOfNodesThatStayInFp32)
{
    ModelMaker maker({1, 2, 5, 6});
    ::onnx::NodeProto* weights = maker.node("Constant", {}, "w");
    ::onnx::AttributeProto* value = weights->add_attribute();
    value->set_name("value");
    value->set_type(::onnx::AttributeProto::TENSOR);
    value->mutable_t()->set_data_type(::onnx::TensorProto::FLOAT);
    for (const int64_t dim : {2, 3, 2, 2})
        value->mutable_t()->add_dims(dim);
    for (int i = 0; i < 24; ++i)
        value->mutable_t()->add_float_data(0.3f * static_cast<float>(i % 7) - 0.87f);
    set_ints(maker.node("ConvTranspose", {"x", "w"}, "y"), "strides", {2, 2});
    const std::string model = maker.write(scratch_folder());
    for (const char* precision : {"bf16", "fp16"}) {
        const nlohmann::json report =
            report_of({"--device", "CPU", "--precision", precision, "--model", model});
        EXPECT_TRUE(report["passed"]) << report["findings"].dump(1);
        EXPECT_EQ(report["checks"]["layers"]["passed"], 1);
    }
}

// A device may refuse any node, for a reason.
TEST(VerifyCommand, SaysWhatIsRefused)
{
    if (!has_device("TPU")) GTEST_SKIP() << "this build has no TPU";
    const std::string file = scratch_folder() + "/claims.json";
    const Finished finished =
        run({"verify", "--device", "TPU", "--quiet", "--only", "Conv", "--manifest", file});
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(finished.output, HasSubstr("device TPU claims "));
    const nlohmann::json manifest = nlohmann::json::parse(std::ifstream(file), nullptr, false);
    bool has_refusal = false;
    for (const nlohmann::json& claim : manifest["claims"]) {
        EXPECT_EQ(claim["operator"], "Conv");
        EXPECT_EQ(claim["types"], "bf16");
        EXPECT_EQ(claim["refused"] == 0, claim["reasons"].empty());
        has_refusal = has_refusal || claim["shape_class"] == "1 axes";
    }
    EXPECT_TRUE(has_refusal);
}

TEST(VerifyCommand, CountsOperatorsWithoutACase)
{
    const Finished finished = run({"verify", "--device", "CPU", "--precision", "bf16", "--quiet"});
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(finished.output, HasSubstr("claimed, not verified: no case for "));
    EXPECT_THAT(finished.output, HasSubstr("PriorBox"));
}

TEST(VerifyCommand, SaysThatADeviceTakesNothing)
{
    if (!has_device("SKELETON")) GTEST_SKIP() << "this build has no SKELETON";
    const Finished finished = run({"verify", "--device", "SKELETON", "--quiet"});
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(finished.output, HasSubstr("claims 0 cases"));
    EXPECT_THAT(finished.output, HasSubstr("it takes nothing, so there is nothing to verify"));
}

TEST(VerifyCommand, NamesWhatIsWrong)
{
    EXPECT_THAT(run({"verify", "--device", "NPU"}).errors, HasSubstr("NPU"));
    EXPECT_THAT(run({"verify", "--device", "CPU", "--only", "Convolve"}).errors,
                HasSubstr("--only 'Convolve': no case"));
    EXPECT_THAT(run({"verify", "--device", "CPU", "--option", "CPU.kernels=plain"}).errors,
                HasSubstr("expected fast or reference"));
    EXPECT_EQ(run({"verify"}).status, 2);
    for (const char* precision : {"int8", "uint8"})
        EXPECT_THAT(run({"verify", "--device", "CPU", "--precision", precision}).errors,
                    HasSubstr("--precision int8 and uint8 need --model"));
    EXPECT_THAT(run({"verify", "--device", "CPU", "--precision", "int4"}).errors,
                HasSubstr("expected one of bf16, fp16, fp32, hybrid_int8, int8, uint8"));
    EXPECT_THAT(run({"verify", "--device", "CPU", "--precision", "hybrid_int8"}).errors,
                HasSubstr("--precision hybrid_int8 is none of verify's"));
}

}  // namespace
}  // namespace tengine::program
