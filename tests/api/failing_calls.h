// SPDX-License-Identifier: Apache-2.0
// A failing call of every function of the public headers that can fail.
#pragma once

#include <vector>

#include "tengine/c_api.h"

namespace tengine {

struct FailingCall
{
    const char* name;             // the call in full
    bool (*fails)(void* handle);  // makes the call; whether the function reports a failure
};

// Functions that take a handle, with good arguments otherwise: they fail for a bad handle.
const std::vector<FailingCall>& context_calls();
const std::vector<FailingCall>& graph_calls();
const std::vector<FailingCall>& node_calls();
const std::vector<FailingCall>& tensor_calls();
// The others: all fail before init_tengine.
const std::vector<FailingCall>& other_calls();

}  // namespace tengine
