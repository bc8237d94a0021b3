// SPDX-License-Identifier: Apache-2.0
// Delegates compute what they replace, and whatever goes wrong is said and falls back.
#include <cstdio>
#include <fstream>
#include <iterator>

#include "delegate_model.h"

namespace tengine {
namespace {

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

    // The model's results are those of its operators.
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

TEST_F(DelegateTest, ComputesRunsTheLastOneAndSingleNodes)
{
    ASSERT_TRUE(build({"Relu", "Neg", "Add", "Mul", "Neg", "Sub"}));
    EXPECT_EQ(places(), (Names{"TEST", kLeft, "TEST", "TEST", kLeft, "TEST"}));
    EXPECT_TRUE(computes());
    EXPECT_EQ(calls().prepares, 3);
    EXPECT_EQ(calls().runs, 3);
    model_ = std::make_unique<Model>();
    EXPECT_EQ(calls().deaths, 3);
}

TEST_F(DelegateTest, AModelMayBeAllItsOwn)
{
    ASSERT_TRUE(build({"Relu", "Add", "Mul"}));
    EXPECT_EQ(places(), (Names{"TEST", "TEST", "TEST"}));
    EXPECT_TRUE(computes());
    EXPECT_EQ(calls().runs, 1);
}

TEST_F(DelegateTest, RunsSideBySideStayApart)
{
    test().build = [&](DelegateModel* model) {
        KernelIter entry = model->BeginKernelIterator();
        while (entry != model->EndKernelIterator())
            entry = model->Replace(entry, entry + 1,
                                   new CountingKernel(entry, entry + 1, model, &calls()));
        return delegate::kSuccess;
    };
    ASSERT_TRUE(build({"Relu", "Add", "Mul"}));
    EXPECT_TRUE(computes());
    EXPECT_EQ(calls().runs, 3);
}

TEST_F(DelegateTest, AReplacementMayBeReplaced)
{
    test().build = [&](DelegateModel* model) {
        auto make = [&](KernelIter from, KernelIter end) {
            return new CountingKernel(from, end, model, &calls());
        };
        const KernelIter begin = model->BeginKernelIterator();
        model->Replace(begin + 1, begin + 2, make(begin + 1, begin + 2));
        auto* all = make(model->BeginKernelIterator(), model->EndKernelIterator());
        EXPECT_EQ(all->inputs(), model->inputs());
        EXPECT_EQ(all->outputs(), model->outputs());
        delete all;
        const KernelIter first = model->BeginKernelIterator();
        model->Replace(first, first + 1, make(first, first + 1));
        EXPECT_EQ(model->GetPrimitive(*model->BeginKernelIterator()), nullptr);
        return delegate::kSuccess;
    };
    ASSERT_TRUE(build({"Relu", "Add", "Neg"}));
    EXPECT_TRUE(computes());
    EXPECT_EQ(calls().runs, 2);
}

TEST_F(DelegateTest, ThoseSetFirstChooseFirst)
{
    delegates.push_back(std::make_shared<TestDelegate>());
    delegates[0]->operators = {"Relu"};
    delegates[1]->operators = {"Relu", "Add"};
    ASSERT_TRUE(build({"Relu", "Add", "Neg"}));
    // The second would have computed both nodes; it is asked about what is left.
    EXPECT_EQ(places(), (Names{"TEST", "TEST2: the delegate did not replace it", kLeft}));
    EXPECT_EQ(delegates[1]->calls.builds, 2);
    EXPECT_TRUE(computes());
    delegates[1]->operators = {"Add"};
    ASSERT_TRUE(build({"Relu", "Add", "Neg"}));
    EXPECT_EQ(places(), (Names{"TEST", "TEST2: the delegate did not replace it", kLeft}));
    EXPECT_TRUE(computes());
}

TEST_F(DelegateTest, OneObjectIsOneDevice)
{
    const int before = [] {
        init_tengine();
        return tengine_device_get_number();
    }();
    ASSERT_TRUE(build({"Relu"}));
    {
        Model other;
        auto context = std::make_shared<delegate::Context>();
        context->SetDelegate(delegates[0]);
        ASSERT_TRUE(other.Build(save({"Relu"}), delegate::kONNX, context));
        EXPECT_EQ(tengine_device_get_number(), before + 1);
        EXPECT_EQ(list_places(other.graph()), Names{"TEST"});
    }
    EXPECT_TRUE(computes());
    model_ = std::make_unique<Model>();
    EXPECT_EQ(tengine_device_get_number(), before);
}

// ---- new shapes ----

TEST_F(DelegateTest, ANewSizeIsAReSizeAndNoBuild)
{
    ASSERT_TRUE(build({"Relu", "Neg", "Relu", "Neg", "Add"}));
    EXPECT_TRUE(computes());
    for (const int64_t rows : {2, 2, 2}) {
        ASSERT_TRUE(model_->Resize(model_->GetInputs(), {{rows, 4}}));
        EXPECT_TRUE(computes());
    }
    EXPECT_EQ(calls().builds, 1);
    EXPECT_EQ(calls().prepares, 3);
    EXPECT_EQ(calls().resizes % 3, 0);
    EXPECT_EQ(calls().deaths, 0);
}

TEST_F(DelegateTest, KernelsTakeUpNewShapes)
{
    ASSERT_TRUE(build({"Relu", "Neg", "Relu", "Neg", "Relu"}));
    for (const int64_t columns : {7, 1, 4}) {
        ASSERT_TRUE(model_->Resize(model_->GetInputs(), {{columns, 9}}));
        EXPECT_TRUE(computes());
    }
    EXPECT_EQ(calls().builds, 1);
    EXPECT_EQ(calls().prepares, 3);
    EXPECT_EQ(calls().resizes, 9);
}

TEST_F(DelegateTest, AFailedResizeLeavesTheOldShape)
{
    ASSERT_TRUE(build({"Relu", "Add"}));
    const Status status = model_->Resize(model_->GetInputs(), {{3, 5}});
    EXPECT_TRUE(status.IsError());
    EXPECT_NE(status.GetErrDescription(), "");
    EXPECT_EQ(model_->GetInputs()[0].Shape(), (std::vector<int64_t>{2, 4}));
    EXPECT_TRUE(computes());
    EXPECT_EQ(model_->Resize({}, {}), delegate::kLiteInputTensorError);
    EXPECT_EQ(model_->Resize(model_->GetInputs(), {}), delegate::kLiteInputTensorError);
}

// Where preparations are kept beside one another, each has kernels of its own.
TEST_F(DelegateTest, WithTheCApiShapesMayComeInTurns)
{
    const std::string path = save({"Relu", "Neg", "Relu"});
    delegate::DelegateDevice device(delegates[0]);
    ASSERT_TRUE(device.Register());
    const context_t context = create_context("c", 1);
    ASSERT_EQ(add_context_device(context, device.Name().c_str()), 0);
    const graph_t graph = create_graph(context, "onnx", path.c_str());
    for (const int rows : {2, 3, 2, 5, 3}) {
        const int dims[] = {rows, 4};
        const tensor_t x = tengine_graph_get_input(graph, 0);
        ASSERT_EQ(set_tensor_shape(x, dims, 2), 0);
        ASSERT_TRUE(write_floats(x, std::vector<float>(static_cast<size_t>(rows) * 4, -2.0f)));
        ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
        EXPECT_EQ(list_places(graph), (Names{"TEST", kLeft, "TEST"}));
        ASSERT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
        EXPECT_EQ(read_floats(tengine_graph_get_output(graph, 0)),
                  std::vector<float>(static_cast<size_t>(rows) * 4, 0.0f));
    }
    destroy_graph(graph);
    destroy_context(context);
    EXPECT_EQ(calls().deaths, calls().prepares);
}

// ---- what goes wrong ----

TEST_F(DelegateTest, WithoutSupportItIsLeftOut)
{
    test().init = delegate::kLiteNotSupport;
    ASSERT_TRUE(build({"Relu", "Add"}));
    EXPECT_EQ(places(), (Names{"CPU", "CPU"}));
    EXPECT_TRUE(computes());
    EXPECT_EQ(calls().builds, 0);
}

TEST_F(DelegateTest, AnyOtherFailureOfInitIsTheModels)
{
    test().init = {delegate::kLiteMemoryFailed, "the unit is in use"};
    const Status status = build({"Relu"});
    EXPECT_EQ(status, delegate::kLiteMemoryFailed);
    EXPECT_EQ(status.GetErrDescription(), "the unit is in use");
    EXPECT_EQ(model_->graph(), nullptr);
    EXPECT_EQ(model_->Predict({}, nullptr), delegate::kLiteUninitializedObj);
    delegates = {nullptr};
    EXPECT_EQ(build({"Relu"}), delegate::kLiteNullptr);
}

TEST_F(DelegateTest, AFailureOfBuildIsReported)
{
    test().build = [](DelegateModel*) { return Status(delegate::kLiteError, "no firmware"); };
    ASSERT_TRUE(build({"Relu"}));
    EXPECT_EQ(places(), Names{"CPU: Build failed: no firmware"});
    EXPECT_TRUE(computes());
    test().build = [](DelegateModel*) -> Status { throw std::runtime_error("sudden"); };
    ASSERT_TRUE(build({"Relu"}));
    EXPECT_EQ(places(), Names{"CPU: Build threw: sudden"});
    EXPECT_TRUE(computes());
}

// A Replace that breaks a rule changes nothing, and the sentence names the rule.
class BadReplace : public DelegateTest
{
  protected:
    using Move = std::function<KernelIter(DelegateModel*)>;

