// SPDX-License-Identifier: Apache-2.0
// bucket.h: smaller inputs in the shapes of buckets, with both schedulers, several devices, buffers
// of the program, instances, states and files. The oracle is the same graph without buckets.
#include "tengine/bucket.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "fixture.h"
#include "onnx_bytes.h"
#include "tengine/graph.h"
#include "tengine/inspect.h"
#include "tengine/metadata.h"
#include "tengine/state.h"

namespace tengine {
namespace {

using Floats = std::vector<float>;

class BucketTest : public ApiTest
{
  protected:
    void TearDown() override
    {
        release();
        ApiTest::TearDown();
    }

    void release()
    {
        for (const graph_t graph : graphs_)
            EXPECT_EQ(destroy_graph(graph), 0);
        graphs_.clear();
        for (const context_t context : contexts_)
            destroy_context(context);
        contexts_.clear();
    }

    graph_t own(graph_t graph)
    {
        EXPECT_NE(graph, nullptr) << get_tengine_error();
        if (graph) graphs_.push_back(graph);
        return graph;
    }

    context_t create(const std::vector<std::pair<const char*, const char*>>& options,
                     const char* device = "CPU")
    {
        const context_t context = create_context("buckets", 1);
        contexts_.push_back(context);
        EXPECT_EQ(set_context_device(context, device, nullptr, 0), 0);
        for (const auto& [key, value] : options)
            EXPECT_EQ(tengine_context_set_option(context, key, value), 0) << get_tengine_error();
        return context;
    }

    // A network of pictures of 8x8, without buckets and in those of 4 and 2.
    graph_t create_plain()
    {
        return own(create_graph(nullptr, "onnx", TENGINE_EXAMPLES_DATA_DIR "/digits.onnx"));
    }
    graph_t create_network()
    {
        const graph_t graph = create_plain();
        for (const char* shapes : {"image=4x1x8x8", "image=2x1x8x8"})
            EXPECT_EQ(tengine_graph_add_bucket(graph, shapes), 0) << get_tengine_error();
        return graph;
    }

    // y = Neg(x), z = Softmax(x) over axis 0 with `axis` 0, else over axis 1.
    graph_t create_softmax(int axis, context_t context = nullptr)
    {
        const graph_t graph = own(create_graph(context, nullptr, nullptr));
        const tensor_t x = add_input(graph, "x", {3, 4});
        add_node(graph, "y", "Neg", {x});
        add_node(graph, "z", "Softmax", {x});
        EXPECT_EQ(set_node_attr_int(get_graph_node(graph, "z"), "axis", &axis), 0);
        EXPECT_TRUE(set_borders(graph, {"x"}, {"y", "z"}));
        return graph;
    }

