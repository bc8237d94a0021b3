// SPDX-License-Identifier: Apache-2.0
// Complex numbers: every operator that moves elements moves them as it moves integers.
#include <complex>
#include <functional>
#include <set>

#include "constant_graph.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using Single = std::complex<float>;
using Double = std::complex<double>;
using Ints = std::vector<int64_t>;
using Dims = std::vector<int>;

template <class T>
constexpr int kType = std::is_same_v<T, Single>   ? TENGINE_DT_COMPLEX64
                      : std::is_same_v<T, Double> ? TENGINE_DT_COMPLEX128
                                                  : TENGINE_DT_INT64;

// Returns the complex number for an integer; 0 for 0.
template <class T>
T element(int64_t number)
{
    if constexpr (std::is_same_v<T, int64_t>)
        return number;
    else
        return T(static_cast<typename T::value_type>(number),
                 static_cast<typename T::value_type>(-2 * number));
}

template <class T>
void add_values(ConstantGraph* graph, const std::string& name, Dims dims, const Ints& numbers)
{
    std::vector<T> values;
    for (const int64_t number : numbers)
        values.push_back(element<T>(number));
    graph->builder().constant(name, std::move(dims), values, kType<T>);
}

template <class T>
std::vector<T> elements_of(const tensor* value)
{
    if (!value) return {};
    EXPECT_EQ(value->data_type, kType<T>);
    const T* data = static_cast<const T*>(value->data);
    return {data, data + value->elem_num};
}

void set_text(node* made, const char* name, const std::string& text)
{
    ASSERT_EQ(set_node_text(made, name, text.data(), text.size()), 0);
}

struct Mover
{
    const char* name;
    Dims dims;  // of x, whose elements are 1, 2, ...; z has 101, 102, ...
    std::function<void(ConstantGraph&)> add;
};

// Adds a node of x and lists of integers.
std::function<void(ConstantGraph&)> with_lists(const char* op, std::vector<Ints> lists,
                                               std::function<void(node*)> set = {})
{
    return [=](ConstantGraph& graph) {
        std::vector<std::string> inputs = {"x"};
        for (const Ints& list : lists) {
            inputs.push_back("list" + std::to_string(inputs.size()));
            graph.builder().ints(inputs.back(), list);
        }
        node* made = graph.add(op, inputs);
        if (set) set(made);
    };
}

std::function<void(node*)> with_text(const char* name, const char* text)
{
    return [=](node* made) { set_text(made, name, text); };
}

std::function<void(node*)> with_int(const char* name, int value)
{
    return [=](node* made) { ASSERT_EQ(set_node_int(made, name, value), 0); };
}

void add_crop(ConstantGraph& graph)
{
    graph.builder().ints("shape", {2, 5});
    graph.add("CenterCropPad", {"x", "shape"});
}

void add_gathers(ConstantGraph& graph)
{
    graph.input<int64_t>("pairs", {2, 2}, {1, 0, 0, 1});
    graph.add("GatherElements", {"x", "pairs"}, {"a"});
    graph.add("GatherND", {"x", "pairs"}, {"b"});
    graph.builder().ints("flat", {-1});
    graph.add("Reshape", {"a", "flat"}, {"c"});
    graph.add("Concat", {"c", "b"});
}

void add_scatter_elements(ConstantGraph& graph)
{
    graph.input<int64_t>("i", {2, 3}, {1, 0, 1, 0, 1, 0});
    graph.add("ScatterElements", {"x", "i", "z"});
}

void add_scatter_nd(ConstantGraph& graph)
{
    graph.input<int64_t>("i", {3, 1}, {2, 0, 1});
    graph.add("ScatterND", {"x", "i", "z"});
}

void add_cache(ConstantGraph& graph)
{
    graph.builder().ints("first", {1, 0});
    graph.builder().ints("starts", {1});
    graph.builder().ints("ends", {2});
    graph.builder().ints("axis", {1});
    graph.add("Slice", {"z", "starts", "ends", "axis"}, {"update"});
    graph.add("TensorScatter", {"x", "update", "first"});
}

void add_where(ConstantGraph& graph)
{
    graph.bools("c", {3}, {1, 0, 1});
    graph.add("Where", {"c", "x", "z"});
}

void add_compress(ConstantGraph& graph)
{
    graph.bools("c", {3}, {1, 0, 1});
    ASSERT_EQ(set_node_int(graph.add("Compress", {"x", "c"}), "axis", 1), 0);
}

void add_one_hot(ConstantGraph& graph)
{
    graph.builder().ints("i", {2, 0});
    graph.builder().ints("depth", {3});
    graph.add("OneHot", {"i", "depth", "x"});
}

