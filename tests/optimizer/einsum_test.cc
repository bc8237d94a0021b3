// SPDX-License-Identifier: Apache-2.0
// Einsum as products: the values of random equations against a loop over all labels, the nodes that
// replace it, and the order in which operands are multiplied.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <random>

#include "device/cpu/shared/types.h"
#include "graph/graph.h"
#include "operator/param.h"
#include "scheduler/scheduler.h"
#include "support/ir_builder.h"

namespace {

using namespace tengine::test;
using Dims = std::vector<int>;

// A letter for each label, upper case ones for "...".
struct Equation
{
    std::vector<std::string> terms;
    std::string output;
    std::map<char, int> sizes;
    std::string text;  // the node's attribute

    void add_text()
    {
        for (size_t i = 0; i < terms.size(); ++i)
            text += (i == 0 ? "" : ",") + terms[i];
        text += "->" + output;
    }
};

// A dimension of one element may broadcast to a longer one.
struct Operand
{
    Dims dims;
    std::vector<double> values;
};

std::vector<double> sum_all(const Equation& equation, const std::vector<Operand>& operands)
{
    std::string labels = equation.output;
    for (const auto& [label, size] : equation.sizes)
        if (labels.find(label) == std::string::npos) labels += label;
    size_t result_num = 1, sum_num = 1;
    for (size_t i = 0; i < labels.size(); ++i)
        (i < equation.output.size() ? result_num : sum_num) *=
            static_cast<size_t>(equation.sizes.at(labels[i]));
    std::vector<double> results(result_num, 0);
    for (size_t at = 0; at < result_num * sum_num; ++at) {
        std::map<char, int> place;
        for (size_t i = labels.size(), rest = at; i-- > 0;) {
            const auto size = static_cast<size_t>(equation.sizes.at(labels[i]));
            place[labels[i]] = static_cast<int>(rest % size);
            rest /= size;
        }
        double product = 1;
        for (size_t k = 0; k < operands.size(); ++k) {
            size_t offset = 0;
            for (size_t i = 0; i < equation.terms[k].size(); ++i) {
                const int dim = operands[k].dims[i];
                offset = offset * static_cast<size_t>(dim) +
                         static_cast<size_t>(dim == 1 ? 0 : place[equation.terms[k][i]]);
            }
            product *= operands[k].values[offset];
        }
        results[at / sum_num] += product;
    }
    return results;
}

template <class T>
struct EinsumRun
{
    IrBuilder builder;
    std::vector<T> results;
    Dims dims;

    EinsumRun(const std::string& equation, const std::vector<Operand>& operands,
              const std::vector<bool>& constants = {})
    {
        const int type = tengine::cpu::data_type_of<T>();
        std::vector<std::string> names;
        for (size_t i = 0; i < operands.size(); ++i) {
            names.push_back("x" + std::to_string(i));
            std::vector<T> values;
            for (const double value : operands[i].values)
                values.push_back(static_cast<T>(static_cast<float>(value)));
            if (i < constants.size() && constants[i]) {
                builder.constant(names.back(), operands[i].dims, values, type);
                continue;
            }
            builder.input(names.back(), operands[i].dims, type);
            kept_.push_back(values);
            given_.push_back(names.back());
        }
        node* einsum = builder.add("Einsum", names, {"y"});
        EXPECT_EQ(set_node_text(einsum, "equation", equation.c_str(), equation.size()), 0);
        builder.outputs({"y"});
    }
    void run()
    {
        ir_run_options_t options = {};
        options.num_thread = 1;
        ASSERT_EQ(prerun_ir_graph(builder.get(), &options), TENGINE_OK) << tengine_error_message();
        for (size_t i = 0; i < given_.size(); ++i)
            set_ir_tensor_data(builder.find(given_[i]), kept_[i].data(), false);
        ASSERT_EQ(run_ir_graph(builder.get(), 1), TENGINE_OK) << tengine_error_message();
        const tensor* y = builder.find("y");
        const T* data = static_cast<const T*>(y->data);
        results.assign(data, data + y->elem_num);
        dims.assign(y->dims, y->dims + y->dim_num);
    }
    // Counts an operator's nodes in the execution graph.
    int count(const char* op)
    {
        const auto graph = std::unique_ptr<struct graph, void (*)(struct graph*)>(
            make_execution_graph(builder.get()), destroy_ir_graph);
        EXPECT_NE(graph, nullptr) << tengine_error_message();
        int number = 0;
        for (int i = 0; graph && i < graph->node_num; ++i)
            number += std::strcmp(get_ir_node_op(graph->node_list[i]), op) == 0;
        return number;
    }

