// SPDX-License-Identifier: Apache-2.0
// The results of a calibration as the structures of tengine/calibration.h.
#pragma once

#include "calibration/calibration.h"

namespace tengine::calibration {

// Strings are those of the calibration and of the report.
struct Report
{
    tengine_calibration_summary summary = {};
    Vector<tengine_calibrated_layer> layers;
    Vector<tengine_calibrated_node> nodes;
    Vector<tengine_calibrated_tensor> tensors;
    Vector<tengine_calibrated_output> outputs;
    Vector<String> texts;  // a reason for each node
};

Report make_report(const Calibration& calibration);

}  // namespace tengine::calibration