void add_split(ConstantGraph& graph)
{
    graph.builder().ints("lengths", {1, 3});
    node* made = graph.add("Split", {"x", "lengths"}, {"a", "b"});
    ASSERT_EQ(set_node_int(made, "axis", 1), 0);
    ASSERT_EQ(set_node_int(graph.add("Concat", {"b", "a"}), "axis", 1), 0);
}

void add_views(ConstantGraph& graph)
{
    graph.builder().ints("axes", {1});
    graph.builder().ints("shape", {1, 3});
    graph.add("Squeeze", {"x", "axes"}, {"a"});
    graph.add("Reshape", {"a", "shape"}, {"b"});
    graph.add("Flatten", {"b"}, {"c"});
    graph.add("Unsqueeze", {"c", "axes"}, {"d"});
    graph.add("Identity", {"d"});
}

void add_resize(ConstantGraph& graph)
{
    graph.builder().floats("roi", {8}, {0, 0, 0, -0.5f, 1, 1, 1, 1});
    graph.builder().floats("scales", {4}, {1, 1, 1.5f, 2});
    node* made = graph.add("Resize", {"x", "roi", "scales"});
    set_text(made, "coordinate_transformation_mode", "tf_crop_and_resize");
    ASSERT_EQ(set_node_float(made, "extrapolation_value", 0), 0);
}

void add_sequences(ConstantGraph& graph)
{
    graph.builder().ints("place", {1});
    graph.add("SplitToSequence", {"x"}, {"s"});
    graph.add("SequenceInsert", {"s", "x", "place"}, {"t"});
    graph.add("Optional", {"t"}, {"o"});
    graph.add("OptionalGetElement", {"o"}, {"u"});
    node* made = graph.add("ConcatFromSequence", {"u"});
    ASSERT_EQ(set_node_int(made, "axis", 0), 0);
}

const Mover kMovers[] = {
    {"CenterCropPad", {3, 4}, add_crop},
    {"Compress", {2, 3}, add_compress},
    {"DepthToSpace", {1, 8, 1, 2}, with_lists("DepthToSpace", {}, with_int("blocksize", 2))},
    {"Expand", {2, 1}, with_lists("Expand", {{2, 2, 3}})},
    {"Gather", {2, 3}, with_lists("Gather", {{2, 0, 2}}, with_int("axis", 1))},
    {"Gathers", {2, 3}, add_gathers},
    {"OneHot", {2}, add_one_hot},
    {"Pad, constant", {2, 3}, with_lists("Pad", {{1, 0, 0, 2}})},
    {"Pad, edge", {2, 3}, with_lists("Pad", {{1, 0, 0, 2}}, with_text("mode", "edge"))},
    {"Pad, reflect", {2, 3}, with_lists("Pad", {{1, 2, 0, 0}}, with_text("mode", "reflect"))},
    {"Pad, wrap", {2, 3}, with_lists("Pad", {{0, 1, 1, 4}}, with_text("mode", "wrap"))},
    {"Resize", {1, 1, 2, 2}, add_resize},
    {"ReverseSequence", {3, 2}, with_lists("ReverseSequence", {{3, 1}})},
    {"ScatterElements", {2, 3}, add_scatter_elements},
    {"ScatterND", {3, 2}, add_scatter_nd},
    {"Sequences", {2, 3}, add_sequences},
    {"Slice", {2, 5}, with_lists("Slice", {{-1}, {-9}, {1}, {-2}})},
    {"SpaceToDepth", {1, 2, 2, 4}, with_lists("SpaceToDepth", {}, with_int("blocksize", 2))},
    {"Split and Concat", {2, 4}, add_split},
    {"TensorScatter", {2, 3, 2}, add_cache},
    {"Tile", {2, 2}, with_lists("Tile", {{2, 3}})},
    {"Transpose", {17, 19}, with_lists("Transpose", {})},
    {"Trilu", {3, 4}, with_lists("Trilu", {})},
    {"Views", {3, 1}, add_views},
    {"Where", {2, 3}, add_where},
};

template <class T>
const tensor* move(const Mover& mover, ConstantGraph* graph)
{
    int number = 1;
    for (const int dim : mover.dims)
        number *= dim;
    Ints x, z;
    for (int i = 1; i <= number; ++i) {
        x.push_back(i);
        z.push_back(100 + i);
    }
    add_values<T>(graph, "x", mover.dims, x);
    add_values<T>(graph, "z", mover.dims, z);
    mover.add(*graph);
    return graph->evaluate();
}

template <class T>
class ComplexMove : public testing::Test
{
};
using Types = testing::Types<Single, Double>;
TYPED_TEST_SUITE(ComplexMove, Types);

