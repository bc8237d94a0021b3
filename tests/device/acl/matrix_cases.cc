// SPDX-License-Identifier: Apache-2.0
#include "device/acl/node_case.h"

namespace tengine::acl {

void add_matrix_cases(std::vector<NodeCase>& cases)
{
    for (const int m : {1, 7, 33})
        for (const int n : {1, 13, 17})
            for (const int k : {1, 31, 129})
                cases.push_back(
                    {"Gemm", {fed({m, k}), constant({n, k}), constant({n})}, {}, {{"transB", 1}}});
    for (const int transposed_a : {0, 1})
        for (const int transposed_b : {0, 1})
            for (const int size : {1, 13}) {
                const std::vector<int> a =
                    transposed_a ? std::vector{17, size} : std::vector{size, 17};
                const std::vector<int> b = transposed_b ? std::vector{31, 17} : std::vector{17, 31};
                const Integers turns = {{"transA", transposed_a}, {"transB", transposed_b}};
                cases.push_back({"Gemm", {fed(a), constant(b)}, {}, turns});
                cases.push_back({"Gemm", {fed(a), fed(b)}, {}, turns});
                cases.push_back({"Gemm",
                                 {fed(a), constant(b), constant({size, 1})},
                                 {},
                                 turns,
                                 {{"alpha", 1.5F}}});
            }
    for (const std::vector<int>& addend : std::vector<std::vector<int>>{{1}, {1, 33}, {13, 33}})
        cases.push_back({"Gemm", {fed({13, 7}), constant({7, 33}), fed(addend)}});
    // Rows and columns have equally many results.
    for (const std::vector<int>& addend : std::vector<std::vector<int>>{{1, 13}, {13, 1}})
        cases.push_back({"Gemm", {fed({13, 7}), constant({7, 13}), constant(addend)}});

    const auto matmul = [&](const std::vector<int>& a, const std::vector<int>& b) {
        cases.push_back({"MatMul", {fed(a), constant(b)}});
        cases.push_back({"MatMul", {fed(a), fed(b)}});
    };
    for (const int m : {2, 9, 16})
        for (const int n : {2, 3, 5, 9, 15, 33})
            matmul({m, 31}, {31, n});
    matmul({13}, {13, 17});
    matmul({7, 13}, {13});
    matmul({13}, {13});
    matmul({2, 3, 7, 13}, {13, 17});
    matmul({2, 3, 7, 13}, {2, 3, 13, 5});
    matmul({2, 1, 7, 13}, {1, 3, 13, 5});
    matmul({7, 13}, {4, 13, 5});
    matmul({4, 7, 13}, {13});
    matmul({101, 203}, {203, 77});
}

}  // namespace tengine::acl
