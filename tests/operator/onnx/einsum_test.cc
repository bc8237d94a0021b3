// SPDX-License-Identifier: Apache-2.0
// Einsum: equations beyond those of the ONNX suite, types, and invalid equations.
#include <cstring>

#include "constant_graph.h"
#include "operator/onnx/einsum_param.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using cpu::Half;
using Dims = std::vector<int>;

template <class T>
void add_inputs(ConstantGraph& graph, const char* equation, const std::vector<Dims>& shapes)
{
    std::vector<std::string> names;
    for (const Dims& dims : shapes) {
        int count = 1;
        for (const int dim : dims)
            count *= dim;
        std::vector<T> values;
        for (int i = 0; i < count; ++i)
            values.push_back(static_cast<T>(i + 1));
        names.push_back("x" + std::to_string(names.size()));
        graph.input(names.back(), dims, values);
    }
    node* node = graph.add("Einsum", names);
    ASSERT_EQ(set_node_text(node, "equation", equation, strlen(equation)), 0);
}

template <class T = float>
std::vector<double> einsum(const char* equation, const std::vector<Dims>& shapes,
                           const Dims& expected_dims)
{
    SCOPED_TRACE(equation);
    ConstantGraph graph;
    add_inputs<T>(graph, equation, shapes);
    const tensor* y = graph.evaluate();
    EXPECT_EQ(dims_of(y), expected_dims);
    std::vector<double> values;
    for (const T value : values_of<T>(y))
        values.push_back(static_cast<double>(value));
    return values;
}

using Values = std::vector<double>;

TEST(Einsum, Equations)
{
    EXPECT_EQ(einsum("ij->ji", {{2, 3}}, {3, 2}), (Values{1, 4, 2, 5, 3, 6}));
    EXPECT_EQ(einsum(" i j , j k ", {{2, 2}, {2, 1}}, {2, 1}), (Values{5, 11}));
    EXPECT_EQ(einsum("ba", {{2, 2}}, {2, 2}), (Values{1, 3, 2, 4}));
    EXPECT_EQ(einsum("Ba->", {{2, 2}}, {}), (Values{10}));
    EXPECT_EQ(einsum("ii", {{3, 3}}, {}), (Values{15}));
    EXPECT_EQ(einsum("ii->i", {{3, 3}}, {3}), (Values{1, 5, 9}));
    EXPECT_EQ(einsum("i,j->ij", {{2}, {3}}, {2, 3}), (Values{1, 2, 3, 2, 4, 6}));
    EXPECT_EQ(einsum(",i->i", {{}, {2}}, {2}), (Values{1, 2}));
    EXPECT_EQ(einsum("i,i,i->", {{2}, {2}, {2}}, {}), (Values{9}));
    EXPECT_EQ(einsum("i,i", {{0}, {0}}, {}), (Values{0}));
}

TEST(Einsum, DimensionsUnderTheEllipsis)
{
    EXPECT_EQ(einsum("...i->...", {{2, 1, 2}}, {2, 1}), (Values{3, 7}));
    EXPECT_EQ(einsum("i...", {{2, 3}}, {3, 2}), (Values{1, 4, 2, 5, 3, 6}));
    // The ellipsis broadcasts, in rank as well.
    EXPECT_EQ(einsum("...,...->...", {{2, 1}, {2}}, {2, 2}), (Values{1, 2, 2, 4}));
    EXPECT_EQ(einsum("...ij,...jk", {{2, 1, 2}, {2, 1}}, {2, 1, 1}), (Values{5, 11}));
    EXPECT_EQ(einsum("...->", {{2, 2}}, {}), (Values{10}));
    EXPECT_EQ(einsum("...", {{}}, {}), (Values{1}));
}

template <class T>
class EinsumTypes : public testing::Test
{
};
using Numbers = testing::Types<float, Half, double, int8_t, uint8_t, int16_t, uint16_t, int32_t,
                               uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(EinsumTypes, Numbers);

TYPED_TEST(EinsumTypes, Product)
{
    EXPECT_EQ(einsum<TypeParam>("ij,jk->ik", {{2, 2}, {2, 2}}, {2, 2}), (Values{7, 10, 15, 22}));
}

TEST(Einsum, RefusesWhatMakesNoSense)
{
    const auto refuse = [](const char* equation, std::vector<Dims> shapes, const char* part) {
        SCOPED_TRACE(equation);
        ConstantGraph graph;
        add_inputs<float>(graph, equation, shapes);
        graph.expect_failure(TENGINE_EINVAL, part);
    };
    refuse("ij->i", {{2}}, "2 labels for input 0 of rank 1");
    refuse("i->i", {{2, 2}}, "1 labels for input 0 of rank 2");
    refuse("i,i->i", {{2}}, "more terms than inputs");
    refuse("i->i", {{2}, {2}}, "fewer terms than inputs");
    refuse("i,i", {{2}, {3}}, "size 3 here and 2 before");
    refuse("i->j", {{2}}, "repeated or in no input");
    refuse("i->ii", {{2}}, "repeated or in no input");
    refuse("i->i,", {{2}}, "invalid term after '->'");
    refuse("i$->i", {{2}}, "letters, ','");
    refuse("i.->i", {{2}}, "letters, ','");
    refuse("...i...->i", {{2}}, "two ellipses");
    refuse("i->i...i...", {{2}}, "two ellipses");
}

// An empty tensor may have no memory: nothing is read, and no address of an element is computed,
// which clang's undefined behaviour sanitizer would detect.
TEST(Einsum, SumsOfNothing)
{
    const auto evaluate = [](const char* equation, const std::vector<Dims>& shapes) {
        ConstantGraph graph;
        add_inputs<float>(graph, equation, shapes);
        for (const char* name : {"x0", "x1"}) {
            tensor* input = graph.builder().find(name);
            if (input->elem_num == 0) release_ir_tensor_data(input);
        }
        return numbers_of(graph.evaluate());
    };
    EXPECT_EQ(evaluate("ij,jk->ik", {{2, 0}, {0, 3}}), std::vector<float>(6, 0));
    EXPECT_EQ(evaluate("ij,k->ik", {{2, 0}, {3}}), std::vector<float>(6, 0));
    EXPECT_EQ(evaluate("ij,jk->ik", {{2, 3}, {3, 0}}), std::vector<float>());
}

TEST(Einsum, MultiplyAccumulates)
{
    ConstantGraph graph;
    add_inputs<float>(graph, "bij,bjk->bik", {{2, 3, 4}, {2, 4, 5}});
    node* node = graph.builder().get()->node_list[graph.builder().get()->node_num - 1];
    ASSERT_EQ(node->op.infer_shape(node), 0);
    EXPECT_EQ(get_ir_node_macs(node), 2 * 3 * 4 * 5);
}

TEST(Einsum, TooManyInputs)
{
    std::string equation = "i";
    for (int i = 0; i < EINSUM_MAX_INPUTS; ++i)
        equation += ",i";
    ConstantGraph graph;
    add_inputs<float>(graph, equation.c_str(), std::vector<Dims>(EINSUM_MAX_INPUTS + 1, Dims{1}));
    graph.expect_failure(TENGINE_ELIMIT, "17 inputs, expected at most 16");
}

}  // namespace
}  // namespace tengine::test
