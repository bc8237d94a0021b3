// SPDX-License-Identifier: Apache-2.0
// Delegates compute the nodes that they replace; every failure is reported, and the nodes fall
// back.
#include <atomic>
#include <fstream>
#include <iterator>
#include <thread>

#include "delegate_fixture.h"
#include "support/allocation_count.h"

namespace tengine {
namespace {

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

// As the guide of MindSpore Lite says about SetDelegate.
TEST_F(DelegateTest, NullptrIsTenginesOwnInference)
{
    const std::string path = save({"Relu", "Neg", "Add"});
    auto context = std::make_shared<delegate::Context>();
    context->SetDelegate(nullptr);
    ASSERT_TRUE(model_->Build(path, delegate::kONNX, context)) << get_tengine_error();
    EXPECT_EQ(places(), (Names{"CPU", "CPU", "CPU"}));
    EXPECT_TRUE(computes());
    context->SetDelegate(delegates[0]);
    ASSERT_TRUE(model_->Build(path, delegate::kONNX, context));
    EXPECT_EQ(places(), (Names{"TEST", kLeft, "TEST"}));
    context->set_delegate(nullptr);
    EXPECT_EQ(context->GetDelegate(), nullptr);
    ASSERT_TRUE(model_->Build(path, delegate::kONNX, context));
    EXPECT_EQ(places(), (Names{"CPU", "CPU", "CPU"}));
}

TEST_F(DelegateTest, OnlyOperatorsThatItListsAreItsOwn)
{
    test().listed = {"Relu", "NoOperator", "ai.onnx.Add"};
    ASSERT_TRUE(build({"Relu", "Neg", "Mul", "Neg", "Add"}));
    EXPECT_EQ(tengine_device_get_operator_number("TEST"), 2);
    EXPECT_STREQ(tengine_device_get_operator("TEST", 1), "Add");
    const std::string unlisted = "CPU: the device has no ";
    EXPECT_EQ(places(),
              (Names{"TEST", unlisted + "Neg", unlisted + "Mul", unlisted + "Neg", "TEST"}));
    EXPECT_TRUE(computes());
    EXPECT_EQ(test().lists, 1) << "asked once";
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

// Waits in Execute until it is told, or asks.
class WaitingKernel : public CountingKernel
{
  public:
    struct Wait
    {
        bool asks = false;
        std::atomic<bool> is_wanted{true}, begun{false}, told{false};
    };
    WaitingKernel(KernelIter from, KernelIter end, DelegateModel* model, Calls* calls, Wait* wait)
        : CountingKernel(from, end, model, calls), wait_(wait)
    {
    }
    int Execute() override
    {
        wait_->begun = true;
        while (wait_->is_wanted && !(wait_->asks ? IsCancelled() : wait_->told.load()))
            std::this_thread::yield();
        return wait_->is_wanted ? -7 : CountingKernel::Execute();
    }
    void Cancel() override { wait_->told = true; }

  private:
    Wait* wait_;
};

TEST_F(DelegateTest, ACancelledRunEndsTheKernel)
{
    for (const bool asks : {false, true}) {
        WaitingKernel::Wait wait;
        wait.asks = asks;
        test().build = [&](DelegateModel* model) {
            const KernelIter begin = model->BeginKernelIterator(), end = model->EndKernelIterator();
            model->Replace(begin, end, new WaitingKernel(begin, end, model, &calls(), &wait));
            return delegate::kSuccess;
        };
        ASSERT_TRUE(build({"Relu", "Add"}));
        std::thread canceller([&] {
            while (!wait.begun)
                std::this_thread::yield();
            EXPECT_EQ(tengine_graph_cancel(model_->graph()), 0);
        });
        EXPECT_FALSE(computes());
        EXPECT_EQ(get_tengine_errno(), TENGINE_ECANCELED) << get_tengine_error();
        canceller.join();
        wait.is_wanted = false;
        const int runs = calls().runs;
        EXPECT_TRUE(computes());
        EXPECT_EQ(calls().runs, runs + 1) << "by the kernel";
        EXPECT_EQ(places(), (Names{"TEST", "TEST"}));
        model_ = std::make_unique<Model>();
    }
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

// Each allocation of a preparation and of a run fails in turn, including those of the delegate. The
// interface is C++'s, so that allocations for the program may also throw.
TEST_F(DelegateTest, AShortageOfMemoryIsAFailureAndNoMore)
{
    if (!can_count_allocations()) GTEST_SKIP() << "a sanitizer has its own allocator";
    const std::string path = save({"Relu", "Neg", "Add"});
    auto context = std::make_shared<delegate::Context>();
    context->SetDelegate(delegates[0]);
    const auto use = [&] {
        try {
            std::vector<MSTensor> outputs;
            return model_->Build(path, delegate::kONNX, context).IsOk() &&
                   model_->Predict(model_->GetInputs(), &outputs).IsOk();
        } catch (const std::bad_alloc&) {
            return false;
        }
    };
    ASSERT_TRUE(use());
    const auto start_again = [&] {
        model_ = std::make_unique<Model>();
        set_log_level(LOG_EMERG);  // the tests' own sink needs memory
    };
    int failures = 0;
    bool has_failed = true;
    for (long number = 1; has_failed && !HasFailure(); ++number) {
        SCOPED_TRACE("allocation " + std::to_string(number));
        start_again();
        const long before = count_allocations();
        fail_allocation(number);
        failures += !use();
        fail_allocation(0);
        has_failed = count_allocations() - before >= number;
        start_again();
        ASSERT_TRUE(use());
        EXPECT_TRUE(computes());
    }
    EXPECT_GT(failures, 100);
    set_log_level(LOG_NOTICE);
}

TEST_F(DelegateTest, ThoseSetFirstChooseFirst)
{
    delegates.push_back(std::make_shared<TestDelegate>());
    delegates[0]->operators = {"Relu"};
    delegates[1]->operators = {"Relu", "Add"};
    ASSERT_TRUE(build({"Relu", "Add", "Neg"}));
    // The second would have computed both nodes; it is asked about the remaining one.
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
    EXPECT_EQ(calls().inits, 1);
    model_ = std::make_unique<Model>();
    EXPECT_EQ(tengine_device_get_number(), before);
    ASSERT_TRUE(build({"Relu"}));
    EXPECT_EQ(calls().inits, 2);
}

// ---- new shapes ----

TEST_F(DelegateTest, ANewSizeIsAReSizeAndNoBuild)
{
    ASSERT_TRUE(build({"Relu", "Neg", "Relu", "Neg", "Relu"}));
    EXPECT_TRUE(computes());
    EXPECT_EQ(calls().resizes, 0);
    int resizes = 0;
    for (const int64_t columns : {7, 1, 4}) {
        ASSERT_TRUE(model_->Resize(model_->GetInputs(), {{columns, 9}}));
        EXPECT_EQ(calls().resizes, resizes += 3) << columns;
        EXPECT_TRUE(computes());
    }
    EXPECT_EQ(calls().builds, 1);
    EXPECT_EQ(calls().prepares, 3);
    EXPECT_EQ(calls().deaths, 0);
}

TEST_F(DelegateTest, TheSameSizeChangesNothing)
{
    ASSERT_TRUE(build({"Relu", "Neg", "Add"}));
    ASSERT_TRUE(model_->Resize(model_->GetInputs(), {{2, 4}}));
    EXPECT_TRUE(computes());
    EXPECT_EQ(calls().builds, 1);
    EXPECT_EQ(calls().prepares, 2);
    EXPECT_EQ(calls().resizes, 2);
    EXPECT_EQ(calls().deaths, 0);
}

TEST_F(DelegateTest, AFailedResizeLeavesTheOldShape)
{
    ASSERT_TRUE(build({"Relu", "Add"}));
    const Status status = model_->Resize(model_->GetInputs(), {{3, 5}});
    EXPECT_TRUE(status.IsError());
    EXPECT_NE(status.GetErrDescription(), "");
    EXPECT_EQ(model_->GetInputs()[0].Shape(), (std::vector<int64_t>{2, 4}));
    EXPECT_TRUE(computes());
}

TEST_F(DelegateTest, ResizeSaysWhatItTakes)
{
    EXPECT_EQ(model_->Resize({}, {}).GetErrDescription(), "the model is not built");
    ASSERT_TRUE(build({"Relu", "Add"}));
    const std::vector<MSTensor> inputs = model_->GetInputs();
    const auto refusal = [&](const std::vector<MSTensor>& tensors,
                             const std::vector<std::vector<int64_t>>& shapes) {
        const Status status = model_->Resize(tensors, shapes);
        EXPECT_EQ(status, delegate::kLiteInputTensorError);
        return status.GetErrDescription();
    };
    const std::string takes =
        "; it takes the 1 tensors of GetInputs(), in their order, and a shape for each";
    EXPECT_EQ(refusal({}, {}), "Resize got 0 tensors and 0 shapes" + takes);
    EXPECT_EQ(refusal(inputs, {{1}, {2}}), "Resize got 1 tensors and 2 shapes" + takes);
    EXPECT_EQ(refusal(model_->GetOutputs(), {{1}}), "Resize got 1 tensors and 1 shapes" + takes);
    // The value is 2 if it is truncated to 32 bits.
    EXPECT_EQ(refusal(inputs, {{(int64_t{1} << 32) + 2, 4}}),
              "input 'x' has a dimension beyond 2147483647");
    EXPECT_NE(refusal(inputs, {{-7, 4}}).find("-7"), std::string::npos);
    EXPECT_NE(refusal(inputs, {std::vector<int64_t>(9, 1)}).find("9"), std::string::npos);
    EXPECT_TRUE(computes());
}

TEST_F(DelegateTest, InputsOfUnknownShapeAreNamed)
{
    init_tengine();
    const std::string digits = TENGINE_EXAMPLES_DATA_DIR "/digits.onnx";
    ASSERT_TRUE(model_->Build(digits, delegate::kONNX));
    const std::vector<MSTensor> inputs = model_->GetInputs();
    std::vector<MSTensor> outputs;
    const auto refusal = [&] { return model_->Predict(inputs, &outputs).GetErrDescription(); };
    EXPECT_EQ(refusal(), "input 'image' is fp32 -1x1x8x8: Resize gives it a shape");
    EXPECT_TRUE(model_->Resize(inputs, {{1, 3, 8, 8}}).IsError());
    EXPECT_EQ(refusal(), "the model has no shapes that fit: the last Resize failed");
    ASSERT_TRUE(model_->Resize(inputs, {{2, 1, 8, 8}}));
    EXPECT_EQ(refusal(), "");
    EXPECT_EQ(outputs[0].Shape(), (std::vector<int64_t>{2, 10}));
}

// If several preparations are kept, each has its own kernels.
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

// A device that is in use outlives its object, and graphs run on it.
TEST_F(DelegateTest, WithTheCApiADeviceInUseStaysRegistered)
{
    const std::string path = save({"Relu"});
    auto device = std::make_unique<delegate::DelegateDevice>(delegates[0]);
    EXPECT_TRUE(device->Unregister()) << "it is not registered";
    ASSERT_TRUE(device->Register());
    const std::string name = device->Name();
    const context_t context = create_context("c", 1);
    ASSERT_EQ(add_context_device(context, name.c_str()), 0);
    const Status refusal = device->Unregister();
    EXPECT_EQ(refusal, delegate::kLiteError);
    EXPECT_EQ(refusal.GetErrDescription(),
              "device '" + name +
                  "' is in use: a context lists it; call remove_context_device, or "
                  "destroy the context and its graphs, first");
    const graph_t graph = create_graph(context, "onnx", path.c_str());
    destroy_context(context);
    ASSERT_TRUE(write_floats(tengine_graph_get_input(graph, 0), std::vector<float>(8, -2.0f)));
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    struct device* kept = find_device_via_name(name.c_str());
    device.reset();
    EXPECT_EQ(find_device_via_name(name.c_str()), kept);
    ASSERT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
    EXPECT_EQ(list_places(graph), (Names{"TEST"}));
    EXPECT_EQ(calls().runs, 1);
    destroy_graph(graph);
    EXPECT_EQ(unregister_device(kept), TENGINE_OK) << tengine_error_message();
    device = std::make_unique<delegate::DelegateDevice>(delegates[0]);
    ASSERT_TRUE(device->Register());
    EXPECT_EQ(device->Name(), name);
    EXPECT_TRUE(device->Unregister());
    EXPECT_FALSE(find_device_via_name(name.c_str()));
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
    EXPECT_EQ(delegate::DelegateDevice(nullptr).Register(), delegate::kLiteNullptr);
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
    test().build = [](DelegateModel*) -> Status { throw 7; };
    ASSERT_TRUE(build({"Relu"}));
    EXPECT_EQ(places(), Names{"CPU: Build threw what is not a std::exception"});
    EXPECT_TRUE(computes());
}

TEST_F(DelegateTest, WhatAKernelFailsToPrepareGoesToTheCpu)
{
    for (const bool throwing : {false, true}) {
        calls() = {};
        calls().failing = "Prepare";
        calls().throwing = throwing;
        ASSERT_TRUE(build({"Neg", "Relu"}));
        EXPECT_EQ(places()[0], kLeft);
        EXPECT_NE(places()[1].find(throwing ? "Prepare of kernel 'y' threw: thrown"
                                            : "Prepare of kernel 'y' returned -7"),
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
        EXPECT_NE(places()[0].find(throwing ? "Execute of kernel 'n0' threw: thrown"
                                            : "Execute of kernel 'n0' returned -7"),
                  std::string::npos)
            << places()[0];
        // The tensor that the kernel read is invalid after the call.
        EXPECT_EQ(calls().input.MutableData(), nullptr);
        EXPECT_EQ(calls().input.DataSize(), 0u);
    }
}

TEST_F(DelegateTest, AKernelsTensorsAreSetOneByOne)
{
    test().build = [&](DelegateModel* model) {
        const KernelIter begin = model->BeginKernelIterator();
        auto* made = new CountingKernel(begin, begin + 1, model, &calls());
        const MSTensor input = made->inputs()[0], output = made->outputs()[0];
        made->set_inputs({MSTensor()});
        made->set_outputs({MSTensor()});
        made->set_input(input, 0);
        made->set_output(output, 0);
        model->Replace(begin, begin + 1, made);
        return delegate::kSuccess;
    };
    ASSERT_TRUE(build({"Relu"}));
    EXPECT_EQ(places(), Names{"TEST"});
    EXPECT_TRUE(computes());
    for (const int index : {-1, 1}) {
        test().build = [&](DelegateModel* model) {
            (*model->BeginKernelIterator())->set_output(MSTensor(), index);
            return delegate::kSuccess;
        };
        ASSERT_TRUE(build({"Relu"}));
        EXPECT_EQ(places(), Names{"CPU: Build threw: output " + std::to_string(index) +
                                  " of a kernel that has 1"});
    }
}

// ---- the model ----

TEST_F(DelegateTest, WhatIsNoModelIsRefused)
{
    EXPECT_EQ(model_->Build("/none", delegate::kONNX), delegate::kLiteFileError);
    EXPECT_EQ(model_->Build("/none", delegate::kMindIR), delegate::kLiteParamInvalid);
    EXPECT_EQ(model_->Build("/none", delegate::kMindIR).GetErrDescription(),
              "models of type 0 are not read; kONNX (3) and kTengine (100) are");
    EXPECT_EQ(model_->Build(nullptr, 5, delegate::kONNX), delegate::kLiteNullptr);
    EXPECT_EQ(model_->Build("model", 0, delegate::kONNX).GetErrDescription(),
              "a model of 0 bytes, which may be 1 to 2147483647");
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
    EXPECT_EQ(model_->Predict({}, &outputs).GetErrDescription(), "0 inputs for a model that has 1");
    EXPECT_EQ(model_->Predict({MSTensor()}, &outputs).GetErrDescription(),
              "input 'x' is fp32 2x4, what was given an empty MSTensor");
    Model relu;
    ASSERT_TRUE(relu.Build(save({"Relu"}), delegate::kONNX));
    ASSERT_TRUE(relu.Resize(relu.GetInputs(), {{4, 2}}));
    const Status status = model_->Predict(relu.GetInputs(), &outputs);
    EXPECT_EQ(status, delegate::kLiteInputTensorError);
    EXPECT_EQ(status.GetErrDescription(), "input 'x' is fp32 2x4, what was given fp32 4x2");
}

}  // namespace
}  // namespace tengine
