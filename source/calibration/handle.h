// SPDX-License-Identifier: Apache-2.0
// The table of live calibrations, as api/handle.h has it for graphs: a handle that is NULL,
// destroyed or of another kind is found out without reading its target.
#pragma once

#include "calibration/report.h"

namespace tengine::calibration {

struct Entry : Allocated
{
    Entry(graph_t graph, const tengine_calibration_options& options, RangeMethod method)
        : calibration(graph, options, method)
    {
    }

    Calibration calibration;
    Report report;
    bool has_report = false;  // of the present findings
    bool is_busy = false;     // in a function that calls the program
    Entry* next = nullptr;
};

// All functions: any thread.

// Returns the handle of an entry.
tengine_calibration_t add_entry(std::unique_ptr<Entry> entry);

// Null: TENGINE_EHANDLE, or TENGINE_ESTATE from within a callback of the calibration.
Entry* find_entry(tengine_calibration_t handle, const char* function);

// The same, and removes the entry from the table.
std::unique_ptr<Entry> remove_entry(tengine_calibration_t handle, const char* function);

}  // namespace tengine::calibration
