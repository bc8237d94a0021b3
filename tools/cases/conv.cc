// SPDX-License-Identifier: Apache-2.0
// Convolutions and products of matrices, at the sizes of the kernels' tests.
#include <tuple>

#include "cases/case.h"
#include "cases/kernel_table.h"

namespace tengine::tools {

void add_conv_cases(std::vector<Case>* cases)
{
    std::vector<KernelCase> table;
    tengine::add_conv_cases(table);
    add_depthwise_cases(table);
    add_conv_transpose_cases(table);
    for (const KernelCase& each : table)
        cases->push_back(from_kernel_case(each, float_types()));
    // Cases that the table lacks: many channels, and weights that are computed.
    cases->push_back({"Conv",
                      {fed({1, 64, 28, 28}), constant({64, 64, 3, 3}), constant({64})},
                      {{"pads", {1, 1, 1, 1}}}});
    cases->push_back({"Conv", {fed({1, 256, 14, 14}), constant({64, 256, 1, 1}), constant({64})}});
    cases->push_back({"Conv", {fed({1, 5, 9, 11}), fed({7, 5, 3, 3})}});
    // As many tiles of six by six results as pay for larger weights.
    cases->push_back({"Conv",
                      {fed({1, 16, 62, 62}), constant({17, 16, 3, 3}), constant({17})},
                      {{"pads", {1, 1, 1, 1}}}});
    for (size_t i = cases->size() - 4; i < cases->size(); ++i)
        (*cases)[i].types = float_types();
}

void add_product_cases(std::vector<Case>* cases)
{
    const Types wide = {TENGINE_DT_INT32, TENGINE_DT_INT64, TENGINE_DT_UINT32, TENGINE_DT_UINT64};
    Types types = float_types();
    types.insert(types.end(), wide.begin(), wide.end());
    std::vector<KernelCase> table;
    tengine::add_product_cases(table);
    for (const KernelCase& each : table) {
        const bool has_factors = !each.floats.empty();
        cases->push_back(from_kernel_case(each, has_factors ? float_types() : types));
    }
    // Both fed.
    for (const auto& [a, b] : std::vector<std::pair<std::vector<int>, std::vector<int>>>{
             {{7, 13}, {13, 17}}, {{2, 3, 7, 13}, {2, 3, 13, 5}}, {{4, 7, 64}, {64, 32}}}) {
        Case made = {"MatMul", {fed(a), fed(b)}};
        made.types = types;
        cases->push_back(made);
    }
    for (const auto& [equation, a, b] :
         std::vector<std::tuple<std::string, std::vector<int>, std::vector<int>>>{
             {"ij,jk->ik", {7, 13}, {13, 17}},
             {"bij,bjk->bik", {3, 7, 13}, {3, 13, 5}},
             {"bhid,bhjd->bhij", {1, 3, 7, 16}, {1, 3, 5, 16}},
             {"i,j->ij", {17}, {9}}}) {
        Case made = {"Einsum", {fed(a), fed(b)}};
        made.texts = {{"equation", equation}};
        made.types = types;
        cases->push_back(made);
    }
}

}  // namespace tengine::tools
