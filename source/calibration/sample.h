// SPDX-License-Identifier: Apache-2.0
// The samples that the program's callback gives, checked.
#pragma once

#include "base/containers.hpp"
#include "tengine/calibration.h"

namespace tengine::calibration {

// A value for each input, in the order of the graph.
using Sample = Vector<tengine_sample_input>;

// "1x3x?x?", "scalar"
String shape_text(const int* dims, int dim_number);

class SampleSource
{
  public:
    // Copies names, types and shapes of the graph's inputs.
    SampleSource(graph_t graph, const tengine_calibration_options& options);

    size_t input_number() const { return inputs_.size(); }

    // Reads sample `index` of a pass; *out_is_end: there is none. Fails with TENGINE_ECANCELED, and
    // TENGINE_EINVAL or TENGINE_ERANGE for a sample that is not as it must be.
    TENGINE_MUST_USE int read(int64_t index, Sample* out_sample, bool* out_is_end) const;

    // The same for a sample of a pass that has been there before; TENGINE_ESTATE when there is
    // none.
    TENGINE_MUST_USE int read_again(int64_t index, Sample* out_sample) const;

    // TENGINE_ECANCELED when the program ends the work.
    TENGINE_MUST_USE int show_progress(int64_t done, int64_t total) const;

  private:
    TENGINE_MUST_USE int check(int64_t index, const Sample& sample) const;

    void* user_;
    int (*read_)(void* user, int64_t index, tengine_sample_input inputs[], int input_number);
    int (*show_)(void* user, int64_t done, int64_t total);
    Vector<String> names_;
    Sample inputs_;  // as the program gets them
};

}  // namespace tengine::calibration
