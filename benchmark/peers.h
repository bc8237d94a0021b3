// SPDX-License-Identifier: Apache-2.0
// The peers of kernel_benchmark: the same operation in libraries that the build has found, oneDNN
// (a convolution or a product with one thread, in the layouts that it prefers) and OpenBLAS (a
// product).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cases/case.h"

namespace tengine {

struct Peer
{
    std::string library;
    // Returns a function that runs it with one thread and owns everything that it needs.
    std::function<std::function<void()>()> prepare;
};

// Called before any use: the libraries are not to start threads.
void keep_peers_single_threaded();

// Returns an empty list for an operator that they lack.
std::vector<Peer> find_peers(const tools::Case& node_case);

}  // namespace tengine
