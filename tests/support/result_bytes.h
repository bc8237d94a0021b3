// SPDX-License-Identifier: Apache-2.0
// The results of a graph after a run.
#pragma once

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tengine/c_api.h"
#include "tengine/graph.h"

namespace tengine::test {

// The bytes of each output.
inline std::vector<std::string> read_results(graph_t graph)
{
    std::vector<std::string> results;
    for (int i = 0; i < tengine_graph_get_output_number(graph); ++i) {
        tensor_t output = tengine_graph_get_output(graph, i);
        results.emplace_back(static_cast<size_t>(get_tensor_buffer_size(output)), '\0');
        EXPECT_EQ(
            get_tensor_data(output, results.back().data(), static_cast<int>(results.back().size())),
            0);
    }
    return results;
}

}  // namespace tengine::test
