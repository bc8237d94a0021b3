// SPDX-License-Identifier: Apache-2.0
#include "interrupt.h"

#include <csignal>
#include <cstdio>

namespace tengine::tools {
namespace {

volatile std::sig_atomic_t interrupted = 0;

}  // namespace

void catch_interrupt()
{
    struct sigaction action = {};
    action.sa_handler = [](int) { interrupted = 1; };
    // Interrupted calls continue; the handler is removed after the first signal.
    action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
    sigaction(SIGINT, &action, nullptr);
}

bool was_interrupted()
{
    return interrupted != 0;
}

void end_interrupted()
{
    std::fflush(nullptr);
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);
}

}  // namespace tengine::tools