TYPED_TEST(ComplexMove, DoesWhatItDoesWithIntegers)
{
    for (const Mover& mover : kMovers) {
        SCOPED_TRACE(mover.name);
        ConstantGraph integers, numbers;
        const tensor* wanted = move<int64_t>(mover, &integers);
        const tensor* given = move<TypeParam>(mover, &numbers);
        ASSERT_TRUE(wanted && given);
        EXPECT_EQ(dims_of(given), dims_of(wanted));
        std::vector<TypeParam> expected;
        for (const int64_t number : elements_of<int64_t>(wanted))
            expected.push_back(element<TypeParam>(number));
        EXPECT_EQ(elements_of<TypeParam>(given), expected);
    }
}

TYPED_TEST(ComplexMove, BordersMayHaveAnyValue)
{
    ConstantGraph pad;
    add_values<TypeParam>(&pad, "x", {1}, {1});
    add_values<TypeParam>(&pad, "value", {}, {7});
    pad.builder().ints("pads", {1, 0});
    pad.add("Pad", {"x", "pads", "value"});
    EXPECT_EQ(elements_of<TypeParam>(pad.evaluate()),
              (std::vector<TypeParam>{element<TypeParam>(7), element<TypeParam>(1)}));
    // The attribute is a real number in ONNX.
    ConstantGraph resize;
    add_values<TypeParam>(&resize, "x", {3}, {1, 2, 3});
    resize.builder().floats("roi", {2}, {2, 3});
    resize.builder().floats("scales", {1}, {0.4f});
    node* made = resize.add("Resize", {"x", "roi", "scales"});
    set_text(made, "coordinate_transformation_mode", "tf_crop_and_resize");
    ASSERT_EQ(set_node_float(made, "extrapolation_value", 2.5f), 0);
    EXPECT_EQ(elements_of<TypeParam>(resize.evaluate()), (std::vector<TypeParam>{{2.5f, 0}}));
}

TYPED_TEST(ComplexMove, ShapeSizeAndWhatIsNotZero)
{
    ConstantGraph graph;
    const std::vector<TypeParam> values = {{0, 0}, {0, 1}, {-0.0f, -0.0f}, {2, 0}};
    graph.builder().constant("x", {2, 2}, values, kType<TypeParam>);
    graph.add("Shape", {"x"}, {"shape"});
    graph.add("Size", {"x"}, {"size"});
    graph.add("NonZero", {"x"});
    EXPECT_EQ(values_of<int64_t>(graph.evaluate("shape")), (Ints{2, 2}));
    EXPECT_EQ(values_of<int64_t>(graph.evaluate("size")), (Ints{4}));
    EXPECT_EQ(values_of<int64_t>(graph.evaluate()), (Ints{0, 1, 1, 1}));
}

// Sorts by the real parts, then by the imaginary ones, as numpy.unique() does.
TYPED_TEST(ComplexMove, UniqueSorts)
{
    ConstantGraph graph;
    const std::vector<TypeParam> values = {{1, 2}, {-1, 5}, {1, -2}, {1, 2}, {-1, 5}};
    graph.builder().constant("x", {5}, values, kType<TypeParam>);
    graph.add("Unique", {"x"}, {"y", "first", "place", "count"});
    EXPECT_EQ(elements_of<TypeParam>(graph.evaluate()),
              (std::vector<TypeParam>{{-1, 5}, {1, -2}, {1, 2}}));
    EXPECT_EQ(values_of<int64_t>(graph.evaluate("first")), (Ints{1, 2, 0}));
    EXPECT_EQ(values_of<int64_t>(graph.evaluate("place")), (Ints{2, 0, 1, 2, 0}));
    EXPECT_EQ(values_of<int64_t>(graph.evaluate("count")), (Ints{2, 1, 2}));
    ConstantGraph rows;
    const std::vector<TypeParam> pairs = {{2, 0}, {0, 1}, {2, 0}, {0, 0}, {2, 0}, {0, 1}};
    rows.builder().constant("x", {3, 2}, pairs, kType<TypeParam>);
    ASSERT_EQ(set_node_int(rows.add("Unique", {"x"}), "axis", 0), 0);
    EXPECT_EQ(elements_of<TypeParam>(rows.evaluate()),
              (std::vector<TypeParam>{{2, 0}, {0, 0}, {2, 0}, {0, 1}}));
}

TYPED_TEST(ComplexMove, ConstantsAreGiven)
{
    ConstantGraph graph;
    TypeParam values[] = {{1, 2}, {3, -4}};
    const op_tensor value = {kType<TypeParam>, 1, {2}, sizeof values, values};
    ASSERT_EQ(set_node_tensor(graph.add("Constant", {}), "value", &value), 0);
    EXPECT_EQ(elements_of<TypeParam>(graph.evaluate()), (std::vector<TypeParam>{{1, 2}, {3, -4}}));
}

