// SPDX-License-Identifier: Apache-2.0
// A device in C++ that takes no operator. It builds only if each of the seven variables of its
// CMakeLists.txt has reached the compiler and the linker.
#include <climits>

#include "probe_library.h"
#include "tengine/device.h"

static_assert(CHAR_MIN == 0, "TENGINE_PROBE_COMPILER_OPTIONS has not arrived");

// Another name of probe_answer(), which TENGINE_PROBE_LINKER_OPTIONS defines.
extern "C" int probe_linked(void);

namespace {

int check_answer(device*)
{
    if (probe_answer() == 42 && probe_linked() == 42) return TENGINE_OK;
    return tengine_error_set(TENGINE_EDEVICE, "probe: the library answers %d", probe_answer());
}

int do_nothing(device*, subgraph*)
{
    return TENGINE_OK;
}
int compile_nothing(device*, subgraph*, void*)
{
    return TENGINE_OK;
}
int release(device*)
{
    return TENGINE_OK;
}
int describe_nothing(device*, vector*, vector*, vector*)
{
    return TENGINE_OK;
}

device* probe()
{
    static interface entries = {};
    static allocator lists = {};
    static device the_device = {};
    entries.init = check_answer;
    entries.pre_run = compile_nothing;
    entries.run = do_nothing;
    entries.post_run = do_nothing;
    entries.release_device = release;
    lists.describe = describe_nothing;
    the_device.name = PROBE_NAME;
    the_device.interface = &entries;
    the_device.allocator = &lists;
    return &the_device;
}

}  // namespace

TENGINE_DEFINE_DEVICE(probe, probe());
