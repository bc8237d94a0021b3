// SPDX-License-Identifier: Apache-2.0
#include "interrupt.h"

#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

namespace tengine::tools {
namespace {

volatile std::sig_atomic_t interrupted = 0;

// A handler may not cancel runs. It writes a byte to a pipe, which a thread reads.
int pipe_ends[2] = {-1, -1};

constexpr char kInterrupted = 'i', kOver = 'o';
constexpr int kPauseMs = 10;

void send(char byte)
{
    // A pipe that is full has a byte already.
    [[maybe_unused]] const ssize_t written = write(pipe_ends[1], &byte, 1);
}

void cancel_when_interrupted(graph_t graph)
{
    char byte = kInterrupted;
    pollfd next = {pipe_ends[0], POLLIN, 0};
    while (read(pipe_ends[0], &byte, 1) == 1 && byte == kInterrupted) {
        set_log_level(LOG_EMERG);  // failures are expected from now on
        // Between two runs there is nothing to cancel.
        while (tengine_graph_cancel(graph) < 0 && poll(&next, 1, kPauseMs) == 0)
            continue;
    }
}

}  // namespace

void catch_interrupt()
{
    if (pipe(pipe_ends) != 0) throw Failure("Ctrl-C cannot be caught: no pipe");
    struct sigaction action = {};
    action.sa_handler = [](int) {
        interrupted = 1;
        send(kInterrupted);
    };
    // Interrupted calls continue; the handler is removed after the first signal.
    action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
    sigaction(SIGINT, &action, nullptr);
}

bool was_interrupted()
{
    return interrupted != 0;
}

InterruptedRuns::InterruptedRuns(graph_t graph) : thread_(cancel_when_interrupted, graph) {}

InterruptedRuns::~InterruptedRuns()
{
    send(kOver);
    thread_.join();
}

void end_interrupted()
{
    std::fflush(nullptr);
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);
}

}  // namespace tengine::tools