  private:
    std::vector<std::vector<T>> kept_;
    std::vector<std::string> given_;
};

class Generator
{
  public:
    explicit Generator(unsigned seed) : random_(seed) {}

    Equation equation(int term_num)
    {
        Equation made;
        const int label_num = number(1, 5);
        std::string used;
        for (int i = 0; i < label_num; ++i)
            made.sizes[static_cast<char>('a' + i)] = number(1, 4);
        for (int i = 0; i < term_num; ++i) {
            std::string term;
            for (int k = number(0, 4); k > 0; --k)
                term += static_cast<char>('a' + number(0, label_num - 1));
            used += term;
            made.terms.push_back(term);
        }
        for (int i = 0; i < label_num; ++i) {
            const char label = static_cast<char>('a' + i);
            const bool is_used = used.find(label) != std::string::npos;
            if (is_used && number(0, 1)) made.output += label;
            if (!is_used) made.sizes.erase(label);
        }
        std::shuffle(made.output.begin(), made.output.end(), random_);
        made.add_text();
        return made;
    }
    std::vector<Operand> operands(const Equation& equation, bool may_broadcast)
    {
        std::vector<Operand> made;
        std::map<char, bool> is_long;
        for (size_t k = 0; k < equation.terms.size(); ++k) {
            Operand operand;
            size_t count = 1;
            for (const char label : equation.terms[k]) {
                const bool is_first = !is_long[label];
                is_long[label] = true;
                const int size = equation.sizes.at(label);
                operand.dims.push_back(!is_first && may_broadcast && number(0, 5) == 0 ? 1 : size);
                count *= static_cast<size_t>(operand.dims.back());
            }
            for (size_t i = 0; i < count; ++i)
                operand.values.push_back(number(-4, 4));
            made.push_back(operand);
        }
        return made;
    }
    int number(int least, int most)
    {
        return std::uniform_int_distribution<int>(least, most)(random_);
    }

