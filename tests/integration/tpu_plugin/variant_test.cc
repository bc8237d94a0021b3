// SPDX-License-Identifier: Apache-2.0
// One compiled file for the CPU, the TPU, and the TPU as a vendor's: each process takes its own
// variant, and computes the bytes that the CPU computes from the ONNX model.
#include <gmock/gmock.h>
#include <string>

#include "tengine/inspect.h"
#include "tengine/placement.h"
#include "vendor.h"

namespace tengine::tpu {
namespace {

class VariantFileTest : public VendorTest
{
  protected:
    // Adds a variant for the device to the file.
    static void keep(const std::string& file, const char* device, const std::string& description,
                     OptionValues options = {})
    {
        options.emplace_back("model.keep_parts", "1");
        options.emplace_back("model.keep_variant", description);
        const graph_t graph = prepare(file, device, options);
        ASSERT_EQ(save_graph(graph, "tengine", file.c_str()), 0) << get_tengine_error();
        destroy_graph(graph);
    }

    // The variants that were and were not taken, with the reasons.
    static std::string list_variants(graph_t graph)
    {
        std::string text;
        tengine_variant variant;
        for (int i = 0; i < tengine_graph_get_variant_number(graph); ++i) {
            EXPECT_EQ(tengine_graph_get_variant(graph, i, &variant, sizeof variant), 0);
            text += std::string(variant.name) + ": " + variant.reason + "\n";
        }
        return text;
    }

    // Where the parts that are not the CPU's come from, 1 (TENGINE_PART_FROM_MODEL) each.
    static std::string list_origins(graph_t graph, const char* device)
    {
        std::string text;
        tengine_subgraph part;
        for (int i = 0; tengine_graph_get_subgraph(graph, i, &part) == 0; ++i) {
            int origin = -1;
            EXPECT_EQ(tengine_graph_get_subgraph_origin(graph, i, &origin), 0);
            if (std::string(part.device) == device) text += std::to_string(origin);
        }
        take_logged_failures();
        return text;
    }

    std::string make_file()
    {
        const std::string file = save_model("tengine");
        keep(file, kPluginDevice, "name=npu,chip=scale32", {{"TPU_PLUGIN.soc", "scale32"}});
        keep(file, "TPU", "name=tpu,chip=edge", {{"TPU.config", "edge"}});
        keep(file, "CPU", "name=cpu");
        return file;
    }
};

TEST_F(VariantFileTest, EachProcessTakesItsOwn)
{
    ASSERT_EQ(tengine_register_compiler(&compiler_), 0) << tengine_error_message();
    const std::string file = make_file();
    ASSERT_EQ(tengine_unregister_compiler(&compiler_), 0) << tengine_error_message();
    graph_t graph = prepare(save_model("onnx"), "CPU");
    const Bytes wanted = run(graph);
    destroy_graph(graph);

    graph = prepare(file, "CPU");
    EXPECT_EQ(run(graph), wanted);
    EXPECT_EQ(list_variants(graph),
              "npu: there is no device TPU_PLUGIN\n"
              "tpu: device TPU is not in the context\n"
              "cpu: the best one that fits\n");
    destroy_graph(graph);

    graph = prepare(file, "TPU");
    EXPECT_EQ(run(graph), wanted);
    EXPECT_EQ(list_variants(graph),
              "npu: there is no device TPU_PLUGIN\n"
              "tpu: the best one that fits\n"
              "cpu: it fits, variant 'tpu' comes first\n");
    EXPECT_EQ(list_origins(graph, "TPU"), "11");
    destroy_graph(graph);

    // As on a board: the dispatch alone, and the file names the machine.
    ASSERT_EQ(tengine_register_dispatch(&dispatch_), 0) << tengine_error_message();
    graph = prepare(file, kPluginDevice);
    EXPECT_EQ(run(graph), wanted);
    EXPECT_EQ(list_variants(graph),
              "npu: the best one that fits\n"
              "tpu: device TPU is not in the context\n"
              "cpu: it fits, variant 'npu' comes first\n");
    EXPECT_EQ(list_origins(graph, kPluginDevice), "11");
    destroy_graph(graph);
    graph = prepare(file, kPluginDevice, {{"TPU_PLUGIN.soc", "edge"}});
    EXPECT_EQ(run(graph), wanted);
    EXPECT_THAT(list_variants(graph),
                testing::HasSubstr("npu: option TPU_PLUGIN.soc: scale32, the program has edge\n"));
    destroy_graph(graph);
    ASSERT_EQ(tengine_unregister_dispatch(&dispatch_), 0) << tengine_error_message();
}

// A folder of compiled parts has the parts of a variant, too.
TEST_F(VariantFileTest, TheFolderKeepsWhatTheFileLacks)
{
    ASSERT_EQ(tengine_register_compiler(&compiler_), 0) << tengine_error_message();
    ASSERT_EQ(tengine_register_dispatch(&dispatch_), 0) << tengine_error_message();
    const std::string file = make_file();
    const OptionValues options = {{"cache.dir", path("cache")}, {"TPU_PLUGIN.soc", "edge"}};
    for (const char* wanted : {"00", "22"}) {
        const graph_t graph = prepare(file, kPluginDevice, options);
        EXPECT_EQ(list_origins(graph, kPluginDevice), wanted);
        destroy_graph(graph);
    }
    const graph_t graph = prepare(file, kPluginDevice, {{"cache.dir", path("cache")}});
    EXPECT_EQ(list_origins(graph, kPluginDevice), "11");
    destroy_graph(graph);
    ASSERT_EQ(tengine_unregister_dispatch(&dispatch_), 0) << tengine_error_message();
    ASSERT_EQ(tengine_unregister_compiler(&compiler_), 0) << tengine_error_message();
}

}  // namespace
}  // namespace tengine::tpu
