// SPDX-License-Identifier: Apache-2.0
// `tengine bench --tokens` on a small decoder, whose tokens are those of the reference kernels, and
// on models that lack something of a decoder.
#include <cmath>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tools/program.h"
#include "tools/quantize_model.h"

namespace tengine::program {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr int64_t kWidth = 64, kHeads = 4, kKeyHeads = 2, kDepth = 16, kVocabulary = 97, kRoom = 40;

// Makes two layers of an attention and a product. The model's first input is its tokens.
class DecoderMaker
{
  public:
    DecoderMaker() : maker_({1, 1}, 23)
    {
        auto* microsoft = maker_.model.add_opset_import();
        microsoft->set_domain("com.microsoft");
        microsoft->set_version(1);
        graph()->clear_input();
        graph()->clear_output();
        input("ids", ::onnx::TensorProto::INT64, {1, 0});
        input("last", ::onnx::TensorProto::INT32, {1});
        input("total", ::onnx::TensorProto::INT32, {});
        weight("table", kVocabulary, kWidth);
        maker_.node("Gather", {"table", "ids"}, "x0");
        angles("cos", [](float angle) { return std::cos(angle); });
        angles("sin", [](float angle) { return std::sin(angle); });
        for (int64_t layer = 0; layer < 2; ++layer)
            add_layer(std::to_string(layer), std::to_string(layer + 1));
        weight("head", kWidth, kVocabulary);
        maker_.node("MatMul", {"x2", "head"}, "logits");
        output("logits");
    }

    ::onnx::GraphProto* graph() { return maker_.model.mutable_graph(); }
    ::onnx::NodeProto* node(const std::string& name)
    {
        for (auto& node : *graph()->mutable_node())
            if (node.name() == name) return &node;
        return nullptr;
    }
    ModelMaker& maker() { return maker_; }
    std::string write() const { return maker_.write(scratch_folder()); }

    // A dimension 0 is free.
    void input(const std::string& name, int type, const std::vector<int64_t>& shape)
    {
        auto* value = graph()->add_input();
        value->set_name(name);
        auto* tensor = value->mutable_type()->mutable_tensor_type();
        tensor->set_elem_type(type);
        tensor->mutable_shape();
        for (const int64_t extent : shape) {
            auto* dim = tensor->mutable_shape()->add_dim();
            extent > 0 ? dim->set_dim_value(extent) : dim->set_dim_param("tokens");
        }
    }
    void output(const std::string& name)
    {
        auto* value = graph()->add_output();
        value->set_name(name);
        value->mutable_type()->mutable_tensor_type()->set_elem_type(::onnx::TensorProto::FLOAT);
    }

  private:
    void weight(const std::string& name, int64_t rows, int64_t columns)
    {
        std::vector<float> values;
        for (int64_t i = 0; i < rows * columns; ++i) {
            state_ = state_ * 1664525 + 1013904223;
            values.push_back(static_cast<float>(static_cast<int32_t>(state_)) * 0x1p-31f / 4);
        }
        maker_.constant(name, {rows, columns}, values);
    }
    void angles(const std::string& name, const std::function<float(float)>& function)
    {
        std::vector<float> values;
        for (int64_t position = 0; position < kRoom; ++position)
            for (int64_t i = 0; i < kDepth / 2; ++i)
                values.push_back(
                    function(static_cast<float>(position) / static_cast<float>(1 << i)));
        maker_.constant(name, {kRoom, kDepth / 2}, values);
    }
    void add_layer(const std::string& layer, const std::string& next)
    {
        const std::string past[] = {"past_key" + layer, "past_value" + layer};
        const std::string present[] = {"key" + layer, "value" + layer};
        for (const std::string& name : past)
            input(name, ::onnx::TensorProto::FLOAT, {1, kKeyHeads, kRoom, kDepth});
        weight("qkv_weight" + layer, kWidth, (kHeads + 2 * kKeyHeads) * kDepth);
        maker_.node("MatMul", {"x" + layer, "qkv_weight" + layer}, "qkv" + layer);
        auto* node =
            maker_.node("GroupQueryAttention",
                        {"qkv" + layer, "", "", past[0], past[1], "last", "total", "cos", "sin"},
                        "attention" + layer);
        node->set_domain("com.microsoft");
        set_int(node, "num_heads", kHeads);
        set_int(node, "kv_num_heads", kKeyHeads);
        set_int(node, "do_rotary", 1);
        for (const std::string& name : present) {
            node->add_output(name);
            output(name);
        }
        maker_.node("Add", {"x" + layer, "attention" + layer}, "x" + next);
    }