    void expect(const Move& move, const std::string& sentence)
    {
        test().build = [&](DelegateModel* model) {
            const auto before = model->EndKernelIterator() - model->BeginKernelIterator();
            EXPECT_EQ(move(model), model->BeginKernelIterator());
            EXPECT_EQ(model->EndKernelIterator() - model->BeginKernelIterator(), before);
            return delegate::kSuccess;
        };
        ASSERT_TRUE(build({"Relu", "Add", "Mul"}));
        EXPECT_EQ(places(), Names(3, "CPU: Build: Replace: " + sentence));
        EXPECT_TRUE(computes());
    }

    // With the inputs of one entry and the outputs of another.
    delegate::kernel::Kernel* make(const std::vector<MSTensor>& inputs,
                                   const std::vector<MSTensor>& outputs)
    {
        struct Other : delegate::kernel::Kernel
        {
            using Kernel::Kernel;
            int Prepare() override { return 0; }
            int Execute() override { return 0; }
            int ReSize() override { return 0; }
        };
        return new Other(inputs, outputs, nullptr, nullptr);
    }
};

TEST_F(BadReplace, OfNoEntries)
{
    expect(
        [&](DelegateModel* model) {
            const KernelIter begin = model->BeginKernelIterator();
            return model->Replace(begin + 2, begin + 1, make({}, {}));
        },
        "entries 2 to 1 are not some of the model's 3");
    expect(
        [&](DelegateModel* model) {
            const KernelIter begin = model->BeginKernelIterator();
            return model->Replace(begin, begin, make({}, {}));
        },
        "entries 0 to 0 are not some of the model's 3");
    expect(
        [&](DelegateModel* model) {
            return model->Replace(model->BeginKernelIterator(), model->EndKernelIterator() + 1,
                                  make({}, {}));
        },
        "entries 0 to 4 are not some of the model's 3");
}

TEST_F(BadReplace, ByNothing)
{
    expect(
        [&](DelegateModel* model) {
            const KernelIter begin = model->BeginKernelIterator();
            return model->Replace(begin, begin + 1, nullptr);
        },
        "the kernel is nullptr");
    expect(
        [&](DelegateModel* model) {
            const KernelIter begin = model->BeginKernelIterator();
            return model->Replace(begin, begin + 1, *begin);
        },
        "the kernel is in the model already");
}

TEST_F(BadReplace, OfEntriesThatWereMoved)
{
    delegate::kernel::Kernel* stranger = nullptr;
    expect(
        [&](DelegateModel* model) {
            const KernelIter begin = model->BeginKernelIterator();
            std::swap(begin[0], begin[1]);
            const KernelIter result = model->Replace(begin, begin + 2, make({}, {}));
            std::swap(begin[0], begin[1]);
            return result;
        },
        "entry 1 is not where it was");
    expect(
        [&](DelegateModel* model) {
            const KernelIter begin = model->BeginKernelIterator();
            stranger = make({}, {});
            std::swap(begin[0], stranger);
            const KernelIter result = model->Replace(begin, begin + 1, make({}, {}));
            std::swap(begin[0], stranger);
            delete stranger;
            return result;
        },
        "entry 0 is not one of the model's");
}

TEST_F(BadReplace, ThatWouldMakeACycle)
{
    expect(
        [&](DelegateModel* model) {
            const KernelIter begin = model->BeginKernelIterator();
            return model->Replace(begin, begin + 1, make(begin[2]->outputs(), begin[0]->outputs()));
        },
        "the kernel reads 'y', which is computed after it: a cycle");
    expect(
        [&](DelegateModel* model) {
            const KernelIter begin = model->BeginKernelIterator();
            return model->Replace(begin, begin + 2, make(begin[0]->outputs(), begin[1]->outputs()));
        },
        "the kernel reads 'n0', which it computes");
}

TEST_F(BadReplace, ThatLeavesReadersWithoutATensor)
{
    expect(
        [&](DelegateModel* model) {
            const KernelIter begin = model->BeginKernelIterator();
            return model->Replace(begin, begin + 2, make(begin[0]->inputs(), {}));
        },
        "the kernel does not write 'n1', which others read");
    expect(
        [&](DelegateModel* model) {
            const KernelIter begin = model->BeginKernelIterator();
            return model->Replace(begin, begin + 1, make({}, begin[1]->outputs()));
        },
        "the kernel writes 'n1', which none of its nodes does");
    expect(
        [&](DelegateModel* model) {
            const KernelIter begin = model->BeginKernelIterator();
            return model->Replace(begin, begin + 1, make({MSTensor()}, begin[0]->outputs()));
        },
        "an input of the kernel is not a tensor of the model");
    expect(
        [&](DelegateModel* model) {
            const KernelIter begin = model->BeginKernelIterator();
            return model->Replace(begin, begin + 1, make({}, {MSTensor()}));
        },
        "an output of the kernel is not a tensor of the model");
}

TEST_F(DelegateTest, WhatAKernelFailsToPrepareGoesToTheCpu)
{
    for (const bool throwing : {false, true}) {
        calls() = {};
        calls().failing = "Prepare";
        calls().throwing = throwing;
        ASSERT_TRUE(build({"Neg", "Relu"}));
        EXPECT_EQ(places()[0], kLeft);
        EXPECT_NE(places()[1].find(throwing ? "thrown" : "Prepare of kernel 'y' returned -7"),
                  std::string::npos)
            << places()[1];
        EXPECT_TRUE(computes());
        EXPECT_EQ(calls().deaths, 1);
    }
}

TEST_F(DelegateTest, AFailedReSizeBuildsAgainOrFallsBack)
{
    ASSERT_TRUE(build({"Relu", "Neg"}));
    calls().failing = "ReSize";
    ASSERT_TRUE(model_->Resize(model_->GetInputs(), {{3, 4}}));
    EXPECT_EQ(places(), (Names{"TEST", kLeft}));
    EXPECT_TRUE(computes());
    EXPECT_EQ(calls().prepares, 2);
    model_ = std::make_unique<Model>();
    EXPECT_EQ(calls().deaths, 2);
}

TEST_F(DelegateTest, WhatAKernelFailsToComputeIsDoneByTheCpu)
{
    for (const bool throwing : {false, true}) {
        calls() = {};
        calls().failing = "Execute";
        calls().throwing = throwing;
        ASSERT_TRUE(build({"Relu", "Neg"}));
        EXPECT_TRUE(computes());
        EXPECT_TRUE(computes());
        EXPECT_EQ(calls().runs, 1);
        EXPECT_NE(places()[0].find(throwing ? "thrown" : "Execute of kernel 'n0' returned -7"),
                  std::string::npos)
            << places()[0];
    }
}

// ---- the model ----

TEST_F(DelegateTest, WhatIsNoModelIsRefused)
{
    EXPECT_EQ(model_->Build("/none", delegate::kONNX), delegate::kLiteFileError);
    EXPECT_EQ(model_->Build("/none", delegate::kMindIR), delegate::kLiteParamInvalid);
    EXPECT_EQ(model_->Build(nullptr, 0, delegate::kONNX), delegate::kLiteParamInvalid);
    EXPECT_EQ(model_->Build("model", 5, delegate::kONNX), delegate::kLiteFileError);
    EXPECT_EQ(model_->Build("model", 5, delegate::kTengine), delegate::kLiteFileError);
    EXPECT_EQ(model_->Resize({}, {}), delegate::kLiteUninitializedObj);
    EXPECT_TRUE(model_->GetInputs().empty());
}

TEST_F(DelegateTest, ModelsComeFromMemoryToo)
{
    const std::string path = save({"Relu", "Add"});
    const graph_t graph = create_graph(nullptr, "onnx", path.c_str());
    ASSERT_EQ(save_graph(graph, "tengine", path.c_str()), 0) << get_tengine_error();
    destroy_graph(graph);
    std::ifstream file(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    ASSERT_TRUE(model_->Build(bytes.data(), bytes.size(), delegate::kTengine));
    bytes.assign(bytes.size(), '\0');
    EXPECT_TRUE(computes());
}

TEST_F(DelegateTest, TensorsAreTengines)
{
    ASSERT_TRUE(build({"Relu", "Neg"}));
    MSTensor x = model_->GetInputByTensorName("x");
    MSTensor y = model_->GetOutputByTensorName("y");
    EXPECT_EQ(model_->GetOutputByTensorName("z"), MSTensor());
    EXPECT_EQ(x.DataType(), delegate::DataType::kNumberTypeFloat32);
    EXPECT_EQ(x.MutableData(), get_tensor_buffer(tengine_graph_get_input(model_->graph(), 0)));
    EXPECT_EQ(y.MutableData(), get_tensor_buffer(tengine_graph_get_output(model_->graph(), 0)));
    float memory[8];
    ASSERT_TRUE(y.SetData(memory));
    EXPECT_FALSE(y.SetData(nullptr));
    EXPECT_FALSE(y.SetShape({8}));
    EXPECT_TRUE(computes());
    EXPECT_EQ(memory[7], -5.0f);
    model_ = std::make_unique<Model>();
    EXPECT_EQ(x.Name(), "x");
    EXPECT_EQ(x.MutableData(), nullptr);
    EXPECT_EQ(x.DataSize(), 0u);
}

TEST_F(DelegateTest, InputsOfAnotherModelAreCopied)
{
    ASSERT_TRUE(build({"Relu", "Add"}));
    Model other;
    ASSERT_TRUE(other.Build(save({"Relu", "Add"}), delegate::kONNX));
    auto inputs = other.GetInputs();
    std::copy(kInput, kInput + 8, static_cast<float*>(inputs[0].MutableData()));
    std::vector<MSTensor> outputs;
    ASSERT_TRUE(model_->Predict(inputs, &outputs));
    EXPECT_EQ(static_cast<const float*>(outputs[0].Data().get())[7], 5.5f);
    EXPECT_EQ(model_->Predict(inputs, nullptr), delegate::kLiteNullptr);
    EXPECT_EQ(model_->Predict({}, &outputs), delegate::kLiteInputTensorError);
    EXPECT_EQ(model_->Predict({MSTensor()}, &outputs), delegate::kLiteInputTensorError);
    Model relu;
    ASSERT_TRUE(relu.Build(save({"Relu"}), delegate::kONNX));
    ASSERT_TRUE(relu.Resize(relu.GetInputs(), {{4, 2}}));
    const Status status = model_->Predict(relu.GetInputs(), &outputs);
    EXPECT_EQ(status.GetErrDescription(),
              "input 'x' has the shape 2x4 and type 43, not 4x2 and 43");
}

}  // namespace
}  // namespace tengine
