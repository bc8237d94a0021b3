// SPDX-License-Identifier: Apache-2.0
// The peers of kernel_benchmark: the same operation by libraries that the build has found, oneDNN
// (a convolution or a product with one thread, in the layouts that it asks for) and OpenBLAS (a
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
    // Returns the function that runs it with one thread, which owns all that it needs.
    std::function<std::function<void()>()> prepare;
};

// To be called before anything else: the libraries are not to start threads.
void keep_peers_single_threaded();

// Empty for an operator that they do not have.
std::vector<Peer> find_peers(const tools::Case& node_case);

}  // namespace tengine
