// SPDX-License-Identifier: Apache-2.0
// A delegate that lists an operator replaces it where the model has several nodes for it.
#include <cmath>

#include "delegate_fixture.h"

namespace tengine {
namespace {

constexpr int kRows = 2, kColumns = 4;

class SwishKernel : public delegate::kernel::Kernel
{
  public:
    using Kernel::Kernel;
    int Prepare() override { return 0; }
    int ReSize() override { return 0; }
    int Execute() override
    {
        MSTensor x = inputs()[0], y = outputs()[0];
        const auto* from = static_cast<const float*>(x.MutableData());
        auto* to = static_cast<float*>(y.MutableData());
        for (int64_t i = 0; i < y.ElementNum(); ++i)
            to[i] = compute(from[i]);
        return 0;
    }

    static float compute(float x) { return x / (1 + std::exp(-x)); }
};

// Blocks of x * sigmoid(x), one after another.
void save_blocks(const std::string& path, int number)
{
    ASSERT_EQ(init_tengine(), 0);
    const graph_t graph = create_graph(nullptr, nullptr, nullptr);
    tensor_t x = add_input(graph, "x", {kRows, kColumns});
    for (int i = 0; i < number; ++i) {
        const tensor_t gate = add_node(graph, ("gate" + std::to_string(i)).c_str(), "Sigmoid", {x});
        x = add_node(graph, i + 1 == number ? "y" : ("n" + std::to_string(i)).c_str(), "Mul",
                     {x, gate});
    }
    EXPECT_TRUE(set_borders(graph, {"x"}, {"y"})) << get_tengine_error();
    EXPECT_EQ(save_graph(graph, "onnx", path.c_str()), 0) << get_tengine_error();
    destroy_graph(graph);
}

class WholeOperatorTest : public DelegateTest
{
  protected:
    void TearDown() override
    {
        DelegateTest::TearDown();
        std::remove(path_.c_str());
    }

    // The operators of the nodes that Build sees. It replaces each Swish.
    Names build_blocks(int number)
    {
        Names seen;
        test().build = [&](DelegateModel* model) {
            for (KernelIter entry = model->BeginKernelIterator();
                 entry != model->EndKernelIterator(); ++entry) {
                seen.push_back(model->GetPrimitive(*entry)->Operator());
                if (seen.back() != "Swish") continue;
                auto* kernel =
                    new SwishKernel(model->InputsOf(entry, entry + 1),
                                    model->OutputsOf(entry, entry + 1), nullptr, nullptr);
                entry = model->Replace(entry, entry + 1, kernel) - 1;
            }
            return delegate::kSuccess;
        };
        save_blocks(path_, number);
        auto context = std::make_shared<delegate::Context>();
        context->SetDelegate(delegates[0]);
        EXPECT_TRUE(model_->Build(path_, delegate::kONNX, context)) << get_tengine_error();
        return seen;
    }

    void expect_values(int number)
    {
        std::vector<MSTensor> outputs;
        auto* x = static_cast<float*>(model_->GetInputs()[0].MutableData());
        std::copy(std::begin(kInput), std::end(kInput), x);
        ASSERT_TRUE(model_->Predict(model_->GetInputs(), &outputs));
        const auto* y = static_cast<const float*>(outputs[0].Data().get());
        for (int i = 0; i < kRows * kColumns; ++i) {
            float expected = kInput[i];
            for (int k = 0; k < number; ++k)
                expected = SwishKernel::compute(expected);
            EXPECT_NEAR(y[i], expected, 1e-6 * (1 + std::fabs(expected)));
        }
    }

    const std::string path_ = testing::TempDir() + "whole_operator_" + std::to_string(getpid());
};

TEST_F(WholeOperatorTest, TheListedOperatorReplacesItsNodes)
{
    test().listed = {"Swish"};
    for (const int number : {1, 3}) {
        EXPECT_EQ(build_blocks(number), Names(static_cast<size_t>(number), "Swish"));
        EXPECT_EQ(places(), Names(static_cast<size_t>(number), "TEST"));
        expect_values(number);
        model_ = std::make_unique<Model>();
    }
}

TEST_F(WholeOperatorTest, WithoutAListTheNodesCome)
{
    EXPECT_EQ(build_blocks(1), (Names{"Sigmoid", "Mul"}));
    expect_values(1);
}

}  // namespace
}  // namespace tengine
