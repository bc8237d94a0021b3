// SPDX-License-Identifier: Apache-2.0
// Runs in flight: those that run_graph(graph, 0) has begun and wait_graph has not ended yet. This
// header has the completion function; tengine_graph_cancel of c_api.h and the option
// run.deadline_ms end runs early. docs/runs-in-flight.md has programs. Results, errors, ownership
// and threads are as c_api.h says.
//
// A run that is cancelled, or whose deadline is over, fails with TENGINE_ECANCELED; the messages
// differ. It ends before its next node, or before the next round of a Loop, Scan or SequenceMap, on
// every device that says so; work in a node or device that cannot be told is finished first. A
// request that comes after the last node of a run has no effect on that run, and none has an effect
// on runs that begin later: the graph can run again at once, also while cancelled runs wait for
// wait_graph. Inputs keep their data. The contents of outputs, and of the program's buffers for
// outputs, are undefined until the next run has succeeded; a program that carries state from run to
// run in its own buffers gives the state of the last run that succeeded.
#pragma once

#include "tengine/c_api.h"

TENGINE_EXTERN_C_BEGIN

// Called once for each run_graph(graph, 0) that has returned 0, in the order of the runs, when the
// run has ended. `status`: 0, or the TENGINE_E... with which wait_graph will fail; its message is
// wait_graph's. The thread is one of the library's with the scheduler "pipeline", the caller of
// run_graph with "sync", which has always finished by then, and the caller of wait_graph with the
// scheduler of a device. The function should return soon: later runs wait for it. It must call no
// function for this graph except tengine_graph_cancel, nor throw or exit its thread.
typedef void (*tengine_completion_t)(graph_t graph, int status, void* user_data);

// Sets the function for the runs that begin from now on; NULL removes it. wait_graph ends each run
// as without it. For a run whose function has been called, wait_graph(graph, 0) returns without
// waiting for anything but the return of the function; wait_graph(graph, 1) may return 0 until
// then. After wait_graph has ended a run, and after destroy_graph, no call for that run is in
// flight. Runs that have blocked have no completion. wait_graph may fail although `status` is 0,
// when a result does not fit into a buffer of the program's or a mapped file has changed.
// Fails with TENGINE_EHANDLE and TENGINE_ESTATE (runs are in flight, or called from a hook).
TENGINE_API int tengine_graph_set_completion(graph_t graph, tengine_completion_t function,
                                             void* user_data);

TENGINE_EXTERN_C_END