    ModelMaker maker_;
    uint32_t state_ = 1;
};

json bench(const std::vector<std::string>& more)
{
    std::vector<std::string> arguments = {"bench", DecoderMaker().write(), "--json", "-"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.status, 0) << finished.errors;
    return finished.status == 0 ? json::parse(finished.output)["results"][0] : json();
}

TEST(BenchTokens, AreThoseOfTheReference)
{
    const json result = bench({"--tokens", "20", "--prompt", "7"});
    const json reference =
        bench({"--tokens", "20", "--prompt", "7", "--option", "CPU.kernels=reference"});
    ASSERT_EQ(result["made"].size(), 20u);
    EXPECT_EQ(result["made"], reference["made"]);
    EXPECT_EQ(result["made"], bench({"--tokens", "20", "--prompt", "7", "--threads", "2"})["made"]);
    // The prompt alone changes the tokens: they are not all equal.
    EXPECT_NE(result["made"], bench({"--tokens", "20", "--prompt", "8"})["made"]);
    EXPECT_NE(result["made"], bench({"--tokens", "20", "--prompt", "7", "--seed", "5"})["made"]);
}

TEST(BenchTokens, AreTimedWithWhatTheyRead)
{
    const json result = bench({"--tokens", "3", "--prompt", "9"});
    EXPECT_EQ(result["prompt"], 9);
    EXPECT_EQ(result["tokens"], 3);
    EXPECT_EQ(result["threads"], 1);
    for (const char* time : {"load_ms", "prepare_ms", "prefill_ms", "min_ms", "median_ms"})
        EXPECT_GT(result[time], 0.0) << time;
    EXPECT_NEAR(result["tokens_per_second"].get<double>() * result["mean_ms"].get<double>(), 1000,
                1e-6);
    // A row of the table, and one of each angle; all of the other constants.
    const int64_t floats =
        kWidth + kDepth + 2 * kWidth * (kHeads + 2 * kKeyHeads) * kDepth + kWidth * kVocabulary;
    EXPECT_EQ(result["weight_bytes"], 4 * floats);
    EXPECT_EQ(result["cache_bytes"], 4 * 4 * kKeyHeads * kRoom * kDepth);
    const double rate = 4 * static_cast<double>(floats) / result["mean_ms"].get<double>() / 1e6;
    EXPECT_NEAR(result["gbps"].get<double>(), rate, rate * 1e-9);
    EXPECT_THAT(run({"bench", DecoderMaker().write(), "--tokens", "2", "--prompt", "3"}).output,
                HasSubstr("prefill ms"));
}

TEST(BenchTokens, NeedRoomInTheCache)
{
    const Finished finished =
        run({"bench", DecoderMaker().write(), "--tokens", "31", "--prompt", "10"});
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.errors,
                HasSubstr("room for 40 tokens, --prompt 10 and --tokens 31 need 41"));
    EXPECT_EQ(bench({"--tokens", "30", "--prompt", "10"})["made"].size(), 30u);
}

TEST(BenchTokens, ExcludeOtherMeasurements)
{
    const std::string model = DecoderMaker().write();
    for (const char* other :
         {"--profile", "--frames=2", "--seconds=1", "--shape=ids=1x1", "--shapes=1x1"}) {
        const Finished finished = run({"bench", model, "--tokens", "2", other});
        EXPECT_EQ(finished.status, 2) << other;
        EXPECT_THAT(finished.errors, HasSubstr("--tokens cannot be combined with"));
    }
    EXPECT_THAT(run({"bench", model, "--tokens", "2", "--runs", "3"}).errors,
                HasSubstr("excludes"));
    EXPECT_THAT(run({"bench", model, "--prompt", "2"}).errors, HasSubstr("requires --tokens"));
}

// ---- models that are no such decoders ----

using Change = std::function<void(DecoderMaker&)>;

void expect_missing(const std::string& part, const Change& change)
{
    SCOPED_TRACE(part);
    DecoderMaker decoder;
    change(decoder);
    const Finished finished = run({"bench", decoder.write(), "--tokens", "2"});
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.errors, HasSubstr("--tokens needs a decoder with a cache: "));
    EXPECT_THAT(finished.errors, HasSubstr(part));
}

::onnx::ValueInfoProto* input_of(DecoderMaker& decoder, const std::string& name)
{
    for (auto& input : *decoder.graph()->mutable_input())
        if (input.name() == name) return &input;
    return nullptr;
}

TEST(BenchTokens, SaysWhatIsMissing)
{
    EXPECT_THAT(run({"bench", data_file("digits.onnx"), "--tokens", "2"}).errors,
                HasSubstr("it has no GroupQueryAttention, whose cache would be fed"));
    expect_missing(
        "past_value of node 'attention1' is not an input of the model",
        [](DecoderMaker& decoder) { decoder.node("attention1")->set_input(4, "value0"); });
    expect_missing("present_key of node 'attention0' is not an output of the model",
                   [](DecoderMaker& decoder) {
                       auto* outputs = decoder.graph()->mutable_output();
                       ASSERT_EQ(outputs->Get(0).name(), "key0");
                       outputs->DeleteSubrange(0, 1);
                   });
    expect_missing("the shape of 'past_key0' is 1 x 2 x room x 16, expected four numbers",
                   [](DecoderMaker& decoder) {
                       input_of(decoder, "past_key0")
                           ->mutable_type()
                           ->mutable_tensor_type()
                           ->mutable_shape()
                           ->mutable_dim(2)
                           ->set_dim_param("room");
                   });
    expect_missing("total_sequence_length of node 'attention0' is not an input of the model",
                   [](DecoderMaker& decoder) {
                       decoder.maker().node("Identity", {"total"}, "length");
                       decoder.node("attention0")->set_input(6, "length");
                   });
    expect_missing("seqlens_k of node 'attention1' is not 'last', as of others",
                   [](DecoderMaker& decoder) {
                       decoder.input("other", ::onnx::TensorProto::INT32, {1});
                       decoder.node("attention1")->set_input(5, "other");
                   });
    expect_missing("its input 'mask' is neither the cache, nor a length",
                   [](DecoderMaker& decoder) {
                       decoder.input("mask", ::onnx::TensorProto::INT64, {1, 0});
                   });
    expect_missing("it has more outputs than logits and cache: 'x2'",
                   [](DecoderMaker& decoder) { decoder.output("x2"); });
    expect_missing("it has no output of logits", [](DecoderMaker& decoder) {
        auto* outputs = decoder.graph()->mutable_output();
        outputs->DeleteSubrange(outputs->size() - 1, 1);
    });
}

}  // namespace
}  // namespace tengine::program
