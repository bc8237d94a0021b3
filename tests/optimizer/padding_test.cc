// SPDX-License-Identifier: Apache-2.0
// Which models keep padding apart (optimizer/bucket). Where a rule says no, a run shows that it had
// to.
#include "optimizer/padding_case.h"

namespace {

using namespace tengine::test::padding;
using tengine::test::IrBuilder;

// y = op(x)
std::function<void(IrBuilder&)> one(const std::string& op)
{
    return [op](IrBuilder& s) { s.add(op, {"x"}, {"y"}); };
}
std::function<void(IrBuilder&)> one(const std::string& op, const std::string& attribute,
                                    std::vector<int64_t> values)
{
    return [=](IrBuilder& s) { set_ints(s.add(op, {"x"}, {"y"}), attribute.c_str(), values); };
}
std::function<void(IrBuilder&)> along(const std::string& op, int64_t axis)
{
    return [=](IrBuilder& s) { set_int(s.add(op, {"x"}, {"y"}), "axis", axis); };
}
// y = op(x, list)
std::function<void(IrBuilder&)> listed(const std::string& op, const std::vector<int64_t>& list)
{
    return [=](IrBuilder& s) {
        s.ints("list", list);
        s.add(op, {"x", "list"}, {"y"});
    };
}

void add_conv(IrBuilder& s, const std::vector<int64_t>& pads)
{
    add_weights(s, "w", {5, 3, 3, 3});
    add_weights(s, "b", {5});
    set_ints(s.add("Conv", {"x", "w", "b"}, {"y"}), "pads", pads);
}

// y = Reshape(x, [size of axis 0 of x, -1])
void add_flattening(IrBuilder& s)
{
    s.ints("zero", {0});
    s.ints("rest", {-1});
    s.add("Shape", {"x"}, {"shape"});
    s.add("Gather", {"shape", "zero"}, {"batch"});
    s.add("Concat", {"batch", "rest"}, {"target"});
    s.add("Reshape", {"x", "target"}, {"y"});
}

const std::vector<Input> kBatch = {{"x", {4, 3, 6, 5}, {3, 3, 6, 5}}};
const std::vector<Input> kSingle = {{"x", {4, 3, 6, 5}, {1, 3, 6, 5}}};
const std::vector<Input> kWidth = {{"x", {1, 3, 6, 9}, {1, 3, 6, 7}}};
const std::vector<Input> kBoth = {{"x", {4, 3, 6, 9}, {2, 3, 6, 7}}};
const std::vector<Input> kRows = {{"x", {2, 8, 4}, {2, 5, 4}}};

const Case kCases[] = {
    {"Relu", kBoth, one("Relu"), ""},
    {"Sigmoid", kBoth, one("Sigmoid"), ""},
    {"Softmax over the last axis", kBatch, along("Softmax", -1), ""},
    {"Softmax over a padded axis", kWidth, along("Softmax", -1),
     "node 'y' (Softmax) mixes positions along axis 3 of 'x'"},
    {"LayerNormalization", kRows,
     [](IrBuilder& s) {
         add_weights(s, "w", {4});
         s.add("LayerNormalization", {"x", "w"}, {"y"});
     },
     ""},
    {"LayerNormalization over padding", kRows,
     [](IrBuilder& s) {
         s.floats("w", {1, 1}, {2});
         set_int(s.add("LayerNormalization", {"x", "w"}, {"y"}), "axis", 1);
     },
     "mixes positions along axis 1"},
    {"ReduceMean of channels", kBoth, listed("ReduceMean", {1}), ""},
    {"ReduceMean of pictures", kWidth, listed("ReduceMean", {2, -1}), "along axis 3 of 'x'"},
    {"ReduceMax of all", kBatch, one("ReduceMax"), "mixes positions along axis 0"},
    {"ArgMax", kBatch, along("ArgMax", 1), ""},
    {"ArgMax over padding", kBatch, along("ArgMax", 0), "mixes positions along axis 0", false},
    {"CumSum", kRows,
     [](IrBuilder& s) {
         s.ints("axis", {1});
         s.add("CumSum", {"x", "axis"}, {"y"});
     },
     ""},
    {"CumSum backwards", kRows,
     [](IrBuilder& s) {
         s.ints("axis", {1});
         set_int(s.add("CumSum", {"x", "axis"}, {"y"}), "reverse", 1);
     },
     "mixes positions along axis 1"},
    {"Conv of a batch", kBatch,
     [](IrBuilder& s) {
         add_conv(s, {1, 1, 1, 1});
     },
     ""},
    {"Conv of one of a batch", kSingle,
     [](IrBuilder& s) {
         add_conv(s, {1, 1, 1, 1});
     },
     ""},
    {"Conv without zeros at the end", kWidth,
     [](IrBuilder& s) {
         add_conv(s, {1, 1, 1, 0});
     },
     ""},
    {"Conv with zeros at the end", kWidth,
     [](IrBuilder& s) {
         add_conv(s, {1, 1, 1, 1});
     },
     "node 'y' (Conv) reads zeros after the end of axis 3 of 'x'"},
    {"AveragePool", kBoth, one("AveragePool", "kernel_shape", {2, 2}), ""},
    {"GlobalAveragePool", kBatch, one("GlobalAveragePool"), ""},
    {"GlobalAveragePool of a width", kWidth, one("GlobalAveragePool"), "mixes positions"},
    {"MatMul of rows", kRows,
     [](IrBuilder& s) {
         add_weights(s, "w", {4, 7});
         s.add("MatMul", {"x", "w"}, {"y"});
     },
     ""},
    {"MatMul over padding", kRows,
     [](IrBuilder& s) {
         set_ints(s.add("Transpose", {"x"}, {"t"}), "perm", {0, 2, 1});
         s.add("MatMul", {"t", "x"}, {"y"});
     },
     "node 'y' (MatMul) mixes positions along axis 2 of 't'"},
    {"MatMul of two that are padded", kRows,
     [](IrBuilder& s) {
         set_ints(s.add("Transpose", {"x"}, {"t"}), "perm", {0, 2, 1});
         s.add("MatMul", {"x", "t"}, {"y"});
     },
     ""},
    {"Gemm",
     {{"x", {4, 6}, {3, 6}}},
     [](IrBuilder& s) {
         add_weights(s, "w", {6, 5});
         add_weights(s, "b", {5});
         s.add("Gemm", {"x", "w", "b"}, {"y"});
     },
     ""},
    {"Gemm over padding",
     {{"x", {4, 6}, {3, 6}}, {"b", {4, 5}, {3, 5}}},
     [](IrBuilder& s) {
         set_int(s.add("Gemm", {"x", "b"}, {"y"}), "transA", 1);
     },
     "mixes positions along axis 0 of 'x'"},
    {"broadcasting",
     {{"x", {4, 3}, {2, 3}}, {"b", {4, 1}, {2, 1}}},
     [](IrBuilder& s) {
         s.add("Add", {"x", "b"}, {"y"});
     },
     ""},
    {"broadcasting of one alone",
     {{"x", {4, 3}, {1, 3}}, {"b", {4, 3}, {4, 3}}},
     [](IrBuilder& s) {
         s.add("Add", {"x", "b"}, {"y"});
     },
     "node 'y' (Add) repeats axis 0 of 'x' for the request's shape alone"},
    {"Reshape to a computed shape", kBatch, add_flattening, ""},
    {"Reshape to a computed shape of one", kSingle, add_flattening, ""},
    {"Reshape that mixes", kWidth, listed("Reshape", {1, -1}),
     "node 'y' (Reshape) puts padding between the elements of 'x'"},
    {"Reshape of inner axes", kBatch, listed("Reshape", {0, 18, -1}), ""},
    {"Flatten", kBatch, along("Flatten", 1), ""},
    {"Flatten of leading axes", {{"x", {4, 2, 3}, {3, 2, 3}}}, along("Flatten", 2), ""},
    {"Squeeze", {{"x", {4, 1, 3}, {3, 1, 3}}}, listed("Squeeze", {1}), ""},
    {"the size itself", kBatch,
     [](IrBuilder& s) {
         s.add("Size", {"x"}, {"size"});
         set_int(s.add("Cast", {"size"}, {"number"}), "to", 1);
         s.add("Div", {"x", "number"}, {"y"});
     },
     "depend on the shapes of inputs"},
    {"a constant that is cut",
     {{"x", {8, 2}, {5, 2}}},
     [](IrBuilder& s) {
         s.ints("one", {1});
         s.ints("zero", {0});
         s.add("Shape", {"x"}, {"shape"});
         add_weights(s, "places", {16, 2});
         s.add("Gather", {"shape", "zero"}, {"end"});
         s.add("Slice", {"places", "zero", "end", "zero"}, {"cut"});
         s.add("Add", {"x", "cut"}, {"y"});
     },
     ""},
    {"a constant from the end",
     {{"x", {8, 2}, {5, 2}}},
     [](IrBuilder& s) {
         s.ints("zero", {0});
         s.ints("end", {16});
         s.add("Shape", {"x"}, {"shape"});
         add_weights(s, "places", {16, 2});
         s.add("Gather", {"shape", "zero"}, {"size"});
         s.add("Neg", {"size"}, {"begin"});
         s.add("Slice", {"places", "begin", "end", "zero"}, {"cut"});
         s.add("Add", {"x", "cut"}, {"y"});
     },
     "the values of constant 'cut' depend on the shapes of inputs"},
    {"Slice from the start", kRows,
     [](IrBuilder& s) {
         s.ints("from", {1});
         s.ints("to", {4});
         s.ints("axis", {1});
         s.add("Slice", {"x", "from", "to", "axis"}, {"y"});
     },
     ""},
    {"Slice from the end", kRows,
     [](IrBuilder& s) {
         s.ints("from", {-2});
         s.ints("to", {100});
         s.ints("axis", {1});
         s.add("Slice", {"x", "from", "to", "axis"}, {"y"});
     },
     "counts from the end of axis 1 of 'x'"},
    {"Gather of the last", kRows,
     [](IrBuilder& s) {
         s.ints("last", {-1});
         set_int(s.add("Gather", {"x", "last"}, {"y"}), "axis", 1);
     },
     "mixes positions along axis 1 of 'x'"},
    {"Gather of the first", kRows,
     [](IrBuilder& s) {
         s.ints("first", {0});
         set_int(s.add("Gather", {"x", "first"}, {"y"}), "axis", 1);
     },
     ""},
    {"Gather by what is computed",
     {{"x", {6}, {4}}},
     [](IrBuilder& s) {
         add_weights(s, "table", {3, 2});
         s.add("Mul", {"x", "x"}, {"square"});
         s.floats("low", {}, {0});
         s.floats("high", {}, {1});
         s.add("Clip", {"square", "low", "high"}, {"inside"});
         set_int(s.add("Cast", {"inside"}, {"indices"}), "to", 7);
         s.add("Gather", {"table", "indices"}, {"y"});
     },
     "reads indices in the padding that are computed from it",
     false},
    {"Concat behind", kWidth,
     [](IrBuilder& s) {
         set_int(s.add("Concat", {"x", "x"}, {"y"}), "axis", 3);
     },
     "node 'y' (Concat) appends elements after the end of axis 3 of 'x'"},
    {"Concat of channels", kBoth,
     [](IrBuilder& s) {
         set_int(s.add("Concat", {"x", "x"}, {"y"}), "axis", 1);
     },
     ""},
    {"Concat before", kWidth,
     [](IrBuilder& s) {
         add_weights(s, "w", {1, 3, 6, 2});
         set_int(s.add("Concat", {"w", "x"}, {"y"}), "axis", 3);
     },
     ""},
    {"Split of channels", kRows,
     [](IrBuilder& s) {
         node* split = s.add("Split", {"x"}, {"y", "z"});
         set_int(split, "axis", 2);
         set_int(split, "num_outputs", 2);
     },
     ""},
    {"Split of a batch",
     {{"x", {4, 3}, {2, 3}}},
     [](IrBuilder& s) {
         set_int(s.add("Split", {"x"}, {"y", "z"}), "num_outputs", 2);
     },
     "node 'y' (Split) divides axis 0 of 'x' by its size"},
    {"Pad before", kWidth,
     [](IrBuilder& s) {
         s.ints("pads", {0, 0, 1, 2, 0, 0, 1, 0});
         s.add("Pad", {"x", "pads"}, {"y"});
     },
     ""},
    {"Pad behind", kWidth,
     [](IrBuilder& s) {
         s.ints("pads", {0, 0, 0, 0, 0, 0, 0, 1});
         s.add("Pad", {"x", "pads"}, {"y"});
     },
     "adds elements after the end of axis 3"},
    {"Tile", kBatch, listed("Tile", {1, 2, 1, 1}), ""},
    {"Tile of padding", kBatch, listed("Tile", {2, 1, 1, 1}),
     "repeats the elements of 'x' along axis 0"},
    {"Trilu", {{"x", {8, 8}, {5, 5}}}, one("Trilu"), ""},
    {"TopK", kBatch,
     [](IrBuilder& s) {
         s.ints("k", {2});
         s.add("TopK", {"x", "k"}, {"y", "z"});
     },
     ""},
    {"Resize", kBatch,
     [](IrBuilder& s) {
         s.floats("scales", {4}, {1, 1, 2, 2});
         s.add("Resize", {"x", "", "scales"}, {"y"});
     },
     ""},
    {"Resize to a computed size", kBatch,
     [](IrBuilder& s) {
         s.ints("samples", {0, 1});
         s.ints("wide", {9, 11});
         s.add("Shape", {"x"}, {"shape"});
         s.add("Gather", {"shape", "samples"}, {"first"});
         s.add("Concat", {"first", "wide"}, {"sizes"});
         s.floats("roi", {0}, {});
         s.add("Resize", {"x", "roi", "", "sizes"}, {"y"});
     },
     ""},
    {"InstanceNormalization", kBatch,
     [](IrBuilder& s) {
         add_weights(s, "w", {3});
         add_weights(s, "b", {3});
         s.add("InstanceNormalization", {"x", "w", "b"}, {"y"});
     },
     ""},
    {"a range of all values", kBatch,
     [](IrBuilder& s) {
         s.add("DynamicQuantizeLinear", {"x"}, {"q", "scale", "zero"});
         s.add("DequantizeLinear", {"q", "scale", "zero"}, {"y"});
     },
     "node 'q' (DynamicQuantizeLinear) quantises by the range of all values of 'x'"},
    {"a data-dependent shape", kBatch, one("NonZero"), "the shape of 'y' depends on data", false},
    {"random numbers", kBatch,
     [](IrBuilder& s) {
         s.add("RandomNormalLike", {"x"}, {"noise"});
         s.add("Add", {"x", "noise"}, {"y"});
     },
     "node 'noise' (RandomNormalLike) draws random numbers"},
    {"an operator without a rule",
     {{"x", {4, 3, 3}, {2, 3, 3}}},
     one("Det"),
     "node 'y' (Det) is not known to keep padding apart",
     false},
    {"a causal attention",
     {{"x", {2, 3, 8, 4}, {2, 3, 5, 4}}},
     [](IrBuilder& s) {
         set_int(s.add("Attention", {"x", "x", "x"}, {"y"}), "is_causal", 1);
     },
     "node 'y' (Attention) mixes positions along axis 2 of 'x'"},
    {"an attention",
     {{"x", {2, 3, 8, 4}, {2, 3, 5, 4}}},
     [](IrBuilder& s) {
         s.add("Attention", {"x", "x", "x"}, {"y"});
     },
     "node 'y' (Attention) mixes positions along axis 2 of 'x'"},
    {"an attention of a batch",
     {{"x", {4, 3, 5, 4}, {3, 3, 5, 4}}},
     [](IrBuilder& s) {
         s.add("Attention", {"x", "x", "x"}, {"y"});
     },
     ""},
    {"an LSTM that runs forward",
     {{"x", {8, 2, 4}, {5, 2, 4}}},
     [](IrBuilder& s) {
         add_weights(s, "w", {1, 12, 4});
         add_weights(s, "r", {1, 12, 3});
         set_int(s.add("LSTM", {"x", "w", "r"}, {"y"}), "hidden_size", 3);
     },
     ""},
    {"the last state of an LSTM",
     {{"x", {8, 2, 4}, {5, 2, 4}}},
     [](IrBuilder& s) {
         add_weights(s, "w", {1, 12, 4});
         add_weights(s, "r", {1, 12, 3});
         set_int(s.add("LSTM", {"x", "w", "r"}, {"", "y"}), "hidden_size", 3);
     },
     "returns the state after the last position along axis 0 of 'x'"},
    {"an LSTM of a batch",
     {{"x", {5, 4, 4}, {5, 3, 4}}},
     [](IrBuilder& s) {
         add_weights(s, "w", {1, 12, 4});
         add_weights(s, "r", {1, 12, 3});
         set_int(s.add("LSTM", {"x", "w", "r"}, {"z", "y"}), "hidden_size", 3);
     },
     ""},
};

class PaddingTest : public testing::TestWithParam<Case>
{
};

TEST_P(PaddingTest, TheRuleIsThatOfARun)
{
    expect_rule(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Operators, PaddingTest, testing::ValuesIn(kCases), name_case);

}  // namespace
