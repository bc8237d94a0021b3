// SPDX-License-Identifier: Apache-2.0
// A delegate that computes runs of Relu, Add, Sub and Mul on floats of one shape, like a vendor's
// library for such a unit (docs/delegates.md).
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tengine/delegate.hpp"

namespace elementwise {

using tengine::delegate::DataType;
using tengine::delegate::DelegateModel;
using tengine::delegate::KernelIter;
using tengine::delegate::MSTensor;
using tengine::delegate::Status;
namespace kernel = tengine::delegate::kernel;
namespace schema = tengine::delegate::schema;

// One operator of a run.
struct Step
{
    schema::PrimitiveType type;
    std::vector<MSTensor> inputs;
    MSTensor output;
};

class RunKernel : public kernel::Kernel
{
  public:
    RunKernel(KernelIter from, KernelIter end, DelegateModel* model)
        : Kernel(model->InputsOf(from, end), model->OutputsOf(from, end), nullptr, nullptr)
    {
        set_name((*from)->name());
        for (; from != end; ++from)
            steps_.push_back({(*from)->type(), (*from)->inputs(), (*from)->outputs()[0]});
    }

    // Tensors inside the run have only the delegate's memory.
    int Prepare() override
    {
        memory_.clear();
        for (const Step& step : steps_)
            if (std::find(outputs_.begin(), outputs_.end(), step.output) == outputs_.end())
                memory_[step.output.Name()].resize(static_cast<size_t>(step.output.ElementNum()));
        return 0;
    }

    int ReSize() override { return Prepare(); }

    int Execute() override
    {
        for (Step& step : steps_) {
            const float* a = Find(step.inputs[0]);
            const float* b = step.inputs.size() > 1 ? Find(step.inputs[1]) : nullptr;
            float* y = Find(step.output);
            for (int64_t i = 0; i < step.output.ElementNum(); ++i)
                y[i] = Compute(step.type, a[i], b ? b[i] : 0.0f);
        }
        return 0;
    }

  private:
    static float Compute(schema::PrimitiveType type, float a, float b)
    {
        switch (type) {
            case schema::PrimitiveType_AddFusion:
                return a + b;
            case schema::PrimitiveType_SubFusion:
                return a - b;
            case schema::PrimitiveType_MulFusion:
                return a * b;
            default:
                return std::max(a, 0.0f);
        }
    }

    float* Find(MSTensor& tensor)
    {
        const auto inside = memory_.find(tensor.Name());
        return inside == memory_.end() ? static_cast<float*>(tensor.MutableData())
                                       : inside->second.data();
    }

    std::vector<Step> steps_;
    std::map<std::string, std::vector<float>> memory_;
};

class Delegate : public tengine::delegate::Delegate
{
  public:
    std::string Name() const override { return "ELEMENTWISE"; }

    Status Init() override { return tengine::delegate::kSuccess; }

    // Takes every run of operators that it supports, including the last one and those of a single
    // operator.
    Status Build(DelegateModel* model) override
    {
        KernelIter from = model->BeginKernelIterator();
        while (from != model->EndKernelIterator()) {
            KernelIter end = from;
            while (end != model->EndKernelIterator() && Has(**end))
                ++end;
            from =
                end == from ? from + 1 : model->Replace(from, end, new RunKernel(from, end, model));
        }
        return tengine::delegate::kSuccess;
    }

  private:
    static bool Has(kernel::Kernel& node)
    {
        const schema::Primitive* primitive = node.primitive();
        const bool relu = primitive->value_as_Activation() &&
                          primitive->activation_type() == schema::ActivationType_RELU;
        const bool pair = node.type() == schema::PrimitiveType_AddFusion ||
                          node.type() == schema::PrimitiveType_SubFusion ||
                          node.type() == schema::PrimitiveType_MulFusion;
        if (!relu && !pair) return false;
        for (const MSTensor& input : node.inputs())
            if (input.DataType() != DataType::kNumberTypeFloat32 ||
                input.Shape() != node.outputs()[0].Shape())
                return false;
        return true;
    }
};

}  // namespace elementwise
