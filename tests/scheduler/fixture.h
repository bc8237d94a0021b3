// SPDX-License-Identifier: Apache-2.0
// The fixture of the tests of schedulers: a source graph with a context of its own, whose tensors
// are set and read as vectors of float, and the captured lines of the log.
#pragma once

#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "graph/context.h"
#include "graph/core.h"
#include "scheduler/scheduler.h"
#include "support/ir_builder.h"
#include "support/test_device.h"

namespace tengine::test {

using Floats = std::vector<float>;

// Whether the message of the last failure contains `part`.
testing::AssertionResult says(const std::string& part);

// Captures log lines during its lifetime, instead of standard error.
class LogCapture
{
  public:
    LogCapture();
    ~LogCapture();
    int count(const std::string& part) const;
};

// Options of a test, as the program would give them to prerun_graph.
inline constexpr ir_run_options_t kOneThread = {1, 0, 0, 0, 0, 0, 0};

class Session
{
  public:
    // Devices in their order; they must outlive the session.
    explicit Session(std::initializer_list<TestDevice*> devices);

    // Graph operators, all of shape `dims`: input "x", then add().
    IrBuilder& builder() { return *builder_; }
    graph* source() { return builder_->get(); }
    const graph* execution() { return source()->core->execution; }
    tensor* at(const std::string& name) { return builder_->find(name); }
    subgraph* part(int index) { return get_ir_graph_subgraph(execution(), index); }

    void set(const char* key, const char* value);
    // An option of the default device, which the context gets if it does not list it.
    void set_default(const char* key, const char* value);
    int prerun() { return prerun_ir_graph(source(), &kOneThread); }
    int run(int block = 1) { return run_ir_graph(source(), block); }
    int wait(int try_wait = 0) { return wait_ir_graph(source(), try_wait); }
    int postrun() { return postrun_ir_graph(source()); }

    // The data is kept until the next call for this input.
    void feed(const std::string& name, Floats data);
    Floats read(const std::string& name);

  private:
    std::unique_ptr<ir_context_t, void (*)(ir_context_t*)> context_;
    std::unique_ptr<IrBuilder> builder_;
    std::map<std::string, Floats> fed_;
};

// x -> Relu -> r -> Exp -> e -> Neg -> y, with outputs y and r. With device A for Relu and Neg
// there are three parts.
void add_three_steps(Session& session);
// Returns the value of y for one of x.
float three_steps_of(float x);

}  // namespace tengine::test
