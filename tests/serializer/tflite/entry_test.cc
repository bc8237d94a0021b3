// SPDX-License-Identifier: Apache-2.0
// Signatures as entries: graphs of one file that share its variables and constants.
#include <unistd.h>

#include <cstdio>

#include "serializer/tflite/entry_fixture.h"
#include "tengine/state.h"

namespace tengine::test {
namespace {

// These values are those of LiteRT's own runtime, @litertjs/core 2.5.3, for the same file with the
// types of its options.
TEST_F(TfliteEntryTest, ShareAVariable)
{
    ASSERT_TRUE(open(make_pair(), "scale")) << get_tengine_error();
    EXPECT_EQ(tengine_graph_get_entry_index(graph_), 0);
    EXPECT_EQ(tengine_graph_get_entry_index(other_), 1);
    EXPECT_EQ(step(graph_, {1, 2}), (Floats{6, 8}));
    EXPECT_EQ(step(other_, {2, 3}), (Floats{12, 24}));
    EXPECT_EQ(step(other_, {2, 1}), (Floats{24, 24}));
    EXPECT_EQ(step(graph_, {1, 1}), (Floats{25, 25}));
    // The first value is that of the signature which has one.
    ASSERT_EQ(tengine_graph_reset_states(other_), 0);
    EXPECT_EQ(step(graph_, {0, 0}), (Floats{5, 6}));
}

// LiteRT reads any bytes in the first run, which has no value to read, and then the same values.
TEST_F(TfliteEntryTest, CallOnceAssignsInTheFirstRunOfItsSignature)
{
    ASSERT_TRUE(open(make_pair(), "scale")) << get_tengine_error();
    EXPECT_EQ(step(other_, {2, 3}), (Floats{10, 18}));
    EXPECT_EQ(step(graph_, {1, 1}), (Floats{6, 7}));
    EXPECT_EQ(step(other_, {1, 1}), (Floats{6, 7}));
    EXPECT_EQ(step(graph_, {0, 0}), (Floats{6, 7}));
    // Not if the program has given the value, also where the entry is opened again.
    ASSERT_TRUE(open(make_pair(), "scale")) << get_tengine_error();
    const Floats given = {3, 4};
    ASSERT_EQ(set_tensor_data(tengine_graph_get_state(other_, 0), given.data(), 8), 0);
    EXPECT_EQ(step(other_, {2, 3}), (Floats{6, 12}));
    EXPECT_EQ(step(graph_, {1, 1}), (Floats{7, 13}));
    unload();
    graph_ = tengine_graph_open_entry(other_, "add");
    ASSERT_NE(graph_, nullptr) << get_tengine_error();
    EXPECT_EQ(step(graph_, {1, 1}), (Floats{8, 14}));
    ASSERT_EQ(tengine_graph_reset_states(graph_), 0);
    EXPECT_EQ(step(other_, {2, 2}), (Floats{10, 12}));
    EXPECT_EQ(step(graph_, {0, 0}), (Floats{5, 6}));
}

// The values are LiteRT's: each signature calls a subgraph of its own, or both call the same.
TEST_F(TfliteEntryTest, EachSignatureMayCallItsOwn)
{
    TfliteModel model = make_pair_of_calls();
    const auto run = [&] {
        return std::vector<Floats>{step(graph_, {1, 2}), step(other_, {2, 3}), step(other_, {2, 1}),
                                   step(graph_, {1, 1})};
    };
    ASSERT_TRUE(open(model, "scale")) << get_tengine_error();
    EXPECT_EQ(run(), (std::vector<Floats>{{6, 8}, {2, 6}, {4, 6}, {5, 7}}));
    model.called[1].operators[0].options[0].value = 1;
    ASSERT_TRUE(open(model, "scale")) << get_tengine_error();
    EXPECT_EQ(run(), (std::vector<Floats>{{6, 8}, {12, 24}, {24, 24}, {25, 25}}));
    ASSERT_TRUE(open(model, "scale")) << get_tengine_error();
    EXPECT_EQ(step(other_, {2, 3}), (Floats{10, 18}));
    EXPECT_EQ(step(graph_, {1, 1}), (Floats{11, 19}));
}

TEST_F(TfliteEntryTest, EitherGraphMayGoFirst)
{
    ASSERT_TRUE(open(make_pair(), "scale")) << get_tengine_error();
    EXPECT_EQ(step(graph_, {1, 2}), (Floats{6, 8}));
    EXPECT_EQ(step(other_, {2, 3}), (Floats{12, 24}));
    unload();
    EXPECT_EQ(step(other_, {2, 1}), (Floats{24, 24}));
    // The first entry is opened again, from the other one.
    graph_ = tengine_graph_open_entry(other_, "add");
    ASSERT_NE(graph_, nullptr) << get_tengine_error();
    close();
    EXPECT_EQ(step(graph_, {1, 1}), (Floats{25, 25}));
}

TEST_F(TfliteEntryTest, InstancesHaveStatesOfTheirOwn)
{
    ASSERT_TRUE(open(make_pair(), "scale")) << get_tengine_error();
    EXPECT_EQ(step(graph_, {1, 2}), (Floats{6, 8}));
    const graph_t instance = tengine_graph_share(graph_);
    ASSERT_NE(instance, nullptr) << get_tengine_error();
    const graph_t scale = tengine_graph_open_entry(instance, "scale");
    ASSERT_NE(scale, nullptr) << get_tengine_error();
    EXPECT_EQ(step(scale, {2, 2}), (Floats{10, 12}));
    EXPECT_EQ(step(instance, {1, 1}), (Floats{6, 7}));
    EXPECT_EQ(step(other_, {2, 3}), (Floats{12, 24}));
    EXPECT_EQ(destroy_graph(instance), 0);
    EXPECT_EQ(step(scale, {2, 2}), (Floats{12, 14}));
    EXPECT_EQ(destroy_graph(scale), 0);
}

TEST_F(TfliteEntryTest, VariablesAreFoundByContainerAndName)
{
    // A variable of another container, whose state has another name than its own.
    TfliteModel model = make_pair();
    model.called[1] = make_step(kMul, "v", "other box");
    ASSERT_TRUE(open(model, "scale")) << get_tengine_error();
    EXPECT_EQ(step(graph_, {1, 2}), (Floats{6, 8}));
    EXPECT_EQ(step(other_, {2, 3}), (Floats{0, 0}));
    // The state cannot have the name of the variable here, for a tensor has it.
    model = make_pair();
    model.called[1].tensors[3].name = "v";
    model.signatures[1].outputs.clear();
    ASSERT_TRUE(open(model, "scale")) << get_tengine_error();
    EXPECT_STREQ(get_tensor_name(tengine_graph_get_state(other_, 0)), "v_1");
    EXPECT_EQ(step(graph_, {1, 2}), (Floats{6, 8}));
    EXPECT_EQ(step(other_, {2, 3}), (Floats{12, 24}));
}

TEST_F(TfliteEntryTest, VariablesOfOtherTypesAndShapesAreRefused)
{
    TfliteModel model = make_pair();
    for (TfliteTensor& tensor : model.called[1].tensors)
        if (tensor.type == kTfliteFloat) tensor.shape = {3};
    EXPECT_FALSE(open(model, "scale"));
    EXPECT_EQ(get_tengine_errno(), TENGINE_EGRAPH);
    EXPECT_THAT(get_tengine_error(),
                testing::HasSubstr("state 'v' of entry 'scale' is fp32 3, but fp32 2 in entry "
                                   "'add', and they share it"));
    // The graph that is there runs on.
    EXPECT_EQ(step(graph_, {1, 2}), (Floats{6, 8}));
    model = make_pair();
    for (TfliteTensor& tensor : model.called[1].tensors)
        if (tensor.type == kTfliteFloat) tensor.type = kTfliteInt32;
    EXPECT_FALSE(open(model, "scale"));
    EXPECT_THAT(get_tengine_error(), testing::HasSubstr("is int32 2, but fp32 2"));
    EXPECT_FALSE(open(make_pair(), "third"));
    EXPECT_EQ(get_tengine_errno(), TENGINE_ENOENT);
    EXPECT_THAT(get_tengine_error(), testing::HasSubstr("expected 'add', 'scale'"));
}

TEST_F(TfliteEntryTest, ATmfileHasAllSignatures)
{
    const std::string path =
        testing::TempDir() + "signatures_" + std::to_string(getpid()) + ".tmfile";
    TfliteModel model = make_pair();
    // The state of this one has another name.
    model.called[1].tensors[3].name = "v";
    model.signatures[1].outputs.clear();
    ASSERT_TRUE(load(model)) << get_tengine_error();
    ASSERT_EQ(save_graph(graph_, "tengine", path.c_str()), 0) << get_tengine_error();
    unload();
    graph_ = create_graph(nullptr, "tengine", path.c_str());
    ASSERT_NE(graph_, nullptr) << get_tengine_error();
    other_ = tengine_graph_open_entry(graph_, "scale");
    ASSERT_NE(other_, nullptr) << get_tengine_error();
    EXPECT_EQ(step(graph_, {1, 2}), (Floats{6, 8}));
    EXPECT_EQ(step(other_, {2, 3}), (Floats{12, 24}));
    EXPECT_EQ(step(graph_, {1, 1}), (Floats{13, 25}));
    std::remove(path.c_str());
}

TEST_F(TfliteEntryTest, AnAssignmentWithoutInputsIsRefused)
{
    TfliteModel model = make_pair();
    model.called[0].operators[0].outputs.clear();
    model.called[0].operators[1].inputs.clear();
    expect_refusal(model, TENGINE_ENOTSUP, "operator 1 of its subgraph assigns to a resource");
}

TEST_F(TfliteEntryTest, Hostile)
{
    expect_bounds(make_pair());
}

TEST_F(TfliteEntryTest, StatesAreSetInEither)
{
    ASSERT_TRUE(open(make_pair(), "scale")) << get_tengine_error();
    const Floats before = {3, 4};
    Floats now(2);
    // There is no memory yet.
    ASSERT_EQ(set_tensor_data(tengine_graph_get_state(graph_, 0), before.data(), 8), 0);
    EXPECT_EQ(step(other_, {2, 3}), (Floats{6, 12}));
    ASSERT_EQ(get_tensor_data(tengine_graph_get_state(graph_, 0), now.data(), 8), 0);
    EXPECT_EQ(now, (Floats{6, 12}));
    ASSERT_EQ(set_tensor_data(tengine_graph_get_state(graph_, 0), before.data(), 8), 0);
    EXPECT_EQ(step(other_, {1, 1}), before);
    // And after a reset before the first run, nothing is left of it.
    ASSERT_TRUE(open(make_pair(), "scale")) << get_tengine_error();
    ASSERT_EQ(set_tensor_data(tengine_graph_get_state(graph_, 0), before.data(), 8), 0);
    ASSERT_EQ(tengine_graph_reset_states(graph_), 0);
    EXPECT_EQ(step(graph_, {0, 0}), (Floats{5, 6}));
}

}  // namespace
}  // namespace tengine::test
