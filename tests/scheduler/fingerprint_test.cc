// SPDX-License-Identifier: Apache-2.0
// Fingerprints of parts: a change of anything that decides the code of a device changes the
// fingerprint, and a change of anything else does not.
#include "scheduler/fingerprint.h"

#include <gtest/gtest.h>

#include "graph/graph.h"
#include "graph/graph_pool.h"
#include "graph/option.h"
#include "operator/param.h"
#include "scheduler/fixture.h"
#include "tengine/version.h"

namespace {

using namespace tengine::test;

std::string compatibility_text;

int say_compatibility(device*, const subgraph*, char* text)
{
    snprintf(text, IR_COMPATIBILITY_SIZE, "%s", compatibility_text.c_str());
    return 0;
}

int fail_to_say(device*, const subgraph*, char*)
{
    return tengine_error_set(TENGINE_EDEVICE, "no chip");
}

int accept_option(device*, const char*, const char*)
{
    return TENGINE_OK;
}

// All inputs of the fingerprint.
struct Case
{
    std::string device = "A";
    std::string compatibility;
    std::vector<std::pair<std::string, std::string>> options;
    std::string activation = "LeakyRelu";
    float alpha = 0.25f;
    std::vector<int> dims = {2, 3};
    int data_type = TENGINE_DT_FP32;
    std::vector<float> weights = {1, 2, 3};
    std::vector<std::string> sub_inputs = {"l", "w"};
    int opset = 0;
    float scale = 0;  // of the input; 0: not quantised
    int zero_point = 0;
    bool has_two_outputs = false;
    std::string names = "";  // a prefix of the tensors' names
    int version = TENGINE_VERSION_MAJOR;
};

class FingerprintTest : public testing::Test
{
  protected:
    static std::string find(const Case& wanted)
    {
        TestDevice device(wanted.device, {"Relu", "LeakyRelu", "Sub"});
        device.get()->interface->compatibility = say_compatibility;
        device.get()->interface->check_option = accept_option;
        compatibility_text = wanted.compatibility;
        Session session{&device};
        for (const auto& [key, value] : wanted.options)
            EXPECT_EQ(set_ir_context_device_option(session.source()->attribute->context,
                                                   device.get(), key.c_str(), value.c_str()),
                      TENGINE_OK);
        build(wanted, session.builder());
        if (session.prerun() != TENGINE_OK) {
            ADD_FAILURE() << tengine_error_message();
            return "";
        }
        EXPECT_EQ(session.part(0)->node_num, 2);
        return print(*session.part(0), device, wanted.version);
    }

    static void build(const Case& wanted, IrBuilder& builder)
    {
        const std::string& n = wanted.names;
        tensor* x = builder.input(n + "x", wanted.dims, wanted.data_type);
        if (wanted.scale > 0)
            set_ir_tensor_quantization_parameter(x, &wanted.scale, &wanted.zero_point, 1);
        builder.floats(n + "w", {3}, wanted.weights);
        node* activation = builder.add(wanted.activation, {n + "x"}, {n + "l"}, wanted.opset);
        if (wanted.activation == "LeakyRelu") set_node_float(activation, "alpha", wanted.alpha);
        builder.add("Sub", {n + wanted.sub_inputs[0], n + wanted.sub_inputs[1]}, {n + "y"});
        if (wanted.has_two_outputs)
            builder.outputs({n + "y", n + "l"});
        else
            builder.outputs({n + "y"});
    }

    static std::string print(const subgraph& part, TestDevice& device,
                             int version = TENGINE_VERSION_MAJOR)
    {
        uint8_t fingerprint[SHA256_BYTES];
        EXPECT_EQ(find_ir_fingerprint(&part, device.get(), version, nullptr, fingerprint),
                  TENGINE_OK)
            << tengine_error_message();
        return {reinterpret_cast<const char*>(fingerprint), sizeof fingerprint};
    }