    std::vector<graph_t> graphs_;
    std::vector<context_t> contexts_;
};

size_t count(const std::vector<int>& dims)
{
    size_t number = 1;
    for (const int dim : dims)
        number *= static_cast<size_t>(dim);
    return number;
}

Floats make_values(size_t number, int seed)
{
    Floats values(number);
    for (size_t i = 0; i < number; ++i)
        values[i] = std::sin(static_cast<float>(i * 7 + static_cast<size_t>(seed)));
    return values;
}

void reshape(graph_t graph, const std::vector<int>& dims)
{
    ASSERT_EQ(set_tensor_shape(tengine_graph_get_input(graph, 0), dims.data(),
                               static_cast<int>(dims.size())),
              0);
}

void prepare(graph_t graph, const std::vector<int>& dims)
{
    reshape(graph, dims);
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
}

std::string explain(graph_t graph, int* bucket)
{
    const char* text = tengine_graph_explain_bucket(graph, bucket);
    EXPECT_NE(text, nullptr);
    return text ? text : "";
}

std::string explain(graph_t graph)
{
    int bucket;
    return explain(graph, &bucket);
}

std::vector<int> shape_of(tensor_t tensor)
{
    int dims[MAX_SHAPE_DIM_NUM];
    const int number = get_tensor_shape(tensor, dims, MAX_SHAPE_DIM_NUM);
    return {dims, dims + number};
}

std::vector<Floats> run(graph_t graph, const std::vector<int>& dims, int seed)
{
    std::vector<Floats> results;
    EXPECT_TRUE(write_floats(tengine_graph_get_input(graph, 0), make_values(count(dims), seed)));
    EXPECT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
    for (int i = 0; i < tengine_graph_get_output_number(graph); ++i)
        results.push_back(read_floats(tengine_graph_get_output(graph, i)));
    return results;
}

// The results of a graph of the same model without buckets.
std::vector<Floats> run_plain(graph_t graph, const std::vector<int>& dims, int seed)
{
    prepare(graph, dims);
    return run(graph, dims, seed);
}

TEST_F(BucketTest, TheSmallestThatHoldsTheInputs)
{
    const graph_t graph = create_network();
    const graph_t plain = create_plain();
    EXPECT_EQ(tengine_graph_get_bucket_number(graph), 2);
    EXPECT_STREQ(tengine_graph_get_bucket(graph, 0), "image=4x1x8x8");
    const struct
    {
        int samples, bucket;
        std::string text;
    } cases[] = {
        {3, 0, "input 'image' of 3x1x8x8 is padded to 4x1x8x8"},
        {1, 1, "input 'image' of 1x1x8x8 is padded to 2x1x8x8"},
        {2, 1, ""},
        {4, 0, ""},
        {3, 0, "input 'image' of 3x1x8x8 is padded to 4x1x8x8"},
        {5, -1, "no bucket holds input 'image' of 5x1x8x8"},
        {1, 1, "input 'image' of 1x1x8x8 is padded to 2x1x8x8"},
    };
    for (const auto& expected : cases) {
        const std::vector<int> dims = {expected.samples, 1, 8, 8};
        prepare(graph, dims);
        int bucket;
        EXPECT_EQ(explain(graph, &bucket), expected.text);
        EXPECT_EQ(bucket, expected.bucket);
        EXPECT_EQ(shape_of(tengine_graph_get_input(graph, 0)), dims);
        EXPECT_EQ(shape_of(tengine_graph_get_output(graph, 0)),
                  (std::vector<int>{expected.samples, 10}));
        for (int seed = 0; seed < 3; ++seed)
            EXPECT_EQ(run(graph, dims, seed), run_plain(plain, dims, seed));
    }
}

TEST_F(BucketTest, WherePaddingIsNotExactShapesAreTheirOwn)
{
    const graph_t graph = create_softmax(0), plain = create_softmax(0);
    ASSERT_EQ(tengine_graph_add_bucket(graph, "x=8x4"), 0) << get_tengine_error();
    prepare(graph, {3, 4});
    int bucket;
    EXPECT_EQ(explain(graph, &bucket),
              "no bucket: node 'z' (Softmax) mixes positions along axis 0 of 'x'");
    EXPECT_EQ(bucket, -1);
    EXPECT_EQ(run(graph, {3, 4}, 1), run_plain(plain, {3, 4}, 1));
}

// Padding of an inner axis: each row is copied.
TEST_F(BucketTest, InnerAxes)
{
    const graph_t graph = create_softmax(0), plain = create_softmax(0);
    ASSERT_EQ(tengine_graph_add_bucket(graph, "x=3x9"), 0) << get_tengine_error();
    for (const int width : {4, 7, 1, 9}) {
        prepare(graph, {3, width});
        EXPECT_EQ(explain(graph).empty(), width == 9);
        EXPECT_EQ(run(graph, {3, width}, 1), run_plain(plain, {3, width}, 1));
    }
}

TEST_F(BucketTest, SchedulersDevicesAndBuffers)
{
    for (const char* device : {"CPU", "TPU"})
        for (const char* scheduler : {"sync", "pipeline"}) {
            SCOPED_TRACE(std::string(device) + " " + scheduler);
            const context_t context = create({{"scheduler", scheduler}}, device);
            const graph_t graph = create_softmax(1, context);
            const graph_t plain = create_softmax(1, create({}));
            ASSERT_EQ(tengine_graph_add_bucket(graph, "x=8x4"), 0) << get_tengine_error();
            prepare(graph, {3, 4});
            EXPECT_NE(explain(graph), "");
            const Floats values = make_values(12, 5);
            Floats input = values, y(12 + 4, 99), z(12 + 4, 99);
            ASSERT_EQ(set_tensor_buffer(tengine_graph_get_input(graph, 0), input.data(), 48), 0);
            ASSERT_EQ(set_tensor_buffer(tengine_graph_get_output(graph, 0), y.data(), 48), 0);
            ASSERT_EQ(set_tensor_buffer(tengine_graph_get_output(graph, 1), z.data(), 48), 0);
            for (int i = 0; i < 3; ++i) {
                ASSERT_EQ(run_graph(graph, 0), 0) << get_tengine_error();
                ASSERT_EQ(wait_graph(graph, 0), 1) << get_tengine_error();
            }
            const std::vector<Floats> expected = run_plain(plain, {3, 4}, 5);
            EXPECT_EQ(Floats(y.begin(), y.begin() + 12), expected[0]);
            EXPECT_EQ(Floats(z.begin(), z.begin() + 12), expected[1]);
            EXPECT_EQ(Floats(y.begin() + 12, y.end()), Floats(4, 99));
            EXPECT_EQ(Floats(z.begin() + 12, z.end()), Floats(4, 99));
            EXPECT_EQ(input, values);
            release();
        }
}

TEST_F(BucketTest, RunsInFlight)
{
    const context_t context = create({{"scheduler", "pipeline"}, {"pipeline.frames", "3"}});
    const graph_t graph = create_softmax(1, context), plain = create_softmax(1);
    ASSERT_EQ(tengine_graph_add_bucket(graph, "x=8x4"), 0) << get_tengine_error();
    prepare(graph, {5, 4});
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(write_floats(tengine_graph_get_input(graph, 0), make_values(20, i)));
        ASSERT_EQ(run_graph(graph, 0), 0) << get_tengine_error();
    }
    for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(wait_graph(graph, 0), 1) << get_tengine_error();
        const std::vector<Floats> expected = run_plain(plain, {5, 4}, i);
        EXPECT_EQ(read_floats(tengine_graph_get_output(graph, 0)), expected[0]);
        EXPECT_EQ(read_floats(tengine_graph_get_output(graph, 1)), expected[1]);
    }
}

