// SPDX-License-Identifier: Apache-2.0
// metadata.h: the statements of a model about itself in a graph, in its copies and in the files it
// is saved as; declared shapes of outputs, and shapes that depend on data.
#include "tengine/metadata.h"

#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "fixture.h"
#include "onnx_bytes.h"
#include "tengine/graph.h"
#include "tengine/inspect.h"
#include "tengine/quantize.h"

namespace tengine {
namespace {

graph_t load(const std::string& bytes)
{
    const graph_t graph = tengine_graph_load(nullptr, "onnx", bytes.data(), bytes.size());
    EXPECT_NE(graph, nullptr) << get_tengine_error();
    return graph;
}

void set_shape(graph_t graph, const std::vector<int>& dims)
{
    const tensor_t x = tengine_graph_get_input(graph, 0);
    ASSERT_EQ(set_tensor_shape(x, dims.data(), static_cast<int>(dims.size())), 0);
}

// All but the versions of the ONNX file.
void expect_statements(graph_t graph)
{
    tengine_metadata metadata;
    ASSERT_EQ(tengine_graph_get_metadata(graph, &metadata, sizeof metadata), 0);
    EXPECT_STREQ(metadata.graph_name, "g");
    EXPECT_STREQ(metadata.producer_name, "pytorch");
    EXPECT_STREQ(metadata.producer_version, "2.4.0");
    EXPECT_STREQ(metadata.domain, "org.example");
    EXPECT_STREQ(metadata.doc_string, "under a licence");
    EXPECT_STREQ(metadata.graph_doc_string, "a graph");
    EXPECT_EQ(metadata.model_version, 7);
    ASSERT_EQ(metadata.property_number, 2);
    const std::pair<const char*, const char*> properties[] = {{"labels", "cat,dog"}, {"size", "2"}};
    for (int i = 0; i < 2; ++i) {
        const char *key, *value;
        ASSERT_EQ(tengine_graph_get_property(graph, i, &key, &value), 0);
        EXPECT_STREQ(key, properties[i].first);
        EXPECT_STREQ(value, properties[i].second);
        EXPECT_STREQ(tengine_graph_find_property(graph, properties[i].first), value);
    }
    EXPECT_STREQ(tengine_node_get_doc_string(get_graph_node(graph, "relu")), "clamps");
}

using Opsets = std::vector<std::pair<std::string, int64_t>>;

Opsets opsets_of(graph_t graph)
{
    tengine_metadata metadata;
    EXPECT_EQ(tengine_graph_get_metadata(graph, &metadata, sizeof metadata), 0);
    Opsets opsets;
    for (int i = 0; i < metadata.opset_number; ++i) {
        const char* domain;
        int64_t version;
        EXPECT_EQ(tengine_graph_get_opset(graph, i, &domain, &version), 0);
        opsets.emplace_back(domain, version);
    }
    return opsets;
}

class MetadataTest : public ApiTest
{
  protected:
    // The graph in a file of the format, loaded again.
    graph_t save_and_load(graph_t graph, const char* format)
    {
        const std::string path =
            testing::TempDir() + "metadata_" + std::to_string(getpid()) + ".model";
        EXPECT_EQ(save_graph(graph, format, path.c_str()), 0) << get_tengine_error();
        const graph_t loaded = create_graph(nullptr, format, path.c_str());
        EXPECT_NE(loaded, nullptr) << get_tengine_error();
        std::remove(path.c_str());
        return loaded;
    }
};

TEST_F(MetadataTest, AnOnnxModelSaysAllOfIt)
{
    const graph_t graph = load(make_documented_model());
    expect_statements(graph);
    tengine_metadata metadata;
    ASSERT_EQ(tengine_graph_get_metadata(graph, &metadata, sizeof metadata), 0);
    EXPECT_EQ(metadata.ir_version, 8);
    EXPECT_EQ(opsets_of(graph), (Opsets{{"", 13}, {"com.microsoft", 1}}));
    EXPECT_STREQ(tengine_node_get_doc_string(get_graph_node(graph, "x")), "");
    EXPECT_EQ(destroy_graph(graph), 0);
}

TEST_F(MetadataTest, FilesKeepIt)
{
    const graph_t graph = load(make_documented_model());
    set_shape(graph, {2, 4});
    for (const char* format : {"onnx", "tengine"}) {
        SCOPED_TRACE(format);
        const graph_t saved = save_and_load(graph, format);
        expect_statements(saved);
        EXPECT_EQ(opsets_of(saved).empty(), std::string(format) == "tengine");
        const graph_t again = save_and_load(saved, "onnx");
        expect_statements(again);
        EXPECT_EQ(destroy_graph(again), 0);
        EXPECT_EQ(destroy_graph(saved), 0);
    }
    EXPECT_EQ(destroy_graph(graph), 0);
}

TEST_F(MetadataTest, CopiesOutliveTheModel)
{
    const graph_t graph = load(make_documented_model());
    set_shape(graph, {2, 4});
    const graph_t shared = tengine_graph_share(graph);
    ASSERT_NE(shared, nullptr) << get_tengine_error();
    tengine_quantization how = {};
    how.get_range = [](void*, const char*, double* low, double* high) {
        *low = -1;
        *high = 1;
        return 1;
    };
    const graph_t quantized = tengine_graph_quantize(graph, &how);
    ASSERT_NE(quantized, nullptr) << get_tengine_error();
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    EXPECT_EQ(destroy_graph(graph), 0);
    for (const graph_t copy : {shared, quantized}) {
        expect_statements(copy);
        for (const char* format : {"onnx", "tengine"}) {
            SCOPED_TRACE(format);
            const graph_t saved = save_and_load(copy, format);
            expect_statements(saved);
            EXPECT_EQ(destroy_graph(saved), 0);
        }
        EXPECT_EQ(destroy_graph(copy), 0);
    }
}

TEST_F(MetadataTest, AGraphBuiltByHandSaysNothing)
{
    const graph_t graph = create_relu_graph();
    tengine_metadata metadata;
    ASSERT_EQ(tengine_graph_get_metadata(graph, &metadata, sizeof metadata), 0);
    for (const char* text : {metadata.producer_name, metadata.producer_version, metadata.domain,
                             metadata.doc_string, metadata.graph_doc_string})
        EXPECT_STREQ(text, "");
    EXPECT_EQ(metadata.model_version, 0);
    EXPECT_EQ(metadata.property_number + metadata.opset_number, 0);
    EXPECT_EQ(tengine_graph_find_property(graph, "labels"), nullptr);
    EXPECT_TRUE(answered_with(TENGINE_ENOENT));
    const graph_t saved = save_and_load(graph, "onnx");
    ASSERT_EQ(tengine_graph_get_metadata(saved, &metadata, sizeof metadata), 0);
    EXPECT_STREQ(metadata.producer_name, "tengine");
    EXPECT_EQ(destroy_graph(saved), 0);
    EXPECT_EQ(destroy_graph(graph), 0);
}

TEST_F(MetadataTest, Refusals)
{
    const graph_t graph = load(make_documented_model());
    tengine_metadata metadata;
    const char *key = nullptr, *value = nullptr;
    int64_t version = 0;
    EXPECT_EQ(tengine_graph_get_metadata(graph, nullptr, sizeof metadata), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_graph_get_metadata(graph, &metadata, 0), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    for (const int index : {-1, 2}) {
        EXPECT_EQ(tengine_graph_get_property(graph, index, &key, &value), -1);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
        EXPECT_EQ(tengine_graph_get_opset(graph, index, &key, &version), -1);
        EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    }
    EXPECT_EQ(tengine_graph_get_property(graph, 0, nullptr, &value), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_graph_get_property(graph, 0, &key, nullptr), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_graph_get_opset(graph, 0, nullptr, &version), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_graph_get_opset(graph, 0, &key, nullptr), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(tengine_graph_find_property(graph, nullptr), nullptr);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(destroy_graph(graph), 0);
}

// A program that was compiled with a shorter struct gets no bytes beyond it.
TEST_F(MetadataTest, ShorterStructs)
{
    const graph_t graph = load(make_documented_model());
    tengine_metadata metadata = {};
    metadata.producer_version = "untouched";
    ASSERT_EQ(tengine_graph_get_metadata(graph, &metadata, 2 * sizeof(char*)), 0);
    EXPECT_STREQ(metadata.producer_name, "pytorch");
    EXPECT_STREQ(metadata.producer_version, "untouched");
    EXPECT_EQ(destroy_graph(graph), 0);
}

// ---- shapes ----

void expect_names(tensor_t tensor, const std::vector<std::string>& names)
{
    for (size_t i = 0; i < names.size(); ++i)
        EXPECT_EQ(tengine_tensor_get_dim_name(tensor, static_cast<int>(i)), names[i]) << i;
}

TEST_F(MetadataTest, OutputsHaveTheNamesOfTheModel)
{
    const graph_t graph = load(make_documented_model());
    const tensor_t y = tengine_graph_get_output(graph, 0);
    int dims[MAX_SHAPE_DIM_NUM] = {};
    EXPECT_EQ(tengine_tensor_has_rank(y), 0) << "the nodes have not given the shape yet";
    EXPECT_EQ(tengine_tensor_get_declared_shape(y, dims, 8), 2);
    EXPECT_EQ(dims[0], -1);
    EXPECT_EQ(dims[1], -1);
    EXPECT_EQ(tengine_tensor_get_declared_shape(y, dims, 1), -1);
    EXPECT_TRUE(failed_with(TENGINE_ERANGE));
    EXPECT_EQ(tengine_tensor_get_declared_shape(y, nullptr, 8), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    for (const int rows : {2, 3}) {
        expect_names(y, {"results", ""});
        set_shape(graph, {rows, 4});
        ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
        ASSERT_EQ(get_tensor_shape(y, dims, 8), 2);
        EXPECT_EQ(dims[0], rows);
    }
    expect_names(tengine_graph_get_input(graph, 0), {"rows", "columns"});
    // Saved as ONNX, with the shapes of the results that are known by then.
    const graph_t saved = save_and_load(graph, "onnx");
    EXPECT_EQ(tengine_tensor_get_declared_shape(tengine_graph_get_output(saved, 0), dims, 8), 2);
    EXPECT_EQ(dims[0], 3);
    EXPECT_EQ(destroy_graph(saved), 0);
    EXPECT_EQ(destroy_graph(graph), 0);
}

TEST_F(MetadataTest, CopiesHaveTheNames)
{
    const graph_t graph = load(make_documented_model());
    const graph_t shared = tengine_graph_share(graph);
    const graph_t saved = save_and_load(graph, "onnx");
    for (const graph_t copy : {shared, saved}) {
        expect_names(tengine_graph_get_output(copy, 0), {"results", ""});
        EXPECT_EQ(destroy_graph(copy), 0);
    }
    EXPECT_EQ(destroy_graph(graph), 0);
}

// A model that is wrong about the rank of its result, which Reduce makes a scalar.
TEST_F(MetadataTest, NamesOfAnotherRankAreNotThose)
{
    const graph_t graph =
        load(make_model({make_node("Size", {"x"}, "y", "n")}, {make_value_info("x")},
                        make_value_info("y", {"rows"}, 7)));
    const tensor_t y = tengine_graph_get_output(graph, 0);
    expect_names(y, {"rows"});
    ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
    expect_names(y, {""});
    EXPECT_EQ(destroy_graph(graph), 0);
}

TEST_F(MetadataTest, WithoutADeclarationThereIsNone)
{
    const graph_t graph = create_relu_graph();
    int dims[8];
    EXPECT_EQ(tengine_tensor_get_declared_shape(tengine_graph_get_output(graph, 0), dims, 8), -1);
    EXPECT_TRUE(answered_with(TENGINE_ENOENT));
    EXPECT_EQ(destroy_graph(graph), 0);
}

TEST_F(MetadataTest, ShapesThatDependOnData)
{
    struct Case
    {
        const char* name;
        std::string model;
        int expected;
    };
    const std::string x = make_value_info("x");
    const std::string shape = make_value_info("s", {}, 7);
    const std::string y = make_value_info("y", {"a", "b"}, 7);
    const Case cases[] = {
        {"Relu", make_model({make_node("Relu", {"x"}, "y", "n")}, {x}, make_value_info("y")), 0},
        {"NonZero", make_model({make_node("NonZero", {"x"}, "y", "n")}, {x}, y), 1},
        {"Reshape",
         make_model({make_node("Expand", {"x", "s"}, "y", "n")}, {x, shape},
                    make_value_info("y", {"a", "b", "c", "d"})),
         1},
        {"Shape of NonZero",
         make_model({make_node("NonZero", {"x"}, "z", "n"), make_node("Shape", {"z"}, "y", "m")},
                    {x}, make_value_info("y", {}, 7)),
         1},
    };
    for (const Case& a_case : cases) {
        SCOPED_TRACE(a_case.name);
        const graph_t graph = load(a_case.model);
        const tensor_t y_tensor = tengine_graph_get_output(graph, 0);
        EXPECT_EQ(tengine_tensor_has_data_shape(y_tensor), -1);
        EXPECT_TRUE(failed_with(TENGINE_ESTATE));
        ASSERT_EQ(prerun_graph(graph), 0) << get_tengine_error();
        EXPECT_EQ(tengine_tensor_has_data_shape(y_tensor), a_case.expected);
        if (std::string(a_case.name) == "NonZero") {
            ASSERT_TRUE(write_floats(tengine_graph_get_input(graph, 0), {1, 0, 3, 4}));
            ASSERT_EQ(run_graph(graph, 1), 0) << get_tengine_error();
            EXPECT_EQ(tengine_tensor_has_data_shape(y_tensor), 1) << "a run does not fix it";
        }
        EXPECT_EQ(tengine_tensor_has_data_shape(tengine_graph_get_input(graph, 0)), -1);
        EXPECT_TRUE(failed_with(TENGINE_EINVAL));
        EXPECT_EQ(postrun_graph(graph), 0);
        EXPECT_EQ(tengine_graph_place(graph, {1, TENGINE_CLUSTER_ALL, TENGINE_MODE_FP32, 0}), 0);
        EXPECT_EQ(tengine_tensor_has_data_shape(y_tensor), a_case.expected);
        EXPECT_EQ(destroy_graph(graph), 0);
    }
}

}  // namespace
}  // namespace tengine
