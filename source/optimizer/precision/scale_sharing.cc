// SPDX-License-Identifier: Apache-2.0
// Chooses the scales of tensors. The contract is in selection.h.
#include <algorithm>
#include <cmath>

#include "graph/graph.h"
#include "optimizer/precision/selection.h"

namespace tengine {
namespace {

// Sets of tensors with one scale: a forest in which each tensor points to another of its set
// (union-find).
class Classes
{
  public:
    explicit Classes(int number) : parents_(static_cast<size_t>(number))
    {
        for (size_t i = 0; i < parents_.size(); ++i)
            parents_[i] = static_cast<int>(i);
    }

    int root(int index) const
    {
        while (parents_[static_cast<size_t>(index)] != index)
            index = parents_[static_cast<size_t>(index)];
        return index;
    }

    void join(int a, int b) { parents_[static_cast<size_t>(root(a))] = root(b); }

  private:
    Vector<int> parents_;
};

int find_range(const tensor& value, const Ranges& ranges, Range* out_range)
{
    if (value.tensor_type != TENSOR_TYPE_CONST) {
        *out_range = ranges.at(value);
        return TENGINE_OK;
    }
    for (int64_t i = 0; i < value.elem_num; ++i) {
        const float element = value.f32[i];
        if (!std::isfinite(element))
            return tengine_error_set(TENGINE_EINVAL, "constant '%s' has values that are not finite",
                                     value.name);
        *out_range = {std::min<double>(out_range->low, element),
                      std::max<double>(out_range->high, element)};
    }
    return TENGINE_OK;
}

class Sharer
{
  public:
    explicit Sharer(const graph& graph)
        : classes_(graph.tensor_num),
          is_used_(static_cast<size_t>(graph.tensor_num), false),
          tensors_(static_cast<size_t>(graph.tensor_num))
    {
    }

    int add(const QuantizedUnit& unit, const Ranges& ranges)
    {
        for (size_t i = 0; i < unit.inputs.size(); ++i) {
            const bool is_weight = unit.role == QuantizedRole::kWeighted && i == 1 &&
                                   unit.inputs[i]->tensor_type == TENSOR_TYPE_CONST;
            if (!is_weight) TENGINE_RETURN_IF_ERROR(add(*unit.inputs[i], unit, ranges));
        }
        for (const tensor* output : unit.outputs)
            TENGINE_RETURN_IF_ERROR(add(*output, unit, ranges));
        return TENGINE_OK;
    }

    Vector<TensorQuantization> share(int data_type) const
    {
        Vector<Range> shared(tensors_.size());
        Vector<TensorQuantization> quantizations(tensors_.size());
        for (size_t i = 0; i < tensors_.size(); ++i) {
            Range& whole = shared[root(i)];
            whole = {std::min(whole.low, tensors_[i].low), std::max(whole.high, tensors_[i].high)};
        }
        for (size_t i = 0; i < tensors_.size(); ++i) {
            const Range& whole = shared[root(i)];
            if (is_used_[i])
                quantizations[i] = {true, cover_range(whole.low, whole.high, data_type)};
        }
        return quantizations;
    }

  private:
    size_t root(size_t index) const
    {
        return static_cast<size_t>(classes_.root(static_cast<int>(index)));
    }

    int add(const tensor& value, const QuantizedUnit& unit, const Ranges& ranges)
    {
        const auto index = static_cast<size_t>(value.index);
        is_used_[index] = true;
        if (unit.role == QuantizedRole::kPassThrough)
            classes_.join(value.index, unit.outputs[0]->index);
        return find_range(value, ranges, &tensors_[index]);
    }

    Classes classes_;
    Vector<bool> is_used_;
    Vector<Range> tensors_;
};

}  // namespace

int quantize_tensors(const graph& graph, const Vector<QuantizedUnit>& units, const Ranges& ranges,
                     int data_type, Vector<TensorQuantization>* out_quantizations)
{
    Sharer sharer(graph);
    for (const QuantizedUnit& unit : units)
        TENGINE_RETURN_IF_ERROR(sharer.add(unit, ranges));
    *out_quantizations = sharer.share(data_type);
    return TENGINE_OK;
}

}  // namespace tengine
