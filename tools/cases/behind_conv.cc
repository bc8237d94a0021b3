// SPDX-License-Identifier: Apache-2.0
// Cases whose input comes from a convolution. A device may hand on the NHWC result of a convolution
// as it is, and has kernels for that; a single node would not be computed by
// them.
#include <algorithm>
#include <iterator>

#include "cases/case.h"

namespace tengine::tools {
namespace {

constexpr const char* kOperators[] = {"AveragePool",
                                      "BatchNormalization",
                                      "DepthToSpace",
                                      "GlobalAveragePool",
                                      "GlobalMaxPool",
                                      "MaxPool",
                                      "QuantizeLinear",
                                      "ReduceL1",
                                      "ReduceL2",
                                      "ReduceMax",
                                      "ReduceMean",
                                      "ReduceMin",
                                      "ReduceSum",
                                      "ReduceSumSquare",
                                      "Resize",
                                      "Slice",
                                      "com.microsoft.QLinearAdd",
                                      "com.microsoft.QLinearAveragePool",
                                      "com.microsoft.QLinearGlobalAveragePool",
                                      "com.microsoft.QLinearMul",
                                      "tengine.Lookup"};

// The types of convolutions.
const Types kTypes = {TENGINE_DT_FP32, TENGINE_DT_FP16, TENGINE_DT_BF16, TENGINE_DT_INT8,
                      TENGINE_DT_UINT8};

template <class Item, class Items>
bool contains(const Items& items, const Item& item)
{
    return std::find(std::begin(items), std::end(items), item) != std::end(items);
}

// Whether it has channels and planes, whose layout may be NHWC.
bool is_picture(const Operand& input)
{
    const std::vector<int>& dims = input.dims;
    return !input.is_absent && !input.is_constant && input.values.empty() && dims.size() == 4 &&
           dims[0] > 0 && dims[1] > 1 && int64_t{dims[2]} * dims[3] > 1;
}

}  // namespace

void add_cases_behind_conv(std::vector<Case>* cases)
{
    std::vector<Case> made;
    for (const Case& of : *cases) {
        if (!contains(kOperators, of.op) || of.inputs.empty() || !is_picture(of.inputs[0]) ||
            (of.inputs[0].data_type != kCaseType && !contains(kTypes, of.inputs[0].data_type)))
            continue;
        Case behind = of;
        behind.types.clear();
        std::copy_if(of.types.begin(), of.types.end(), std::back_inserter(behind.types),
                     [](int type) { return contains(kTypes, type); });
        behind.is_behind_conv = true;
        behind.shape_class = "behind a convolution";
        made.push_back(behind);
    }
    cases->insert(cases->end(), made.begin(), made.end());
}

}  // namespace tengine::tools
