// SPDX-License-Identifier: Apache-2.0
// Models that look as if padding were exact, and where it is not: an operator reads the size of an
// axis, or an element of the padding, although nothing else of it depends on the request's shape.
#include "optimizer/padding_case.h"

namespace {

using namespace tengine::test::padding;
using tengine::test::IrBuilder;

const std::vector<Input> kRow = {{"x", {1, 1, 9}, {1, 1, 7}}};
const std::vector<Input> kSamples = {{"x", {4, 1, 3, 3}, {3, 1, 3, 3}}};

void add_resize(IrBuilder& s, const char* mode, const std::vector<float>& roi,
                const std::vector<float>& scales)
{
    s.floats("roi", {static_cast<int>(roi.size())}, roi);
    s.floats("scales", {4}, scales);
    node* resize = s.add("Resize", {"x", "roi", "scales"}, {"y"});
    ASSERT_EQ(set_node_text(resize, "mode", "linear", 6), 0);
    ASSERT_EQ(set_node_text(resize, "coordinate_transformation_mode", mode, std::strlen(mode)), 0);
}

void add_pad(IrBuilder& s, const char* mode, const std::vector<int64_t>& pads)
{
    s.ints("pads", pads);
    ASSERT_EQ(set_node_text(s.add("Pad", {"x", "pads"}, {"y"}), "mode", mode, std::strlen(mode)),
              0);
}

// Scores of `tokens` queries for 6 keys, of which as many are valid as `lengths` says.
void add_attention(IrBuilder& s, const char* attribute, int64_t value)
{
    add_weights(s, "k", {1, 2, 6, 4});
    s.ints("lengths", {5});
    set_int(s.add("Attention", {"x", "k", "k", "", "", "", "lengths"}, {"y"}), attribute, value);
}

// y = x + table[0, 1, ... for each row of x]
void add_places(IrBuilder& s)
{
    for (const char* number : {"zero", "one"})
        s.constant<int64_t>(number, {}, {number[0] == 'o'}, TENGINE_DT_INT64);
    s.add("Shape", {"x"}, {"shape"});
    s.add("Gather", {"shape", "zero"}, {"number"});
    s.add("Range", {"zero", "number", "one"}, {"places"});
    s.add("Gather", {"table", "places"}, {"place"});
    s.add("Add", {"x", "place"}, {"y"});
}

// A layer of a transformer: one head, with a mask of 1 for each place that is not padding.
void add_encoder(IrBuilder& s)
{
    for (const char* name : {"wq", "wk", "wv"})
        add_weights(s, name, {6, 6});
    add_weights(s, "scale", {6});
    s.floats("one", {}, {1});
    s.floats("much", {}, {-10000});
    s.ints("axis", {1});
    s.add("MatMul", {"x", "wq"}, {"q"});
    s.add("MatMul", {"x", "wk"}, {"k"});
    s.add("MatMul", {"x", "wv"}, {"v"});
    set_ints(s.add("Transpose", {"k"}, {"kt"}), "perm", {0, 2, 1});
    s.add("MatMul", {"q", "kt"}, {"scores"});
    s.add("Unsqueeze", {"mask", "axis"}, {"wide"});
    s.add("Sub", {"one", "wide"}, {"outside"});
    s.add("Mul", {"outside", "much"}, {"addend"});
    s.add("Add", {"scores", "addend"}, {"hidden"});
    s.add("Softmax", {"hidden"}, {"attention"});
    s.add("MatMul", {"attention", "v"}, {"mixed"});
    s.add("Add", {"mixed", "x"}, {"sum"});
    s.add("LayerNormalization", {"sum", "scale"}, {"y"});
}

const Case kCases[] = {
    {"windows without zeros", kRow,
     [](IrBuilder& s) {
         node* pool = s.add("MaxPool", {"x"}, {"y"});
         set_ints(pool, "kernel_shape", {2});
         set_ints(pool, "strides", {2});
         set_int(pool, "ceil_mode", 1);
         ASSERT_EQ(set_node_text(pool, "auto_pad", "VALID", 5), 0);
     },
     ""},
    {"windows that end behind the axis", kRow,
     [](IrBuilder& s) {
         node* pool = s.add("MaxPool", {"x"}, {"y"});
         set_ints(pool, "kernel_shape", {2});
         set_ints(pool, "strides", {2});
         set_int(pool, "ceil_mode", 1);
     },
     "node 'y' (MaxPool) reads zeros after the end of axis 2 of 'x'"},
    {"windows of as many as there are", kRow,
     [](IrBuilder& s) {
         node* pool = s.add("AveragePool", {"x"}, {"y"});
         set_ints(pool, "kernel_shape", {2});
         set_ints(pool, "pads", {1, 0});
         set_int(pool, "count_include_pad", 0);
     },
     ""},
    {"a reflection of more than there is",
     {{"x", {1, 6}, {1, 3}}},
     [](IrBuilder& s) {
         add_pad(s, "reflect", {0, 4, 0, 0});
     },
     "node 'y' (Pad) reflects more elements than axis 1 of 'x' has"},
    {"a reflection of what is left",
     {{"x", {1, 6}, {1, 4}}},
     [](IrBuilder& s) {
         add_pad(s, "reflect", {0, 3, 0, -1});
     },
     "node 'y' (Pad) reflects more elements than axis 1 of 'x' has"},
    {"a reflection of all",
     {{"x", {1, 6}, {1, 4}}},
     [](IrBuilder& s) {
         add_pad(s, "reflect", {0, 3, 0, 0});
     },
     ""},
    {"the first of all before",
     {{"x", {1, 6}, {1, 4}}},
     [](IrBuilder& s) {
         add_pad(s, "edge", {0, 9, 0, -1});
     },
     ""},
    {"a part of the samples", kSamples,
     [](IrBuilder& s) {
         add_resize(s, "tf_crop_and_resize", {0.4f, 0, 0, 0, 0.6f, 1, 1, 1}, {5, 1, 2, 2});
     },
     "node 'y' (Resize) resizes axis 0 of 'x'"},
    {"a part of each sample", kSamples,
     [](IrBuilder& s) {
         add_resize(s, "tf_crop_and_resize", {0, 0, 0.2f, 0, 1, 1, 0.8f, 1}, {1, 1, 2, 2});
     },
     ""},
    {"samples between samples", kSamples,
     [](IrBuilder& s) {
         add_resize(s, "half_pixel_symmetric", {}, {1.1f, 1, 2, 2});
     },
     "node 'y' (Resize) resizes axis 0 of 'x'"},
    {"causal queries at the end of the keys",
     {{"x", {1, 2, 5, 4}, {1, 2, 3, 4}}},
     [](IrBuilder& s) { add_attention(s, "is_causal", 1); },
     "node 'y' (Attention) counts from the end of axis 2 of 'x'"},
    {"queries at the begin of the keys",
     {{"x", {1, 2, 8, 4}, {1, 2, 4, 4}}},
     [](IrBuilder& s) { add_attention(s, "is_causal", 0); },
     "",
     true,
     1e-5f},
    // The places of 6 elements; the bucket has 8.
    {"more places than there are",
     {{"x", {8, 2}, {5, 2}}, {"table", {6, 2}, {6, 2}}},
     [](IrBuilder& s) { add_places(s); },
     "has no elements for the indices of the padding, in 'places'"},
    {"as many places as there are",
     {{"x", {6, 2}, {5, 2}}, {"table", {6, 2}, {6, 2}}},
     [](IrBuilder& s) { add_places(s); },
     ""},
    {"integers that are divided by padding",
     {{"x", {8, 2}, {5, 2}}},
     [](IrBuilder& s) {
         set_int(s.add("Cast", {"x"}, {"i"}), "to", 7);
         s.add("Div", {"i", "i"}, {"q"});
         s.add("Mod", {"i", "i"}, {"r"});
         s.add("Add", {"q", "r"}, {"y"});
     },
     ""},
    {"an input that is a result",
     {{"x", {8, 4}, {5, 3}}},
     [](IrBuilder& s) {
         s.add("Identity", {"x"}, {"y"});
         s.add("Neg", {"x"}, {"z"});
     },
     ""},
    {"the largest of negative numbers",
     {{"x", {4, 8}, {4, 5}}},
     [](IrBuilder& s) {
         s.add("Abs", {"x"}, {"a"});
         s.add("Neg", {"a"}, {"n"});
         s.ints("axis", {1});
         s.add("ReduceMax", {"n", "axis"}, {"y"});
     },
     "mixes positions along axis 1 of 'n'"},
    {"scores that a mask hides",
     {{"x", {1, 6, 6}, {1, 4, 4}}},
     [](IrBuilder& s) {
         s.floats("none", {}, {-1e4f});
         s.add("Add", {"x", "none"}, {"masked"});
         s.add("Softmax", {"masked"}, {"y"});
     },
     "mixes positions along axis 2 of 'masked'"},
    {"an encoder of a batch",
     {{"x", {4, 5, 6}, {3, 5, 6}}, {"mask", {4, 5}, {3, 5}}},
     add_encoder,
     "",
     true,
     1e-5f},
    // The mask hides the padding, up to a weight that is 0 only where exp() is, and times NaN.
    {"an encoder of a length",
     {{"x", {2, 8, 6}, {2, 5, 6}}, {"mask", {2, 8}, {2, 5}}},
     add_encoder,
     "node 'attention' (Softmax) mixes positions along axis 2 of 'hidden'"},
    {"an old Softmax of all axes behind",
     {{"x", {2, 3, 8}, {2, 3, 5}}},
     [](IrBuilder& s) { set_int(s.add("Softmax", {"x"}, {"y"}, 11), "axis", 1); },
     "puts padding between the elements of 'x'"},
    {"an old Softmax of samples",
     {{"x", {4, 3, 8}, {2, 3, 8}}},
     [](IrBuilder& s) { set_int(s.add("Softmax", {"x"}, {"y"}, 11), "axis", 1); },
     ""},
    {"an old mean",
     {{"x", {2, 3, 8}, {2, 3, 5}}},
     [](IrBuilder& s) { set_ints(s.add("ReduceMean", {"x"}, {"y"}, 11), "axes", {2}); },
     "mixes positions along axis 2 of 'x'"},
    {"a layer that runs back",
     {{"x", {8, 2, 4}, {5, 2, 4}}},
     [](IrBuilder& s) {
         add_weights(s, "w", {1, 9, 4});
         add_weights(s, "r", {1, 9, 3});
         node* layer = s.add("GRU", {"x", "w", "r"}, {"y"});
         set_int(layer, "hidden_size", 3);
         ASSERT_EQ(set_node_text(layer, "direction", "reverse", 7), 0);
     },
     "mixes positions along axis 0 of 'x'"},
};

class PaddingEdgeTest : public testing::TestWithParam<Case>
{
};

TEST_P(PaddingEdgeTest, TheRuleIsThatOfARun)
{
    expect_rule(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Operators, PaddingEdgeTest, testing::ValuesIn(kCases), name_case);

}  // namespace
