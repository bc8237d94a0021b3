// SPDX-License-Identifier: Apache-2.0
// The stand-in for prepared.cc in a build that keeps no compiled parts (TENGINE_WITH_PART_CACHE).
#include "optimizer/pass.h"

namespace tengine {

int read_prepared(const graph&, const ir_run_options_t&, GraphPointer*)
{
    return TENGINE_OK;
}

bool take_prepared_places(const graph&, const Vector<struct tensor*>&, Vector<memory_block_t>*,
                          size_t*)
{
    return false;
}

}  // namespace tengine
