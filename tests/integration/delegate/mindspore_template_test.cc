// SPDX-License-Identifier: Apache-2.0
// A delegate as for MindSpore Lite from 1.6 on: DelegateModel is a template, kernels override the
// functions that set and return their tensors, and the names of 2.0 are used.
#define MINDSPORE_DELEGATE_MODEL_TEMPLATE
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "delegate_model.h"
#include "include/api/context.h"
#include "include/api/delegate.h"
#include "include/api/kernel.h"
#include "include/api/model.h"
#include "include/errorcode.h"

namespace mindspore {
namespace {

static_assert(std::is_same<DelegateModel<schema::Primitive>, LiteDelegateGraph>::value, "");

// Overrides every virtual function of the published class except InferShape.
class NegKernel : public kernel::Kernel
{
  public:
    NegKernel(const std::vector<MSTensor>& inputs, const std::vector<MSTensor>& outputs,
              const schema::Primitive* primitive, const Context* context)
        : Kernel(inputs, outputs, primitive, context), in_(inputs), out_(outputs)
    {
        // The tensors that the class itself stores are the ones that count.
        inputs_.clear();
        outputs_.clear();
    }

    int Prepare() override { return in_.size() == 1 ? RET_OK : RET_ERROR; }
    int ReSize() override { return RET_OK; }
    int Execute() override
    {
        const auto* x = static_cast<const float*>(in_[0].Data().get());
        auto* y = static_cast<float*>(out_[0].MutableData());
        for (int64_t i = 0; i < out_[0].ElementNum(); ++i)
            y[i] = -x[i];
        return RET_OK;
    }
    schema::PrimitiveType type() const override { return schema::PrimitiveType_Neg; }
    void set_inputs(const std::vector<MSTensor>& tensors) override { in_ = tensors; }
    void set_input(MSTensor tensor, int index) override { in_[index] = tensor; }
    void set_outputs(const std::vector<MSTensor>& tensors) override { out_ = tensors; }
    void set_output(MSTensor tensor, int index) override { out_[index] = tensor; }
    const std::vector<MSTensor>& inputs() override { return in_; }
    const std::vector<MSTensor>& outputs() override { return out_; }
    std::string name() const override { return "negation"; }

  private:
    std::vector<MSTensor> in_, out_;
};

class NegDelegate : public Delegate
{
  public:
    NegDelegate(const std::vector<MSTensor>& inputs, const std::vector<MSTensor>& outputs)
        : Delegate(inputs, outputs)
    {
    }
    Status Init() override { return inputs().empty() && outputs_.empty() ? kSuccess : kLiteError; }
    Status Build(DelegateModel<schema::Primitive>* model) override
    {
        for (KernelIter node = model->BeginKernelIterator(); node != model->EndKernelIterator();) {
            const schema::Primitive* primitive = model->GetPrimitive(*node);
            if (primitive->value_type() != schema::PrimitiveType_Neg) {
                ++node;
                continue;
            }
            MS_LOG(INFO) << "takes " << (*node)->name() << ", 1 of " << 2;
            node = model->Replace(node, node + 1, Make(*node, primitive));
        }
        return kSuccess;
    }

  private:
    static kernel::Kernel* Make(kernel::Kernel* node, const schema::Primitive* primitive)
    {
        // Changed tensor by tensor, as a host of that library does.
        kernel::Kernel* made =
            new NegKernel({MSTensor()}, {MSTensor()}, primitive, node->context());
        made->set_input(node->inputs()[0], 0);
        made->set_output(node->outputs()[0], 0);
        return made;
    }
};

std::vector<std::string> lines;

void keep(int level, const char* text)
{
    if (level == LOG_INFO && std::string(text).rfind("takes ", 0) == 0) lines.push_back(text);
}

TEST(MindsporeTemplateTest, ADelegateForTheLaterHeadersRuns)
{
    init_tengine();
    const std::string path = tengine::save_chain({"Neg", "Exp", "Neg"});
    set_log_level(LOG_INFO);
    tengine_log_set_sink(keep);
    auto context = std::make_shared<Context>();
    const std::shared_ptr<AbstractDelegate> negation =
        std::make_shared<NegDelegate>(std::vector<MSTensor>(), std::vector<MSTensor>());
    context->set_delegate(negation);
    EXPECT_EQ(context->get_delegate(), negation);
    Model model;
    EXPECT_FALSE(model.Build(path, kMindIR_Lite, context));
    ASSERT_TRUE(model.Build(path, kONNX, context));
    EXPECT_EQ(lines, (std::vector<std::string>{"takes n0, 1 of 2", "takes y, 1 of 2"}));
    EXPECT_EQ(
        tengine::list_places(model.graph()),
        (std::vector<std::string>{"DELEGATE", "CPU: the delegate did not replace it", "DELEGATE"}));
    std::vector<MSTensor> outputs;
    std::fill_n(static_cast<float*>(model.GetInputs()[0].MutableData()), 8, 2.0f);
    ASSERT_TRUE(model.Predict(model.GetInputs(), &outputs));
    EXPECT_NEAR(static_cast<const float*>(outputs[0].Data().get())[7], -std::exp(-2.0f), 1e-6f);
    tengine_log_set_sink(nullptr);
    set_log_level(LOG_NOTICE);
    release_tengine();
    std::remove(path.c_str());
}

}  // namespace
}  // namespace mindspore
