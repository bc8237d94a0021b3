// SPDX-License-Identifier: Apache-2.0
// Models and delegates for the tests of delegates.
#pragma once

#include <unistd.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "elementwise.hpp"
#include "fixture.h"
#include "tengine/inspect.h"

namespace tengine {

// Saves an ONNX file: x, float of 2x4, through these operators one after another. The second
// operand of Add, Sub and Mul is a constant, 0.5. The last one writes "y". Returns the file's path.
std::string save_chain(const std::vector<std::string>& operators);

// Returns the result of save_chain's operators for x.
float apply_chain(const std::vector<std::string>& operators, float x);

// A kernel of the example that counts its calls and fails on demand.
struct Calls
{
    int inits = 0, builds = 0, prepares = 0, resizes = 0, runs = 0, deaths = 0;
    std::string failing;  // "Prepare", "ReSize", "Execute"
    bool throwing = false;
    delegate::MSTensor input;  // the first, of the last Execute
};

class CountingKernel : public elementwise::RunKernel
{
  public:
    CountingKernel(delegate::KernelIter from, delegate::KernelIter end,
                   delegate::DelegateModel* model, Calls* calls)
        : RunKernel(from, end, model), calls_(calls)
    {
    }
    ~CountingKernel() override { ++calls_->deaths; }
    int Prepare() override
    {
        ++calls_->prepares;
        return fails("Prepare") ? -7 : RunKernel::Prepare();
    }
    int ReSize() override
    {
        ++calls_->resizes;
        return fails("ReSize") ? -7 : RunKernel::Prepare();
    }
    int Execute() override
    {
        ++calls_->runs;
        calls_->input = inputs()[0];
        return fails("Execute") ? -7 : RunKernel::Execute();
    }

  private:
    bool fails(const std::string& entry) const
    {
        if (calls_->failing == entry && calls_->throwing) throw std::runtime_error("thrown");
        return calls_->failing == entry;
    }

    Calls* calls_;
};

// A delegate with Init and Build from the test. By default Build replaces every run of the
// operators in `operators`.
class TestDelegate : public delegate::Delegate
{
  public:
    std::string Name() const override { return name; }
    delegate::Status Init() override
    {
        ++calls.inits;
        return init;
    }
    delegate::Status Build(delegate::DelegateModel* model) override
    {
        ++calls.builds;
        return build ? build(model) : replace_runs(model);
    }
    delegate::Status replace_runs(delegate::DelegateModel* model);
    std::vector<std::string> Operators() const override
    {
        ++lists;
        return listed;
    }

    Calls calls;
    mutable int lists = 0;            // calls of Operators
    std::vector<std::string> listed;  // its result
    std::string name = "TEST";
    delegate::Status init;
    std::function<delegate::Status(delegate::DelegateModel*)> build;
    std::vector<std::string> operators = {"Relu", "Add", "Sub", "Mul"};
};

// Returns device and reason of every node, by its name: "TEST", "CPU: the message".
std::vector<std::string> list_places(graph_t graph);

}  // namespace tengine
