// SPDX-License-Identifier: Apache-2.0
// Preparations in a tmfile (graph/prepared.h): a start reads the execution graph that another
// process has made. Everything that is known about it is the same, and whatever is wrong with the
// bytes, the passes make it.
#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

#include "base/log.h"
#include "graph/context.h"
#include "graph/core.h"
#include "graph/graph.h"
#include "graph/model_part.h"
#include "graph/option.h"
#include "graph/prepared.h"
#include "operator/param.h"
#include "operator/registry.h"
#include "optimizer/optimizer.h"
#include "scheduler/scheduler.h"
#include "serializer/own_tmfile.h"
#include "serializer/prepared_fixture.h"
#include "serializer/synthetic_graph.h"
#include "serializer/tmfile_model.h"
#include "support/allocation_count.h"
#include "tengine/inspect.h"

namespace tengine::test {
namespace {

// Everything that a report, or a later call, may tell of an execution graph.
std::string describe(const struct graph& graph)
{
    std::string text;
    const auto add = [&](const auto&... words) {
        ((text += words, text += ' '), ...);
        text += '\n';
    };
    const auto number = [](int64_t value) { return std::to_string(value); };
    for (int i = 0; i < graph.tensor_num; ++i) {
        const struct tensor& tensor = *graph.tensor_list[i];
        add(tensor.name, number(tensor.data_type), number(tensor.tensor_type),
            number(tensor.core->source_index), number(tensor.producer), number(tensor.elem_num),
            number(tensor.quant_param_num), number(tensor.consumer_num));
    }
    for (int i = 0; i < graph.node_num; ++i) {
        const struct node& node = *graph.node_list[i];
        add(node.name, get_ir_node_op(&node), node.device->name, number(node.subgraph_idx),
            number(node.core->source_index), number(node.core->refusal_num),
            number(get_ir_node_macs(&node)), number(node.op.version));
    }
    for (int i = 0; i < get_vector_num(graph.subgraph_list); ++i) {
        const struct subgraph& part = *get_ir_graph_subgraph(&graph, i);
        add(part.device->name, number(part.node_num), number(part.input_num),
            number(part.output_num), number(static_cast<int64_t>(part.plan_bytes)),
            number(part.core->bytes_in), number(part.core->bytes_out));
    }
    const vector_t* shapes = graph.core->settled_shapes;
    for (int i = 0; shapes && i < get_vector_num(shapes); ++i) {
        const auto* shape = static_cast<const ir_settled_shape_t*>(get_vector_data(shapes, i));
        add(number(shape->source_index), number(shape->dim_num));
    }
    add(number(static_cast<int64_t>(graph.core->plan_bytes)), number(graph.run_options->precision),
        number(graph.run_options->rounding));
    return text;
}

TEST_F(TmfilePreparedTest, AStartReadsTheSameGraph)
{
    for (const std::string name : {"digits", "quantised"}) {
        const std::string file = make_own_tmfile(name);
        const LoadedTmfile plain(file);
        ASSERT_EQ(prerun(plain.graph), 0) << tengine_error_message();
        const std::string expected = describe(*plain.graph->core->execution);
        const std::vector<std::string> results = run(plain.graph);
        end(plain.graph);
        const LoadedTmfile loaded(compile(file));
        forget_log();
        ASSERT_EQ(prerun(loaded.graph), 0) << tengine_error_message();
        EXPECT_TRUE(says("is prepared in its file for ")) << name;
        EXPECT_EQ(describe(*loaded.graph->core->execution), expected) << name;
        EXPECT_EQ(run(loaded.graph), results) << name;
        EXPECT_EQ(run(loaded.graph), results) << name << ", again";
        end(loaded.graph);
    }
}

// The device surveys the graph of the file, as it surveys one that passes have made.
TEST_F(TmfilePreparedTest, OnADeviceThatSurveysTheGraph)
{
    struct device* tpu = find_device_via_name("TPU");
    if (!tpu) GTEST_SKIP() << "the build has no TPU";
    ASSERT_TRUE(tpu->allocator->survey);
    ASSERT_EQ(add_ir_context_device(context_.get(), tpu, nullptr, 0), 0);
    set("split.prune", "0");
    const std::string file = make_own_tmfile("digits");
    for (const int threads : {1, 2}) {
        const LoadedTmfile plain(file);
        ASSERT_EQ(prerun(plain.graph, TENGINE_MODE_BF16, threads), 0) << tengine_error_message();
        const std::string expected = describe(*plain.graph->core->execution);
        EXPECT_NE(expected.find("TPU"), std::string::npos);
        const std::vector<std::string> results = run(plain.graph);
        end(plain.graph);
        const LoadedTmfile loaded(compile(file, {}, TENGINE_MODE_BF16, threads));
        forget_log();
        ASSERT_EQ(prerun(loaded.graph, TENGINE_MODE_BF16, threads), 0) << tengine_error_message();
        EXPECT_TRUE(has_said("TPU has loaded "));
        EXPECT_TRUE(says("is prepared in its file for "));
        EXPECT_EQ(describe(*loaded.graph->core->execution), expected);
        EXPECT_EQ(run(loaded.graph), results);
        end(loaded.graph);
        ASSERT_EQ(set_ir_context_device_option(context_.get(), tpu, "config", "edge"), 0);
        ASSERT_EQ(prerun(loaded.graph, TENGINE_MODE_BF16, threads), 0) << tengine_error_message();
        EXPECT_TRUE(says("TPU.config=edge"));
        EXPECT_EQ(run(loaded.graph), results) << "another chip, for which the passes prepare";
        end(loaded.graph);
        ASSERT_EQ(set_ir_context_device_option(context_.get(), tpu, "config", "scale32"), 0);
    }
}

TEST_F(TmfilePreparedTest, AFileHasSeveralShapes)
{
    const std::string file = make_own_tmfile("digits");
    const LoadedTmfile loaded(compile(compile(file, {1, 3}), {2, 3}));
    ASSERT_EQ(count_ir_model_preparations(loaded.graph), 3);
    for (const int batch : {1, 2, 3, 4}) {
        const LoadedTmfile plain(file);
        set_batch(plain.graph, batch);
        ASSERT_EQ(prerun(plain.graph), 0);
        const std::vector<std::string> results = run(plain.graph);
        end(plain.graph);
        set_batch(loaded.graph, batch);
        forget_log();
        ASSERT_EQ(prerun(loaded.graph), 0);
        if (batch < 4)
            EXPECT_TRUE(says("is prepared in its file for ")) << batch;
        else
            EXPECT_TRUE(says("; this run has "));
        EXPECT_EQ(run(loaded.graph), results) << batch;
        end(loaded.graph);
    }
}

TEST_F(TmfilePreparedTest, OtherTermsAreNamed)
{
    const LoadedTmfile loaded(compile(make_own_tmfile("digits")));
    EXPECT_STREQ(preparation_of(loaded).target, "image 1x1x8x8 fp32 in fp32 on CPU");
    forget_log();
    set("split.min_nodes", "2");
    ASSERT_EQ(prerun(loaded.graph), 0);
    EXPECT_TRUE(
        says("its file is prepared for image 1x1x8x8 fp32 in fp32 on CPU; this run has "
             "image 1x1x8x8 fp32 in fp32 on CPU, split.min_nodes=2"));
    end(loaded.graph);
    set("split.min_nodes", "0");  // the default
    ASSERT_EQ(prerun(loaded.graph), 0);
    EXPECT_TRUE(says("is prepared in its file for "));
    end(loaded.graph);
    ASSERT_EQ(prerun(loaded.graph, TENGINE_MODE_FP16), 0);
    EXPECT_TRUE(says("; this run has image 1x1x8x8 fp32 in fp16 on CPU"));
    end(loaded.graph);
}

TEST_F(TmfilePreparedTest, AChangedModelIsPreparedAnew)
{
    const LoadedTmfile loaded(compile(make_own_tmfile("digits")));
    ++loaded.graph->core->revision;
    forget_log();
    ASSERT_EQ(prerun(loaded.graph), 0);
    EXPECT_TRUE(says("are not used: the program has changed the model"));
    end(loaded.graph);
}

TEST_F(TmfilePreparedTest, AConstantThatTheProgramMayWriteTo)
{
    const LoadedTmfile loaded(compile(make_own_tmfile("digits")));
    for (int i = 0; i < loaded.graph->tensor_num; ++i)
        if (loaded.graph->tensor_list[i]->tensor_type == TENSOR_TYPE_CONST)
            loaded.graph->tensor_list[i]->core->lent = true;
    forget_log();
    ASSERT_EQ(prerun(loaded.graph), 0);
    EXPECT_TRUE(says("are not used: the program may write to a constant"));
    end(loaded.graph);
}

TEST_F(TmfilePreparedTest, AlteredBitsAreNoticed)
{
    const LoadedTmfile loaded(compile(make_own_tmfile("digits")));
    const ir_model_bytes_t& found = preparation_of(loaded);
    char* bytes = static_cast<char*>(const_cast<void*>(found.data));  // the test's own copy
    for (size_t i = 0; i < found.size; i += found.size / 50) {
        bytes[i] = static_cast<char>(bytes[i] ^ (1 << i % 8));
        forget_log();
        ASSERT_EQ(prerun(loaded.graph), 0);
        EXPECT_TRUE(says("is not used: it has been altered: its hash differs")) << i;
        end(loaded.graph);
        bytes[i] = static_cast<char>(bytes[i] ^ (1 << i % 8));
    }
}

// Whoever writes files may also write hashes. Shapes follow from the operators all the same, and
// nothing outside of the bytes is read.
TEST_F(TmfilePreparedTest, HostileBytes)
{
    std::mt19937 random(5);
    for (const std::string name : {"digits", "quantised"}) {
        const LoadedTmfile loaded(compile(make_own_tmfile(name)));
        ir_model_bytes_t& found = preparation_of(loaded);
        const std::string original(static_cast<const char*>(found.data), found.size);
        int used = 0;
        for (int i = 0; i < 300; ++i) {
            std::string bytes = original;
            if (i % 5 == 0) bytes.resize(random() % bytes.size());
            for (int k = 0; k < 1 + i % 3 && !bytes.empty(); ++k) {
                const size_t place = random() % bytes.size();
                const char values[] = {'\0', '\1', '\xff', '\x7f', static_cast<char>(random())};
                bytes[place] = values[random() % 5];
            }
            const std::vector<char> exact(bytes.begin(), bytes.end());
            found.data = exact.data();
            found.size = exact.size();
            find_sha256_of_pieces(nullptr, found.data, found.size, found.digest);
            forget_log();
            if (prerun(loaded.graph) != 0) {
                loaded.graph->attribute->context = nullptr;
                continue;
            }
            used += has_said("is prepared in its file for ");
            run(loaded.graph);
            end(loaded.graph);
        }
        EXPECT_GT(used, 10) << "the bytes of constants and names may be any";
        EXPECT_LT(used, 290);
        found.data = original.data();
        found.size = original.size();
    }
}

TEST_F(TmfilePreparedTest, WithoutMemory)
{
    if (!can_count_allocations()) GTEST_SKIP() << "the sanitizer has an allocator of its own";
    const LoadedTmfile loaded(compile(make_own_tmfile("digits")));
    const long before = count_allocations();
    ASSERT_EQ(prerun(loaded.graph), 0);
    const long number = count_allocations() - before;
    end(loaded.graph);
    for (long i = 1; i <= number; ++i) {
        fail_allocation(i);
        const int status = prerun(loaded.graph);
        fail_allocation(0);
        EXPECT_TRUE(status == 0 || tengine_error_code() == TENGINE_ENOMEM)
            << i << ": " << tengine_error_message();
        end(loaded.graph);
    }
}

// A model whose graph a file cannot carry is prepared at each start, and the log has the reason.
TEST_F(TmfilePreparedTest, GraphsThatStayOut)
{
    SyntheticGraph made;
    const struct node* input = made.add_input();
    const struct node* last =
        made.add("places", get_op_type("", "NonZero"), {get_ir_node_output(input, 0)});
    EXPECT_EQ(set_ir_tensor_data_type(get_ir_node_output(last, 0), TENGINE_DT_INT64), 0);
    made.set_borders(input, last);
    const LoadedTmfile loaded(write_graph(made.graph));
    set("model.keep_parts", "1");
    ASSERT_EQ(prerun(loaded.graph), 0) << tengine_error_message();
    EXPECT_TRUE(
        says("the file has no preparation of it, each start makes its own: node 'places' "
             "(NonZero) has shapes that depend on data"));
    EXPECT_EQ(count_ir_model_preparations(loaded.graph), 0);
    end(loaded.graph);
}

// Without the constants of the model the bytes say little.
TEST_F(TmfilePreparedTest, ConstantsAreInTheFileOnce)
{
    const LoadedTmfile loaded(compile(make_own_tmfile("digits")));
    size_t constants = 0;
    for (int i = 0; i < loaded.graph->tensor_num; ++i)
        if (loaded.graph->tensor_list[i]->tensor_type == TENSOR_TYPE_CONST)
            constants += get_ir_tensor_bytes(loaded.graph->tensor_list[i]);
    EXPECT_LT(preparation_of(loaded).size, constants / 2);
}

}  // namespace
}  // namespace tengine::test
