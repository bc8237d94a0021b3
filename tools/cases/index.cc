// SPDX-License-Identifier: Apache-2.0
// Operators that are told by integers where elements are.
#include "cases/case.h"

namespace tengine::tools {
namespace {

Operand indices(std::vector<int> dims, int number)
{
    Operand made = fed(std::move(dims));
    made.data_type = TENGINE_DT_INT64;
    made.low = -number;
    made.high = number - 1;
    return made;
}

// Each once: an element that is written twice has no defined result.
Operand places(std::vector<int> dims, std::vector<double> values)
{
    Operand made = int64_list(std::move(values));
    made.dims = std::move(dims);
    return made;
}

Case make(const char* op, std::vector<Operand> inputs)
{
    Case made = {op, std::move(inputs)};
    made.types = all_types();
    return made;
}

void add_gathers(std::vector<Case>* cases)
{
    for (const int axis : {0, 1, 2}) {
        const std::vector<int> shape = {5, 7, 33};
        const int length = shape[static_cast<size_t>(axis)];
        cases->push_back(make("Gather", {fed(shape), indices({3, 2}, length)}));
        cases->back().ints = {{"axis", axis}};
        std::vector<int> chosen = shape;
        chosen[static_cast<size_t>(axis)] = 4;
        cases->push_back(make("GatherElements", {fed(shape), indices(chosen, length)}));
        cases->back().ints = {{"axis", axis}};
    }
    cases->push_back(make("Gather", {constant({100, 64}), indices({17}, 100)}));
    cases->push_back(make("GatherND", {fed({5, 5, 7}), indices({3, 2}, 5)}));
    cases->push_back(make("GatherND", {fed({5, 5, 7}), indices({2, 3, 1}, 5)}));
}

void add_scatters(std::vector<Case>* cases)
{
    cases->push_back(
        make("ScatterElements", {fed({3, 7}), places({3, 2}, {0, 1, 2, 3, 4, 5}), fed({3, 2})}));
    cases->back().ints = {{"axis", 1}};
    cases->push_back(make("ScatterND", {fed({5, 7}), places({2, 1}, {3, 1}), fed({2, 7})}));
    cases->push_back(make("ScatterND", {fed({5, 7}), places({2, 2}, {3, 1, 0, 6}), fed({2})}));
    Operand kept = fed({5});
    kept.is_constant = true;
    kept.data_type = TENGINE_DT_BOOL;
    kept.values = {1, 0, 1, 1, 0};
    cases->push_back(make("Compress", {fed({5, 7}), kept}));
    cases->back().ints = {{"axis", 0}};
}

void add_makers(std::vector<Case>* cases)
{
    Operand depth = places({}, {7});
    cases->push_back(make("OneHot", {indices({3, 5}, 7), depth, constant({2})}));
    Case eye = make("EyeLike", {fed({5, 7})});
    eye.types = {TENGINE_DT_FP32, TENGINE_DT_FP16, TENGINE_DT_FP64, TENGINE_DT_INT32};
    cases->push_back(eye);
    Operand sampled = fed({2, 5, 7, 2});
    for (const char* mode : {"linear", "nearest", "cubic"}) {
        Case made = make("GridSample", {fed({2, 3, 9, 11}), sampled});
        made.texts = {{"mode", mode}};
        made.types = {TENGINE_DT_FP32};
        cases->push_back(made);
    }
    cases->push_back(make("NonZero", {fed({3, 7})}));
    cases->back().outputs = {TENGINE_DT_INT64};
    cases->push_back(make("Det", {fed({3, 4, 4})}));
    cases->back().types = {TENGINE_DT_FP32, TENGINE_DT_FP64};
}

}  // namespace

void add_index_cases(std::vector<Case>* cases)
{
    add_gathers(cases);
    add_scatters(cases);
    add_makers(cases);
}

}  // namespace tengine::tools