    const LogCapture log_;
};

TEST_F(FingerprintTest, EachThingAloneMakesAnother)
{
    const std::vector<std::pair<const char*, std::function<void(Case&)>>> changes = {
        {"device", [](Case& it) { it.device = "B"; }},
        {"compatibility", [](Case& it) { it.compatibility = "sdk 2"; }},
        {"an option",
         [](Case& it) {
             it.options = {{"speed", "high"}};
         }},
        {"its value",
         [](Case& it) {
             it.options = {{"speed", "low"}};
         }},
        {"its key",
         [](Case& it) {
             it.options = {{"depth", "high"}};
         }},
        {"operator", [](Case& it) { it.activation = "Relu"; }},
        {"attribute", [](Case& it) { it.alpha = 0.5f; }},
        {"shape",
         [](Case& it) {
             it.dims = {3, 3};
         }},
        {"rank",
         [](Case& it) {
             it.dims = {1, 2, 3};
         }},
        {"constant",
         [](Case& it) {
             it.weights = {1, 2, 4};
         }},
        {"connections",
         [](Case& it) {
             it.sub_inputs = {"w", "l"};
         }},
        {"reader",
         [](Case& it) {
             it.sub_inputs = {"l", "l"};
         }},
        {"scale", [](Case& it) { it.scale = 0.5f; }},
        {"zero point", [](Case& it) { it.scale = 0.5f, it.zero_point = 3; }},
        {"outputs", [](Case& it) { it.has_two_outputs = true; }},
        {"version of the library", [](Case& it) { ++it.version; }},
    };
    std::map<std::string, std::string> known = {{find({}), "nothing"}};
    for (const auto& [name, change] : changes) {
        Case changed;
        change(changed);
        const auto [place, is_new] = known.emplace(find(changed), name);
        EXPECT_TRUE(is_new) << name << " makes the same as " << place->second;
    }
}

TEST_F(FingerprintTest, TypesMakeAnother)
{
    Case floats;
    floats.sub_inputs = {"l", "l"};
    Case halves = floats;
    halves.data_type = TENGINE_DT_FP16;
    EXPECT_NE(find(halves), find(floats));
}

TEST_F(FingerprintTest, WhatDecidesNothingMakesNoOther)
{
    Case names;
    names.names = "other_";
    EXPECT_EQ(find(names), find({}));
    Case opset;  // an opset in which LeakyRelu was the same
    opset.opset = 6;
    EXPECT_EQ(find(opset), find({}));
    Case forth, back;
    forth.options = {{"speed", "high"}, {"depth", "3"}};
    back.options = {{"depth", "3"}, {"speed", "high"}};
    EXPECT_EQ(find(forth), find(back));
    EXPECT_NE(find(forth), find({}));
}

TEST_F(FingerprintTest, ConstantsAreHashedOnce)
{
    TestDevice device("A", {"Relu", "LeakyRelu", "Sub"});
    Session session{&device};
    build({}, session.builder());
    ASSERT_EQ(session.prerun(), TENGINE_OK) << tengine_error_message();
    const tensor* weights = session.at("w");
    EXPECT_EQ(weights->core->digest, nullptr);
    const std::string first = print(*session.part(0), device);
    ASSERT_NE(weights->core->digest, nullptr);
    // The digest no longer matches the values: a later use of the stored one shows.
    weights->core->digest->bytes[0] ^= 1;
    const std::string kept = print(*session.part(0), device);
    EXPECT_NE(kept, first);
    EXPECT_EQ(print(*session.part(0), device), kept);
    ++session.source()->core->revision;  // as after a change by the program
    EXPECT_EQ(print(*session.part(0), device), first);
}

// The weights that passes merge with a normalisation are the same for all preparations.
TEST_F(FingerprintTest, ConstantsThatPassesMakeAreHashedOnce)
{
    TestDevice device("A", {"Conv"});
    Session session{&device};
    IrBuilder& builder = session.builder();
    builder.input("x", {1, 1, 2, 2});
    builder.floats("w", {1, 1, 1, 1}, {2});
    for (const char* name : {"scale", "bias", "mean", "variance"})
        builder.floats(name, {1}, {1});
    builder.add("Conv", {"x", "w"}, {"c"});
    builder.add("BatchNormalization", {"c", "scale", "bias", "mean", "variance"}, {"y"});
    builder.outputs({"y"});
    session.set("run.shape_cache", "0");
    const auto find_weights = [&]() -> const tensor& {
        const subgraph& part = *session.part(0);
        const tensor* weights = get_ir_node_input(part.graph->node_list[part.node_list[0]], 1);
        EXPECT_NE(weights->core->pack, nullptr) << weights->name;
        return *weights;
    };
    const auto find_digest = [&](uint8_t* out_digest) {
        const tensor& weights = find_weights();
        EXPECT_FALSE(
            get_graph_pack_digest(weights.core->pack_pool, weights.core->pack, 3, out_digest))
            << "other bytes";
        return get_graph_pack_digest(weights.core->pack_pool, weights.core->pack,
                                     get_ir_tensor_bytes(&weights), out_digest);
    };
    uint8_t digest[SHA256_BYTES];
    ASSERT_EQ(session.prerun(), TENGINE_OK) << tengine_error_message();
    EXPECT_FALSE(find_digest(digest));
    const std::string first = print(*session.part(0), device);
    ASSERT_TRUE(find_digest(digest));
    digest[0] ^= 1;  // a later use of the stored digest shows
    const tensor& weights = find_weights();
    set_graph_pack_digest(weights.core->pack_pool, weights.core->pack,
                          get_ir_tensor_bytes(&weights), digest);
    EXPECT_NE(print(*session.part(0), device), first);
    const int other_size[] = {1, 1, 3, 3};
    ASSERT_EQ(set_ir_tensor_shape(session.at("x"), other_size, 4), TENGINE_OK);
    ASSERT_EQ(session.prerun(), TENGINE_OK) << tengine_error_message();
    EXPECT_TRUE(find_digest(digest)) << "in the next preparation";
    ++session.source()->core->revision;  // as after a change by the program
    const int old_size[] = {1, 1, 2, 2};
    ASSERT_EQ(set_ir_tensor_shape(session.at("x"), old_size, 4), TENGINE_OK);
    ASSERT_EQ(session.prerun(), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(print(*session.part(0), device), first);
}

// Custom kernels cannot be compared.
TEST_F(FingerprintTest, PartsWithCustomKernelsHaveNone)
{
    TestDevice device("A", {"Relu", "LeakyRelu", "Sub"});
    Session session{&device};
    build({}, session.builder());
    ASSERT_EQ(session.prerun(), TENGINE_OK) << tengine_error_message();
    const subgraph& part = *session.part(0);
    node* last = part.graph->node_list[part.node_list[part.node_num - 1]];
    const auto before = last->core->custom_kernel;
    last->core->custom_kernel =
        reinterpret_cast<decltype(last->core->custom_kernel)>(last);  // never dereferenced
    uint8_t fingerprint[SHA256_BYTES];
    EXPECT_EQ(find_ir_fingerprint(&part, device.get(), TENGINE_VERSION_MAJOR, nullptr, fingerprint),
              TENGINE_ENOENT);
    last->core->custom_kernel = before;
    EXPECT_EQ(find_ir_fingerprint(&part, device.get(), TENGINE_VERSION_MAJOR, nullptr, fingerprint),
              TENGINE_OK);
}

TEST_F(FingerprintTest, ADeviceThatFailsIsNamed)
{
    TestDevice device("A", {"Relu", "LeakyRelu", "Sub"});
    device.get()->interface->compatibility = fail_to_say;
    Session session{&device};
    build({}, session.builder());
    ASSERT_EQ(session.prerun(), TENGINE_OK) << tengine_error_message();
    uint8_t fingerprint[SHA256_BYTES];
    EXPECT_EQ(find_ir_fingerprint(session.part(0), device.get(), TENGINE_VERSION_MAJOR, nullptr,
                                  fingerprint),
              TENGINE_EDEVICE);
    EXPECT_TRUE(says("compatibility"));
    EXPECT_TRUE(says("no chip"));
}

}  // namespace