TEST_F(BucketTest, InstancesHaveThem)
{
    const graph_t graph = create_network();
    const graph_t plain = create_plain();
    prepare(graph, {3, 1, 8, 8});
    const graph_t other = own(tengine_graph_share(graph));
    EXPECT_EQ(tengine_graph_get_bucket_number(other), 2);
    for (const int samples : {3, 1}) {
        const std::vector<int> dims = {samples, 1, 8, 8};
        prepare(other, dims);
        EXPECT_NE(explain(other), "");
        EXPECT_EQ(run(other, dims, samples), run_plain(plain, dims, samples));
    }
    EXPECT_EQ(run(graph, {3, 1, 8, 8}, 9), run_plain(plain, {3, 1, 8, 8}, 9));
}

// Each thread has an instance, with sizes of its own, while the others prepare theirs.
TEST_F(BucketTest, InstancesInThreads)
{
    const graph_t graph = create_network(), plain = create_plain();
    std::vector<std::vector<Floats>> expected;
    for (int samples = 1; samples <= 4; ++samples)
        expected.push_back(run_plain(plain, {samples, 1, 8, 8}, samples));
    std::vector<graph_t> instances;
    for (int i = 0; i < 3; ++i)
        instances.push_back(own(tengine_graph_share(graph)));
    std::vector<std::thread> threads;
    for (const graph_t instance : instances)
        threads.emplace_back([instance, &expected] {
            for (const int samples : {3, 1, 4, 2, 3, 1}) {
                prepare(instance, {samples, 1, 8, 8});
                EXPECT_EQ(run(instance, {samples, 1, 8, 8}, samples),
                          expected[static_cast<size_t>(samples - 1)]);
            }
        });
    for (std::thread& thread : threads)
        thread.join();
}

// The first of equal ones, and the smallest of those that overlap.
TEST_F(BucketTest, EqualAndOverlappingOnes)
{
    const graph_t graph = create_softmax(1), plain = create_softmax(1);
    for (const char* shapes : {"x=9x4", "x=8x4", "x=8x4", "x=5x8"})
        ASSERT_EQ(tengine_graph_add_bucket(graph, shapes), 0) << get_tengine_error();
    const struct
    {
        int rows, bucket;
    } cases[] = {{8, 1}, {7, 1}, {3, 1}, {9, 0}};
    for (const auto& expected : cases) {
        prepare(graph, {expected.rows, 4});
        int bucket;
        (void)explain(graph, &bucket);
        EXPECT_EQ(bucket, expected.bucket) << expected.rows;
        EXPECT_EQ(run(graph, {expected.rows, 4}, 1), run_plain(plain, {expected.rows, 4}, 1));
    }
}

