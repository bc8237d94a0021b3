// SPDX-License-Identifier: Apache-2.0
// Ctrl-C in a command that can report partial results.
#pragma once

#include <thread>

#include "tengine/c_api.h"
#include "tensor_file/failure.h"

namespace tengine::tools {

// Afterwards the first Ctrl-C makes was_interrupted() true, and the second ends the program.
void catch_interrupt();
bool was_interrupted();

// While the object lives, the first Ctrl-C cancels the preparation or the runs of the graph, which
// then fail. After catch_interrupt(), and one object at a time.
class InterruptedRuns
{
  public:
    explicit InterruptedRuns(graph_t graph);
    ~InterruptedRuns();
    InterruptedRuns(const InterruptedRuns&) = delete;
    InterruptedRuns& operator=(const InterruptedRuns&) = delete;

  private:
    std::thread thread_;
};

// Calls `work`. False: it has failed because of Ctrl-C.
template <class Work>
bool until_interrupted(const Work& work)
{
    try {
        work();
        return true;
    } catch (const Failure&) {
        if (!was_interrupted()) throw;
        return false;
    }
}

// Ends the program by the signal, so that a loop of the shell ends, too. Buffered output is written
// first.
void end_interrupted();

}  // namespace tengine::tools
