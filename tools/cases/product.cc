// SPDX-License-Identifier: Apache-2.0
// Products of matrices, at sizes that are awkward for fast kernels.
#include <tuple>

#include "cases/case.h"

namespace tengine::tools {
namespace {

using Shapes = std::vector<std::vector<int>>;

const Types& product_types()
{
    static const Types types = [] {
        Types made = float_types();
        made.insert(made.end(),
                    {TENGINE_DT_INT32, TENGINE_DT_INT64, TENGINE_DT_UINT32, TENGINE_DT_UINT64});
        return made;
    }();
    return types;
}

// The first operand is fed, the others are constants.
Case make(const char* op, const Shapes& shapes)
{
    Case made = {op, {}};
    for (const std::vector<int>& shape : shapes)
        made.inputs.push_back(made.inputs.empty() ? fed(shape) : constant(shape));
    made.types = product_types();
    return made;
}

void add_gemms(std::vector<Case>* cases)
{
    const auto add = [&](const Shapes& shapes,
                         const std::vector<std::pair<std::string, int>>& ints = {},
                         const std::vector<std::pair<std::string, float>>& floats = {}) {
        Case made = make("Gemm", shapes);
        made.ints = ints;
        made.floats = floats;
        if (!floats.empty()) made.types = float_types();
        cases->push_back(made);
    };
    for (int m : {1, 7, 33})
        for (int n : {1, 13, 17})
            for (int k : {1, 31, 129})
                add({{m, k}, {n, k}, {n}}, {{"transB", 1}});
    for (int transposed_a : {0, 1})
        for (int transposed_b : {0, 1})
            for (int size : {1, 13}) {
                const std::vector<int> a =
                    transposed_a ? std::vector{17, size} : std::vector{size, 17};
                const std::vector<int> b = transposed_b ? std::vector{31, 17} : std::vector{17, 31};
                add({a, b}, {{"transA", transposed_a}, {"transB", transposed_b}});
                cases->push_back(cases->back());
                cases->back().inputs[1] = fed(b);
                add({a, b, {size, 1}}, {{"transA", transposed_a}, {"transB", transposed_b}},
                    {{"alpha", 1.5f}});
                add({a, b, {size, 1}}, {{"transA", transposed_a}, {"transB", transposed_b}},
                    {{"alpha", 1.5f}, {"beta", 2.25f}});
            }
    for (const std::vector<int>& addend : std::vector<std::vector<int>>{{}, {1}, {1, 33}, {13, 33}})
        add({{13, 7}, {7, 33}, addend});
    for (const std::vector<int>& addend : Shapes{{1}, {1, 33}, {13, 33}}) {
        add({{13, 7}, {7, 33}});
        cases->back().inputs.push_back(fed(addend));
    }
    // Rows and columns have equally many results.
    for (const std::vector<int>& addend : Shapes{{1, 13}, {13, 1}})
        add({{13, 7}, {7, 13}, addend});
    add({{13, 7}, {7, 33}, {33}}, {}, {{"beta", 0.0f}});
    add({{3, 0}, {0, 5}, {5}});
    add({{0, 4}, {4, 5}});
}

void add_matmuls(std::vector<Case>* cases)
{
    const auto add_constant = [&](const std::vector<int>& a, const std::vector<int>& b) {
        cases->push_back(make("MatMul", {a, b}));
    };
    // The second operand is a constant, and fed.
    const auto add = [&](const std::vector<int>& a, const std::vector<int>& b) {
        add_constant(a, b);
        Case computed = make("MatMul", {a});
        computed.inputs.push_back(fed(b));
        computed.types = few_types(computed.types);
        cases->push_back(computed);
    };
    for (int m : {2, 9, 16})
        for (int n : {2, 3, 5, 9, 15, 33})
            add({m, 31}, {31, n});
    add({7, 13}, {13, 17});
    add({13}, {13, 17});
    add({7, 13}, {13});
    add({13}, {13});
    add({2, 3, 7, 13}, {13, 17});
    add({2, 3, 7, 13}, {2, 3, 13, 5});
    add({2, 1, 7, 13}, {1, 3, 13, 5});
    add({7, 13}, {4, 13, 5});
    add({4, 7, 13}, {13});
    add({3, 5, 0}, {3, 0, 2});
    add({0, 5, 4}, {4, 2});
    // Large enough to be cut into strips.
    add_constant({301, 203}, {203, 177});
    add_constant({99, 203}, {203, 577});
    add_constant({1, 1501}, {1501, 1777});
    add_constant({1777, 1501}, {1501});
    Case computed = make("MatMul", {{4, 7, 64}});
    computed.inputs.push_back(fed({64, 32}));
    cases->push_back(computed);
}

}  // namespace

void add_product_cases(std::vector<Case>* cases)
{
    add_gemms(cases);
    add_matmuls(cases);
    for (const auto& [equation, a, b] :
         std::vector<std::tuple<std::string, std::vector<int>, std::vector<int>>>{
             {"ij,jk->ik", {7, 13}, {13, 17}},
             {"bij,bjk->bik", {3, 7, 13}, {3, 13, 5}},
             {"bhid,bhjd->bhij", {1, 3, 7, 16}, {1, 3, 5, 16}},
             {"i,j->ij", {17}, {9}}}) {
        Case made = make("Einsum", {a});
        made.inputs.push_back(fed(b));
        made.texts = {{"equation", equation}};
        cases->push_back(made);
    }
}

}  // namespace tengine::tools