  private:
    std::mt19937 random_;
};

template <class T>
void expect_sums(const Equation& equation, const std::vector<Operand>& operands,
                 const std::vector<bool>& constants = {})
{
    SCOPED_TRACE(equation.text);
    EinsumRun<T> run(equation.text, operands, constants);
    run.run();
    if (testing::Test::HasFatalFailure()) return;
    Dims dims;
    for (const char label : equation.output)
        dims.push_back(equation.sizes.at(label));
    EXPECT_EQ(run.dims, dims);
    const std::vector<double> expected = sum_all(equation, operands);
    ASSERT_EQ(run.results.size(), expected.size());
    // Sums of small integers are exact while they fit.
    for (size_t i = 0; i < expected.size(); ++i) {
        const auto number = static_cast<int64_t>(expected[i]);
        if constexpr (std::is_integral_v<T>)
            ASSERT_EQ(run.results[i], static_cast<T>(number)) << i;
        else
            ASSERT_EQ(static_cast<double>(run.results[i]), expected[i]) << i;
    }
}

TEST(EinsumPass, RandomEquations)
{
    Generator generator(1);
    for (int i = 0; i < 300; ++i) {
        const Equation equation = generator.equation(1 + i % 4);
        const std::vector<Operand> operands = generator.operands(equation, i % 3 == 0);
        std::vector<bool> constants;
        for (size_t k = 0; k < operands.size(); ++k)
            constants.push_back(operands.size() > 1 && generator.number(0, 2) == 0);
        expect_sums<float>(equation, operands, constants);
        if (testing::Test::HasFailure()) return;
    }
}

// 8-bit and 16-bit integers wrap as in the loop.
TEST(EinsumPass, OtherTypes)
{
    Generator generator(2);
    for (int i = 0; i < 24; ++i) {
        const Equation equation = generator.equation(2 + i % 2);
        const std::vector<Operand> operands = generator.operands(equation, false);
        expect_sums<double>(equation, operands);
        expect_sums<int8_t>(equation, operands);
        expect_sums<int16_t>(equation, operands);
        expect_sums<int32_t>(equation, operands);
        expect_sums<int64_t>(equation, operands);
        if (testing::Test::HasFailure()) return;
    }
}

Operand make_operand(const Dims& dims)
{
    Operand operand = {dims, {}};
    int count = 1;
    for (const int dim : dims)
        count *= dim;
    for (int i = 0; i < count; ++i)
        operand.values.push_back(i % 5 - 2);
    return operand;
}

TEST(EinsumPass, EllipsesBroadcast)
{
    // With upper case letters in place of "...".
    struct Case
    {
        const char* text;
        Equation equation;
        std::vector<Dims> dims;
    };
    const Case cases[] = {
        {"...ij,...jk->...ik",
         {{"ABij", "Bjk"}, "ABik", {{'A', 2}, {'B', 3}, {'i', 4}, {'j', 5}, {'k', 2}}, ""},
         {{2, 3, 4, 5}, {3, 5, 2}}},
        {"...ij,...jk",
         {{"ABij", "ABjk"}, "ABik", {{'A', 2}, {'B', 3}, {'i', 4}, {'j', 5}, {'k', 2}}, ""},
         {{2, 1, 4, 5}, {1, 3, 5, 2}}},
        {"i...,i...->...", {{"iA", "iA"}, "A", {{'A', 3}, {'i', 4}}, ""}, {{4, 3}, {4, 1}}},
    };
    for (const Case& c : cases) {
        Equation equation = c.equation;
        equation.text = c.text;
        std::vector<Operand> operands;
        for (const Dims& dims : c.dims)
            operands.push_back(make_operand(dims));
        expect_sums<float>(equation, operands);
    }
}

TEST(EinsumPass, NoLoopIsLeft)
{
    EinsumRun<float> chain("ab,bc,cd->ad",
                           {make_operand({3, 4}), make_operand({4, 5}), make_operand({5, 6})});
    EXPECT_EQ(chain.count("Einsum"), 0);
    EXPECT_EQ(chain.count("MatMul"), 2);
    EXPECT_EQ(chain.count("Transpose"), 0);
    EXPECT_EQ(chain.count("Reshape"), 0);
    EinsumRun<float> linear("bsd,dhk->bshk", {make_operand({2, 3, 4}), make_operand({4, 2, 5})},
                            {false, true});
    EXPECT_EQ(linear.count("MatMul"), 1);
    EXPECT_EQ(linear.count("Transpose"), 0);
    EinsumRun<float> turned("bsd,hkd->bshk", {make_operand({2, 3, 4}), make_operand({2, 5, 4})},
                            {false, true});
    EXPECT_EQ(turned.count("MatMul"), 1);
    EXPECT_EQ(turned.count("Transpose"), 0) << "the constant is turned ahead of the run";
    EinsumRun<float> outer("i,j->ij", {make_operand({3}), make_operand({4})});
    EXPECT_EQ(outer.count("Mul"), 1);
    EinsumRun<float> nothing("ij,jk->ik", {make_operand({3, 0}), make_operand({0, 4})});
    EXPECT_EQ(nothing.count("Einsum"), 1) << "sums of nothing stay";
}

int64_t count_macs(EinsumRun<float>& run)
{
    const auto graph = std::unique_ptr<struct graph, void (*)(struct graph*)>(
        make_execution_graph(run.builder.get()), destroy_ir_graph);
    EXPECT_NE(graph, nullptr) << tengine_error_message();
    int64_t macs = 0;
    for (int i = 0; graph && i < graph->node_num; ++i)
        if (std::strcmp(get_ir_node_op(graph->node_list[i]), "MatMul") == 0)
            macs += get_ir_node_macs(graph->node_list[i]);
    return macs;
}

TEST(EinsumPass, TheCheapestPairsComeFirst)
{
    // Products start at the end of the chain with the vector.
    EinsumRun<float> right("ab,bc,cd->ad",
                           {make_operand({40, 30}), make_operand({30, 20}), make_operand({20, 1})});
    EXPECT_EQ(count_macs(right), 30 * 20 * 1 + 40 * 30 * 1);
    EinsumRun<float> left("ab,bc,cd->ad",
                          {make_operand({1, 30}), make_operand({30, 20}), make_operand({20, 40})});
    EXPECT_EQ(count_macs(left), 1 * 30 * 20 + 1 * 20 * 40);
    // A Tucker product: four operands, computed as products of two.
    EinsumRun<float> tucker("abc,ax,by,cz->xyz", {make_operand({8, 8, 8}), make_operand({8, 8}),
                                                  make_operand({8, 8}), make_operand({8, 8})});
    EXPECT_EQ(count_macs(tucker), 3 * 8 * 8 * 8 * 8);
    // The cheapest pairs of many operands: a chain of vectors and matrices is as cheap as from its
    // vector.
    std::string equation = "a";
    std::vector<Operand> operands = {make_operand({6})};
    for (char label = 'a'; label < 'k'; ++label) {
        equation += std::string(",") + label + static_cast<char>(label + 1);
        operands.push_back(make_operand({6, 6}));
    }
    EinsumRun<float> many(equation + "->k", operands);
    EXPECT_EQ(many.count("Einsum"), 0);
    EXPECT_EQ(count_macs(many), 10 * 6 * 6);
}

// Folding does not run the loop, which would take years.
TEST(EinsumPass, ConstantsBecomeProductsFirst)
{
    std::vector<Operand> operands;
    for (int i = 0; i < 6; ++i)
        operands.push_back(make_operand({1000}));
    EinsumRun<float> run("a,b,c,d,e,f->", operands, std::vector<bool>(6, true));
    run.run();
    EXPECT_EQ(run.results, std::vector<float>{0});
}

// A node with shapes that depend on data is a loop, up to a limit.
TEST(EinsumPass, LoopsOfDynamicShapesAreBounded)
{
    for (const int length : {7, 1000}) {
        IrBuilder source;
        source.input("x", {length});
        source.add("NonZero", {"x"}, {"places"});
        source.add("Cast", {"places"}, {"v"});
        node* cast = find_node(source.get(), "v");
        ASSERT_EQ(set_node_int(cast, "to", 1), 0);
        node* einsum = source.add("Einsum", {"v", "v", "v", "v"}, {"y"});
        const char* equation = "ia,ib,ic,id->i";
        ASSERT_EQ(set_node_text(einsum, "equation", equation, std::strlen(equation)), 0);
        source.outputs({"y"});
        ir_run_options_t options = {};
        options.num_thread = 1;
        ASSERT_EQ(prerun_ir_graph(source.get(), &options), TENGINE_OK) << tengine_error_message();
        std::vector<float> ones(static_cast<size_t>(length), 1);
        set_ir_tensor_data(source.find("x"), ones.data(), false);
        const int status = run_ir_graph(source.get(), 1);
        if (length == 7) {
            ASSERT_EQ(status, TENGINE_OK) << tengine_error_message();
            EXPECT_EQ(*source.find("y")->f32, 21.0f * 21 * 21 * 21);
        } else {
            EXPECT_EQ(status, TENGINE_ELIMIT);
            EXPECT_NE(std::string(tengine_error_message()).find("expected at most 274877906944"),
                      std::string::npos)
                << tengine_error_message();
        }
    }
}

}  // namespace