// ---- what does not take them ----

// The operators whose schemas have complex numbers, up to opset 28, except GridSample, which
// computes.
TEST(Complex, OperatorsTakeThemAsTheSchemasSay)
{
    const std::set<std::string> expected = {"CenterCropPad",
                                            "Compress",
                                            "Concat",
                                            "ConcatFromSequence",
                                            "Constant",
                                            "DepthToSpace",
                                            "Expand",
                                            "Flatten",
                                            "Gather",
                                            "GatherElements",
                                            "GatherND",
                                            "Identity",
                                            "If",
                                            "Loop",
                                            "NonZero",
                                            "OneHot",
                                            "Optional",
                                            "OptionalGetElement",
                                            "OptionalHasElement",
                                            "Pad",
                                            "RandomNormalLike",
                                            "RandomUniformLike",
                                            "Reshape",
                                            "Resize",
                                            "ReverseSequence",
                                            "Scan",
                                            "ScatterElements",
                                            "ScatterND",
                                            "SequenceAt",
                                            "SequenceConstruct",
                                            "SequenceEmpty",
                                            "SequenceErase",
                                            "SequenceInsert",
                                            "SequenceLength",
                                            "SequenceMap",
                                            "Shape",
                                            "Size",
                                            "Slice",
                                            "SpaceToDepth",
                                            "Split",
                                            "SplitToSequence",
                                            "Squeeze",
                                            "TensorScatter",
                                            "Tile",
                                            "Transpose",
                                            "Trilu",
                                            "Unique",
                                            "Unsqueeze",
                                            "Where",
                                            "tengine.BitCast"};  // in no schema
    EXPECT_EQ(list_operators(OP_TAKES_COMPLEX), expected);
}

TEST(Complex, OtherOperatorsTakeNone)
{
    ConstantGraph graph;
    add_values<Single>(&graph, "x", {1}, {1});
    graph.add("Add", {"x", "x"});
    graph.expect_failure(TENGINE_EDTYPE,
                         "Add 'y': input 0 'x' is complex64, which it does not take");
    ConstantGraph cast;
    cast.input<float>("x", {1}, {1});
    ASSERT_EQ(set_node_int(cast.add("Cast", {"x"}), "to", 15), 0);
    cast.expect_failure(TENGINE_EDTYPE, "output 0 'y' is complex128, which it does not take");
}

TEST(Complex, WhatComputesIsRefused)
{
    ConstantGraph resize;
    add_values<Double>(&resize, "x", {1, 1, 2, 2}, {1, 2, 3, 4});
    resize.builder().floats("scales", {4}, {1, 1, 2, 2});
    set_text(resize.add("Resize", {"x", "", "scales"}), "mode", "linear");
    resize.expect_failure(TENGINE_EDTYPE, "mode 'linear' is not defined for complex128");
    ConstantGraph scatter;
    add_values<Single>(&scatter, "x", {2}, {1, 2});
    scatter.builder().ints("i", {0, 0});
    set_text(scatter.add("ScatterElements", {"x", "i", "x"}), "reduction", "add");
    scatter.expect_failure(TENGINE_EDTYPE, "reduction 'add' is not defined for complex64");
    ConstantGraph one_hot;
    add_values<Single>(&one_hot, "i", {2}, {1, 2});
    one_hot.builder().ints("depth", {3});
    one_hot.builder().ints("values", {0, 1});
    one_hot.add("OneHot", {"i", "depth", "values"});
    one_hot.expect_failure(TENGINE_EDTYPE, "input 0 'i' is complex64, expected one of");
    ConstantGraph gather;
    add_values<Single>(&gather, "x", {2}, {1, 2});
    gather.add("Gather", {"x", "x"});
    gather.expect_failure(TENGINE_EDTYPE, "indices are complex64, expected int32 or int64");
}

TEST(Complex, RandomNumbersHaveTheirShape)
{
    ConstantGraph graph;
    add_values<Single>(&graph, "x", {2, 3}, {1, 2, 3, 4, 5, 6});
    node* made = graph.add("RandomUniformLike", {"x"}, {"r"});
    graph.add("Shape", {"r"});
    graph.expect_failure(TENGINE_EDTYPE, "the output is complex64, expected a float type");
    ASSERT_EQ(set_node_int(made, "dtype", 1), 0);
    EXPECT_EQ(values_of<int64_t>(graph.evaluate()), (Ints{2, 3}));
}

}  // namespace
}  // namespace tengine::test
