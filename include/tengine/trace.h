// SPDX-License-Identifier: Apache-2.0
// The trace of a graph: its last events, each with begin and end, from the preparation and the
// runs. The option run.trace is the number of events that each writer keeps: the thread that calls
// the library, each part, and each thread of the CPU. 0, the default, keeps none. The rules of
// c_api.h and inspect.h hold here, too.
#pragma once

#include "tengine/c_api.h"

TENGINE_EXTERN_C_BEGIN

// Kinds of events: X(name, value, word).
#define TENGINE_TRACE_KINDS(X)                                                                 \
    /* prerun_graph or a pass of it, whose name the event has */                               \
    X(TENGINE_TRACE_PREPARE, 0, "prepare")                                                     \
    /* a device compiles or loads a part; its name */                                          \
    X(TENGINE_TRACE_COMPILE, 1, "compile")                                                     \
    /* a run, from run_graph to the results */                                                 \
    X(TENGINE_TRACE_RUN, 2, "run")                                                             \
    /* the program waits in wait_graph */                                                      \
    X(TENGINE_TRACE_WAIT, 3, "wait")                                                           \
    /* a device runs a part; its name */                                                       \
    X(TENGINE_TRACE_PART, 4, "part")                                                           \
    /* tensors are copied into a frame, to or from a device, or to the program */              \
    X(TENGINE_TRACE_COPY, 5, "copy")                                                           \
    /* a step of the CPU, for a node */                                                        \
    X(TENGINE_TRACE_STEP, 6, "step")                                                           \
    /* the share of a thread in a loop of a step */                                            \
    X(TENGINE_TRACE_SHARE, 7, "share")                                                         \
    /* a unit of a simulated device works, or waits for the reason that is the event's name */ \
    X(TENGINE_TRACE_UNIT, 8, "unit")

enum tengine_trace_kind
{
#define TENGINE_TRACE_ENUM(name, value, word) name = value,
    TENGINE_TRACE_KINDS(TENGINE_TRACE_ENUM)
#undef TENGINE_TRACE_ENUM
};

// One event. Events of a lane are disjoint or lie inside each other. A member that does not apply
// is "", -1 or 0.
struct tengine_trace_event
{
    char name[48];
    int lane;
    int kind;          // TENGINE_TRACE_*
    int64_t begin_ns;  // by the clock of the lane
    int64_t end_ns;
    int node;     // of a step or a share, and of a unit if it is known; index of an execution node
    int part;     // of the events inside a part, and of its copies
    int64_t run;  // number of the run since the preparation, from 0
    int64_t bytes;  // of a copy
    int status;     // 0, or the code with which the work failed
};

// A lane: the program's calls, a frame of a pipeline, a device, copies, a thread of the CPU, or a
// unit of a simulated device. A device whose parts run at the same time has several.
struct tengine_trace_lane
{
    char name[64];   // "program", "CPU", "CPU, thread 1", "TPU, array"
    char clock[32];  // "": the monotonic clock of this machine, whose zero is arbitrary; else the
                     // simulated device by whose clock the lane is, with the begin of its last run
                     // as zero
};

// The events that are left, by begin, those of simulated devices last, and the lanes. Each
// prerun_graph begins a new trace; of a unit of a simulated device there are the first events of
// the last run. Bodies of control flow are in the trace of the graph. The numbers are 0 if the
// option was 0 in prerun_graph.
//
// Fail with TENGINE_ESTATE (not prepared, or running), TENGINE_EINVAL (NULL, a size of 0),
// TENGINE_ERANGE, TENGINE_ENOMEM, and with the codes of devices.
TENGINE_API int tengine_graph_get_trace_event_number(graph_t graph);
TENGINE_API int tengine_graph_get_trace_event(graph_t graph, int index,
                                              struct tengine_trace_event* out_event, size_t size);
TENGINE_API int tengine_graph_get_trace_lane_number(graph_t graph);
TENGINE_API int tengine_graph_get_trace_lane(graph_t graph, int index,
                                             struct tengine_trace_lane* out_lane, size_t size);

// The word for a TENGINE_TRACE_* ("step"), for reports. Fails with TENGINE_ERANGE. No init_tengine
// needed.
TENGINE_API const char* tengine_trace_kind_get_name(int kind);

TENGINE_EXTERN_C_END
