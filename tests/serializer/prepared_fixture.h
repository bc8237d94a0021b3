// SPDX-License-Identifier: Apache-2.0
// For tests of preparations in a tmfile (graph/prepared.h): files with them, and starts from them.
#pragma once

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "graph/context.h"
#include "graph/model_part.h"
#include "serializer/tmfile_model.h"

namespace tengine::test {

class TmfilePreparedTest : public TmfileTest
{
  protected:
    TmfilePreparedTest();
    ~TmfilePreparedTest() override;

    void set(const char* key, const char* value);
    // An option of the CPU.
    void set_cpu(const char* key, const char* value);

    // Whether the log has `part` since the last call of says() or forget_log().
    static bool says(const std::string& part);
    static bool has_said(const std::string& part);
    static void forget_log();

    int prerun(struct graph* graph, int precision = TENGINE_MODE_FP32, int threads = 1);
    static void end(struct graph* graph);

    // The results of a run with values that depend on the place alone.
    static std::vector<std::string> run(struct graph* graph);

    // A file of the model with the preparations for these batches.
    std::string compile(const std::string& file, const std::vector<int>& batches = {},
                        int precision = TENGINE_MODE_FP32, int threads = 1);
    static void set_batch(struct graph* graph, int batch);

    std::unique_ptr<ir_context_t, void (*)(ir_context_t*)> context_;

  private:
    int level_ = 0;
};

// The only one that the model has.
ir_model_bytes_t& preparation_of(const LoadedTmfile& loaded);

}  // namespace tengine::test
