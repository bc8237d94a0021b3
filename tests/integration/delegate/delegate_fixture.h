// SPDX-License-Identifier: Apache-2.0
// A Model with TestDelegates, and its expected results.
#pragma once

#include <cstdio>
#include <memory>

#include "delegate_model.h"

namespace tengine {

using delegate::DelegateModel;
using delegate::KernelIter;
using delegate::Model;
using delegate::MSTensor;
using delegate::Status;
using Names = std::vector<std::string>;

constexpr float kInput[] = {-3, -1, -0.25f, 0, 0.25f, 1, 2, 5};
const char* const kLeft = "CPU: the delegate did not replace it";

class DelegateTest : public testing::Test
{
  protected:
    void TearDown() override
    {
        model_ = std::make_unique<Model>();
        release_tengine();
        for (const std::string& path : paths_)
            std::remove(path.c_str());
    }

    std::string save(const Names& operators)
    {
        init_tengine();
        operators_ = operators;
        paths_.push_back(save_chain(operators));
        return paths_.back();
    }

    Status build(const Names& operators)
    {
        const std::string path = save(operators);
        auto context = std::make_shared<delegate::Context>();
        for (const auto& delegate : delegates)
            context->SetDelegate(delegate);
        return model_->Build(path, delegate::kONNX, context);
    }

    // Whether the model's results are those of its operators.
    testing::AssertionResult computes()
    {
        std::vector<MSTensor> outputs;
        auto* x = static_cast<float*>(model_->GetInputs()[0].MutableData());
        const auto number = static_cast<size_t>(model_->GetInputs()[0].ElementNum());
        for (size_t i = 0; i < number; ++i)
            x[i] = kInput[i % 8];
        const Status status = model_->Predict(model_->GetInputs(), &outputs);
        if (status.IsError()) return testing::AssertionFailure() << status.GetErrDescription();
        const auto* y = static_cast<const float*>(outputs[0].Data().get());
        for (size_t i = 0; i < number; ++i)
            if (y[i] != apply_chain(operators_, kInput[i % 8]))
                return testing::AssertionFailure() << "element " << i << " is " << y[i];
        return testing::AssertionSuccess();
    }

    Names places() { return list_places(model_->graph()); }

    TestDelegate& test() { return *delegates[0]; }
    Calls& calls() { return test().calls; }

    std::vector<std::shared_ptr<TestDelegate>> delegates{std::make_shared<TestDelegate>()};
    std::unique_ptr<Model> model_ = std::make_unique<Model>();

  private:
    std::vector<std::string> paths_;
    Names operators_;
};

}  // namespace tengine
