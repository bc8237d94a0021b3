// SPDX-License-Identifier: Apache-2.0
#include "serializer/prepared_fixture.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/log.h"
#include "graph/core.h"
#include "graph/graph.h"
#include "graph/option.h"
#include "module/module.h"
#include "scheduler/scheduler.h"

namespace tengine::test {
namespace {

std::string lines;

}  // namespace

TmfilePreparedTest::TmfilePreparedTest()
    : context_(create_ir_context("prepared"), destroy_ir_context)
{
    lines.clear();
    set_log_sink([](const char* line) { lines += line; });
    level_ = get_log_sink_level();
    set_log_sink_level(TENGINE_LOG_INFO);
    set("run.shape_cache", "0");
    set("split.report", "none");
}

TmfilePreparedTest::~TmfilePreparedTest()
{
    set_log_sink_level(level_);
    set_log_sink(nullptr);
}

void TmfilePreparedTest::set(const char* key, const char* value)
{
    EXPECT_EQ(set_ir_context_option(context_.get(), key, value), 0) << tengine_error_message();
}

void TmfilePreparedTest::set_cpu(const char* key, const char* value)
{
    if (!find_ir_context_device(context_.get(), find_default_device())) {
        EXPECT_EQ(add_ir_context_device(context_.get(), find_default_device(), nullptr, 0), 0);
    }
    EXPECT_EQ(set_ir_context_device_option(context_.get(), find_default_device(), key, value), 0)
        << tengine_error_message();
}

bool TmfilePreparedTest::has_said(const std::string& part)
{
    return lines.find(part) != std::string::npos;
}

bool TmfilePreparedTest::says(const std::string& part)
{
    const bool found = has_said(part);
    if (!found) std::printf("%s\n", lines.c_str());
    lines.clear();
    return found;
}

void TmfilePreparedTest::forget_log()
{
    lines.clear();
}

int TmfilePreparedTest::prerun(struct graph* graph, int precision, int threads)
{
    ir_run_options_t options = {1, 0, 0, 0, 0, 0, 0};
    options.num_thread = threads;
    options.precision = precision;
    graph->attribute->context = context_.get();
    return prerun_ir_graph(graph, &options);
}

void TmfilePreparedTest::end(struct graph* graph)
{
    EXPECT_EQ(postrun_ir_graph(graph), 0);
    graph->attribute->context = nullptr;
}

std::vector<std::string> TmfilePreparedTest::run(struct graph* graph)
{
    std::vector<std::string> results;
    std::vector<std::vector<char>> values;
    for (int i = 0; i < graph->input_tensor_num; ++i) {
        struct tensor* input = graph->tensor_list[graph->input_tensors[i]];
        std::vector<char>& bytes = values.emplace_back(get_ir_tensor_bytes(input));
        for (size_t k = 0; k < bytes.size(); ++k)
            bytes[k] = static_cast<char>(input->data_type == TENGINE_DT_FP32 && k % 4 == 3
                                             ? 0x3c + static_cast<int>(k % 3)
                                             : static_cast<int>(k * 37 % 101));
        set_ir_tensor_data(input, bytes.data(), false);
    }
    EXPECT_EQ(run_ir_graph(graph, 1), 0) << tengine_error_message();
    for (int i = 0; i < graph->output_tensor_num; ++i) {
        const struct tensor* output = graph->tensor_list[graph->output_tensors[i]];
        results.emplace_back(static_cast<const char*>(output->data), get_ir_tensor_bytes(output));
    }
    for (int i = 0; i < graph->input_tensor_num; ++i)
        set_ir_tensor_data(graph->tensor_list[graph->input_tensors[i]], nullptr, false);
    return results;
}

std::string TmfilePreparedTest::compile(const std::string& file, const std::vector<int>& batches,
                                        int precision, int threads)
{
    const LoadedTmfile plain(file);
    EXPECT_EQ(plain.status, 0) << plain.message;
    set("model.keep_parts", "1");
    if (batches.empty()) {
        EXPECT_EQ(prerun(plain.graph, precision, threads), 0) << tengine_error_message();
        end(plain.graph);
    }
    for (const int batch : batches) {
        set_batch(plain.graph, batch);
        EXPECT_EQ(prerun(plain.graph, precision, threads), 0) << tengine_error_message();
        end(plain.graph);
    }
    set("model.keep_parts", "0");
    EXPECT_GT(count_ir_model_preparations(plain.graph), 0) << lines;
    return write_graph(plain.graph);
}

void TmfilePreparedTest::set_batch(struct graph* graph, int batch)
{
    struct tensor* input = graph->tensor_list[graph->input_tensors[0]];
    int dims[MAX_SHAPE_DIM_NUM];
    std::copy_n(input->dims, input->dim_num, dims);
    dims[0] = batch;
    EXPECT_EQ(set_ir_tensor_shape(input, dims, input->dim_num), 0);
}

ir_model_bytes_t& preparation_of(const LoadedTmfile& loaded)
{
    EXPECT_EQ(count_ir_model_preparations(loaded.graph), 1);
    if (count_ir_model_preparations(loaded.graph) == 0) std::abort();
    return const_cast<ir_model_bytes_t&>(*get_ir_model_preparation(loaded.graph, 0));
}

}  // namespace tengine::test
