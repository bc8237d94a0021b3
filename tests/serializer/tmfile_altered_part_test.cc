// SPDX-License-Identifier: Apache-2.0
// A tmfile with the constants that the CPU has packed for a real model, with one altered bit: the
// part is compiled again, and nothing else changes.
#include <cstring>
#include <gtest/gtest.h>

#include "base/log.h"
#include "graph/context.h"
#include "graph/core.h"
#include "graph/model_part.h"
#include "graph/option.h"
#include "scheduler/scheduler.h"
#include "serializer/own_tmfile.h"
#include "serializer/tmfile_model.h"
#include "support/allocation_count.h"
#include "support/emulated.h"
#include "tengine/inspect.h"

namespace tengine::test {
namespace {

int warnings = 0;

class TmfileAlteredPartTest : public TmfileTest
{
  protected:
    TmfileAlteredPartTest() : context_(create_ir_context("altered"), destroy_ir_context)
    {
        set("run.shape_cache", "0");
        set("split.report", "none");
        set_log_sink([](const char* line) {
            warnings += std::strstr(line, "has been altered: its bytes have another hash") != 0;
        });
    }
    ~TmfileAlteredPartTest() override { set_log_sink(nullptr); }

    void set(const char* key, const char* value)
    {
        EXPECT_EQ(set_ir_context_option(context_.get(), key, value), 0) << tengine_error_message();
    }

    // Prepares and drops the graph: returns the origin of its only part.
    int prepare(const LoadedTmfile& loaded)
    {
        const ir_run_options_t options = {1, 0, 0, 0, 0, 0, 0};
        loaded.graph->attribute->context = context_.get();
        EXPECT_EQ(prerun_ir_graph(loaded.graph, &options), 0) << tengine_error_message();
        const int origin = get_ir_graph_subgraph(loaded.graph->core->execution, 0)->core->origin;
        EXPECT_EQ(postrun_ir_graph(loaded.graph), 0);
        loaded.graph->attribute->context = nullptr;
        return origin;
    }

    std::unique_ptr<ir_context_t, void (*)(ir_context_t*)> context_;
};

// One bit in each 31 bytes of the part, another one each time; 31 is a prime number, so that the
// position in blocks and words of the hash varies as well. With a sanitizer, for which all
// iterations are alike, in each 1,550 bytes.
TEST_F(TmfileAlteredPartTest, AlteredBitsAreNoticed)
{
    set("model.keep_parts", "1");
    const LoadedTmfile plain(make_own_tmfile("digits"));
    prepare(plain);
    if (count_ir_model_parts(plain.graph) == 0) GTEST_SKIP() << "kernels pack nothing here";
    set("model.keep_parts", "0");
    const LoadedTmfile loaded(write_graph(plain.graph));
    const ir_model_bytes_t& part = *get_ir_model_part(loaded.graph, 0)->bytes;
    ASSERT_GT(part.size, 10000u);
    ASSERT_EQ(prepare(loaded), TENGINE_PART_FROM_MODEL);
    const size_t step = 31 * (kEmulated ? 500 : can_count_allocations() ? 1 : 50);
    char* bytes = static_cast<char*>(const_cast<void*>(part.data));  // the test's own copy
    for (size_t i = 0; i < part.size; i += step) {
        const int bit = static_cast<int>(i / step % 8);
        warnings = 0;
        bytes[i] = static_cast<char>(bytes[i] ^ (1 << bit));
        ASSERT_EQ(prepare(loaded), TENGINE_PART_COMPILED) << "byte " << i << ", bit " << bit;
        ASSERT_EQ(warnings, 1) << "byte " << i << ", bit " << bit;
        bytes[i] = static_cast<char>(bytes[i] ^ (1 << bit));
    }
    EXPECT_EQ(prepare(loaded), TENGINE_PART_FROM_MODEL);
}

}  // namespace
}  // namespace tengine::test