TEST_F(BucketTest, Precisions)
{
    for (const int precision : {TENGINE_MODE_FP16, TENGINE_MODE_BF16, TENGINE_MODE_HYBRID_INT8}) {
        SCOPED_TRACE(precision);
        std::vector<std::vector<Floats>> results;
        for (const graph_t graph : {create_plain(), create_network()}) {
            options settings = {1, TENGINE_CLUSTER_ALL, precision, 0};
            reshape(graph, {3, 1, 8, 8});
            ASSERT_EQ(prerun_graph_multithread(graph, settings), 0) << get_tengine_error();
            results.push_back(run(graph, {3, 1, 8, 8}, 2));
            EXPECT_EQ(explain(graph).empty(), results.size() == 1);
        }
        // Kernels are chosen by shape, and round sums to 16 bits.
        ASSERT_EQ(results[1][0].size(), results[0][0].size());
        for (size_t i = 0; i < results[0][0].size(); ++i)
            EXPECT_NEAR(results[1][0][i], results[0][0][i], 4e-3) << i;
    }
}

TEST_F(BucketTest, FilesHaveThem)
{
    const graph_t graph = create_softmax(1), plain = create_softmax(1);
    for (const char* shapes : {"x=8x4", "x=4x4"})
        ASSERT_EQ(tengine_graph_add_bucket(graph, shapes), 0) << get_tengine_error();
    const std::string path = testing::TempDir() + "bucket_" + std::to_string(getpid()) + ".model";
    for (const char* format : {"onnx", "tengine", "tflite"}) {
        SCOPED_TRACE(format);
        ASSERT_EQ(save_graph(graph, format, path.c_str()), 0) << get_tengine_error();
        const graph_t loaded = own(create_graph(nullptr, format, path.c_str()));
        std::remove(path.c_str());
        ASSERT_EQ(tengine_graph_get_bucket_number(loaded), 2);
        EXPECT_STREQ(tengine_graph_get_bucket(loaded, 1), "x=4x4");
        EXPECT_STREQ(tengine_graph_find_property(loaded, "tengine.bucket.0"), "x=8x4");
        for (const int rows : {3, 6}) {
            prepare(loaded, {rows, 4});
            EXPECT_NE(explain(loaded), "");
            EXPECT_EQ(run(loaded, {rows, 4}, 2), run_plain(plain, {rows, 4}, 2));
        }
    }
}

TEST_F(BucketTest, AnOptionTurnsThemOff)
{
    const graph_t graph = create_softmax(1, create({{"run.buckets", "0"}}));
    ASSERT_EQ(tengine_graph_add_bucket(graph, "x=8x4"), 0) << get_tengine_error();
    prepare(graph, {3, 4});
    int bucket = 0;
    EXPECT_EQ(explain(graph, &bucket), "");
    EXPECT_EQ(bucket, -1);
    EXPECT_EQ(tengine_graph_get_bucket_number(graph), 1);
}

TEST_F(BucketTest, SeveralInputs)
{
    const graph_t graph = own(create_graph(nullptr, nullptr, nullptr));
    const tensor_t x = add_input(graph, "x=1,odd", {2, 3});
    const tensor_t w = add_input(graph, "w", {3});
    const tensor_t b = add_input(graph, "b", {2, 1});
    add_node(graph, "y", "Add", {add_node(graph, "xw", "Mul", {x, w}), b});
    ASSERT_TRUE(set_borders(graph, {"x=1,odd", "w", "b"}, {"y"}));
    ASSERT_EQ(tengine_graph_add_bucket(graph, "x=1,odd=4x3,b=4x1"), 0) << get_tengine_error();
    ASSERT_TRUE(write_floats(x, {1, 2, 3, 4, 5, 6}));
    ASSERT_TRUE(write_floats(w, {1, 10, 100}));
    ASSERT_TRUE(write_floats(b, {1000, 2000}));
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    EXPECT_EQ(explain(graph),
              "input 'x=1,odd' of 2x3 is padded to 4x3, input 'b' of 2x1 is padded to 4x1");
    ASSERT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
    EXPECT_EQ(read_floats(tengine_graph_get_output(graph, 0)),
              (Floats{1001, 1020, 1300, 2004, 2050, 2600}));
}

