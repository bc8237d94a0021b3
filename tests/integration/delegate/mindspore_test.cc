// SPDX-License-Identifier: Apache-2.0
// The delegate of MindSpore Lite's guide, rewritten: the names are the published ones, and the
// errors of its text are corrected (docs/delegates.md).
#include <cmath>
#include <map>

#include "delegate_model.h"
#include "include/api/context.h"
#include "include/api/delegate.h"
#include "include/api/kernel.h"
#include "include/api/model.h"
#include "include/errorcode.h"

namespace mindspore {
namespace {

// Represents the vendor's own graph.
class XXXGraph : public kernel::Kernel
{
  public:
    XXXGraph(const std::vector<MSTensor>& inputs, const std::vector<MSTensor>& outputs,
             std::vector<schema::PrimitiveType> operators)
        : kernel::Kernel(inputs, outputs, nullptr, nullptr), operators_(std::move(operators))
    {
    }

    int Prepare() override { return inputs_.size() == 1 ? lite::RET_OK : lite::RET_ERROR; }

    int Execute() override
    {
        const auto* x = static_cast<const float*>(inputs_[0].Data().get());
        auto* y = static_cast<float*>(outputs_[0].MutableData());
        for (int64_t i = 0; i < outputs_[0].ElementNum(); ++i) {
            y[i] = x[i];
            for (const schema::PrimitiveType type : operators_)
                y[i] = type == schema::PrimitiveType_Activation ? std::max(y[i], 0.0f) : -y[i];
        }
        return lite::RET_OK;
    }

    int ReSize() override { return Prepare(); }

  private:
    std::vector<schema::PrimitiveType> operators_;
};

class XXXDelegate : public Delegate
{
  public:
    Status Init() override
    {
        op_func_lists_ = {{schema::PrimitiveType_Activation, true},
                          {schema::PrimitiveType_Neg, true}};
        return kSuccess;
    }

    Status Build(DelegateModel* model) override
    {
        KernelIter from, end;
        std::vector<schema::PrimitiveType> run;
        for (KernelIter iter = model->BeginKernelIterator(); iter != model->EndKernelIterator();
             ++iter) {
            const kernel::Kernel* entry = *iter;
            const schema::Primitive* primitive = model->GetPrimitive(entry);
            if (op_func_lists_.count(primitive->value_type()) != 0) {
                if (run.empty()) from = iter;
                run.push_back(primitive->value_type());
                end = iter;
            } else if (!run.empty()) {
                iter = Take(model, from, end, &run) - 1;
                ++iter;
            }
        }
        // The guide's loop ends without these lines, and drops the last run.
        if (!run.empty()) Take(model, from, end, &run);
        return kSuccess;
    }

  private:
    static KernelIter Take(DelegateModel* model, KernelIter from, KernelIter end,
                           std::vector<schema::PrimitiveType>* run)
    {
        auto* graph = new XXXGraph((*from)->inputs(), (*end)->outputs(), *run);
        run->clear();
        return model->Replace(from, end + 1, graph);
    }

    std::map<schema::PrimitiveType, bool> op_func_lists_;
};

TEST(MindsporeTest, TheGuidesDelegateRuns)
{
    init_tengine();
    const std::string path = tengine::save_chain({"Relu", "Neg", "Exp", "Neg"});
    auto context = std::make_shared<mindspore::Context>();
    context->SetThreadNum(1);
    context->MutableDeviceInfo().push_back(std::make_shared<mindspore::CPUDeviceInfo>());
    context->SetDelegate(std::make_shared<XXXDelegate>());
    auto* model = new mindspore::Model();
    ASSERT_TRUE(model->Build(path, mindspore::kONNX, context) == mindspore::kSuccess);
    const char* left = "CPU: the delegate did not replace it";
    EXPECT_EQ(tengine::list_places(model->graph()),
              (std::vector<std::string>{"DELEGATE", "DELEGATE", left, "DELEGATE"}));
    auto inputs = model->GetInputs();
    for (int i = 0; i < 8; ++i)
        static_cast<float*>(inputs[0].MutableData())[i] = static_cast<float>(i - 4);
    std::vector<mindspore::MSTensor> outputs;
    ASSERT_TRUE(model->Predict(inputs, &outputs) == mindspore::kSuccess);
    EXPECT_EQ(static_cast<const float*>(outputs[0].Data().get())[0], -1.0f);
    EXPECT_NEAR(static_cast<const float*>(outputs[0].Data().get())[7], -std::exp(-3.0f), 1e-6f);
    delete model;
    release_tengine();
    std::remove(path.c_str());
}

}  // namespace
}  // namespace mindspore
