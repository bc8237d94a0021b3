// SPDX-License-Identifier: Apache-2.0
// What kernel_benchmark compares with: the same operation by libraries that the build has found,
// oneDNN (a convolution or a product with one thread, in the layouts that it asks for) and OpenBLAS
// (a product).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernel_case.h"

namespace tengine {

struct Peer
{
    std::string library;
    // What runs it with one thread, and owns what that needs.
    std::function<std::function<void()>()> prepare;
};

// Before anything else: the libraries are not to start threads.
void keep_peers_single_threaded();

// None for an operator that they do not have.
std::vector<Peer> find_peers(const KernelCase& node_case);

}  // namespace tengine