TEST_F(BucketTest, StatesKeepTheirValues)
{
    // sum = before + ReduceSum over the last axis of x, which the bucket does not pad.
    const graph_t graph = own(create_graph(nullptr, nullptr, nullptr));
    const tensor_t x = add_input(graph, "x", {2, 2});
    const tensor_t before = add_input(graph, "before", {1});
    add_node(graph, "sum", "Add", {before, add_constant(graph, "one", {1}, Floats{1}.data())});
    add_node(graph, "y", "Add", {x, before});
    ASSERT_TRUE(set_borders(graph, {"x", "before"}, {"sum", "y"}));
    ASSERT_EQ(tengine_graph_keep_state(graph, "before", "sum"), 0) << get_tengine_error();
    EXPECT_EQ(tengine_graph_add_bucket(graph, "x=4x2,before=2"), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    ASSERT_EQ(tengine_graph_add_bucket(graph, "x=4x2"), 0) << get_tengine_error();
    float sum = 0;
    for (const int rows : {2, 4, 3, 5, 1}) {
        prepare(graph, {rows, 2});
        EXPECT_EQ(explain(graph).empty(), rows == 4);
        for (int i = 0; i < 2; ++i) {
            const size_t number = 2 * static_cast<size_t>(rows);
            ASSERT_TRUE(write_floats(x, Floats(number, 10)));
            ASSERT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
            EXPECT_EQ(read_floats(tengine_graph_get_output(graph, 0)), Floats(number, 10 + sum++));
        }
    }
}

TEST_F(BucketTest, WrongTexts)
{
    const graph_t graph = create_softmax(1);
    for (const char* text :
         {"x", "x=", "=3x4", "x=3", "x=3x4,", "x=3x0", "x=3x-1", "x=axb", "x=3x4x", "q=3x4",
          "x=3x4,x=5x4", "x=99999999999x4", "x=1x1x1x1x1x1x1x1x1", "x=3x4 "}) {
        SCOPED_TRACE(text);
        EXPECT_EQ(tengine_graph_add_bucket(graph, text), -1);
        EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    }
    EXPECT_EQ(tengine_graph_get_bucket_number(graph), 0);
    EXPECT_EQ(tengine_graph_get_bucket(graph, 0), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    int bucket;
    EXPECT_EQ(tengine_graph_explain_bucket(graph, &bucket), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
}

TEST_F(BucketTest, MoreThanAModelHas)
{
    const graph_t graph = create_softmax(1);
    for (int i = 0; i < 256; ++i)
        ASSERT_EQ(tengine_graph_add_bucket(graph, ("x=3x" + std::to_string(256 - i)).c_str()), 0);
    EXPECT_EQ(tengine_graph_add_bucket(graph, "x=3x4"), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    prepare(graph, {2, 4});
    EXPECT_EQ(explain(graph), "input 'x' of 2x4 is padded to 3x4");
}

TEST_F(BucketTest, AFileWithAWrongOne)
{
    const std::string bytes =
        make_model({make_node("Neg", {"x"}, "y", "y")}, {make_value_info("x", {"n"})},
                   make_value_info("y", {"n"})) +
        Message().bytes(14, make_property("tengine.bucket.a", "x=2x3")).text();
    const graph_t graph = own(tengine_graph_load(nullptr, "onnx", bytes.data(), bytes.size()));
    reshape(graph, {3});
    EXPECT_EQ(prerun_graph(graph), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(shape_of(tengine_graph_get_input(graph, 0)), std::vector<int>{3});
}

TEST_F(BucketTest, ABucketThatTheModelCannotHave)
{
    const graph_t graph = create_softmax(1);
    ASSERT_EQ(tengine_graph_add_bucket(graph, "x=2147483647x2147483647"), 0);
    reshape(graph, {3, 4});
    EXPECT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    EXPECT_EQ(explain(graph).find("no bucket: "), 0U) << explain(graph);
    EXPECT_EQ(shape_of(tengine_graph_get_input(graph, 0)), (std::vector<int>{3, 4}));
}

TEST_F(BucketTest, ShapesMustBePrepared)
{
    const graph_t graph = create_network();
    prepare(graph, {3, 1, 8, 8});
    reshape(graph, {1, 1, 8, 8});
    EXPECT_EQ(run_graph(graph, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
}

}  // namespace
}  // namespace tengine
