// SPDX-License-Identifier: Apache-2.0
// The choice among the variants of a model (graph/variant.h). A variant fits if the context has its
// devices, or they are the default device, if its first device has the chip and the driver that it
// names, if the run has its precision, and if the program sets none of its options to other values.
// The best is the one whose first device is the earliest of the context, then the one with the most
// devices, then the one that names chip and driver, then the first one in the file.
#pragma once

#include "graph/graph.h"

namespace tengine {

// Before a preparation of a model: takes the best variant, the one of the option model.variant, or
// with model.keep_variant begins to record one. EINVAL: the option names none that fits, or is
// wrong; ENOENT: names none. Bodies have those of their model.
TENGINE_MUST_USE int choose_variant(graph& model, int precision);

// Gives the execution graph a context of its own with the options of the variant that was taken,
// where the program sets none.
TENGINE_MUST_USE int take_variant_options(const graph& model, graph& execution);

}  // namespace tengine
