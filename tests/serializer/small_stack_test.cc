// SPDX-License-Identifier: Apache-2.0
// Nested graphs and functions of a model use the heap, not the stack of the loading thread.
#include <pthread.h>

#include <algorithm>
#include <functional>

#include "serializer/onnx_builder.h"

namespace tengine::test {
namespace {

// Returns the bytes of the thread's stack that the work has written.
size_t measure_stack(const std::function<void()>& work)
{
    constexpr uint8_t kUnused = 0xa5;
    std::vector<uint8_t> stack(size_t{1} << 20, kUnused);
    pthread_attr_t attributes;
    pthread_t thread;
    const auto start = [](void* argument) -> void* {
        (*static_cast<const std::function<void()>*>(argument))();
        return nullptr;
    };
    EXPECT_EQ(pthread_attr_init(&attributes), 0);
    EXPECT_EQ(pthread_attr_setstack(&attributes, stack.data(), stack.size()), 0);
    EXPECT_EQ(
        pthread_create(&thread, &attributes, start, const_cast<std::function<void()>*>(&work)), 0);
    EXPECT_EQ(pthread_join(thread, nullptr), 0);
    pthread_attr_destroy(&attributes);
    const auto used =
        std::find_if(stack.begin(), stack.end(), [](uint8_t byte) { return byte != kUnused; });
    return static_cast<size_t>(stack.end() - used);
}

void connect(onnx::NodeProto* node, const std::string& op, const char* input, const char* output)
{
    node->set_op_type(op);
    if (op != "Abs") node->set_domain("local");
    node->add_input(input);
    node->add_output(output);
}

// y = F0(x), each function calls the next, and the last is Abs.
OnnxBuilder nested_model(int functions)
{
    OnnxBuilder builder;
    builder.model.set_ir_version(8);
    auto* local = builder.model.add_opset_import();
    local->set_domain("local");
    local->set_version(1);
    builder.add_input("x", {2, 3});
    connect(builder.graph().add_node(), "F0", "x", "y");
    builder.add_output("y");
    for (int i = 0; i < functions; ++i) {
        onnx::FunctionProto* function = builder.model.add_functions();
        function->set_domain("local");
        function->set_name("F" + std::to_string(i));
        function->add_input("a");
        function->add_output("b");
        for (const auto& import : builder.model.opset_import())
            *function->add_opset_import() = import;
        connect(function->add_node(), i + 1 == functions ? "Abs" : "F" + std::to_string(i + 1), "a",
                "b");
    }
    return builder;
}

using SmallStackTest = SerializerTest;

TEST_F(SmallStackTest, FunctionsThatCallEachOtherTakeNoMore)
{
    std::vector<size_t> used;
    for (const int functions : {1, 1, 63}) {
        const std::string bytes = nested_model(functions).encode();
        used.push_back(measure_stack([&] {
            const Loaded loaded(bytes);
            EXPECT_EQ(loaded.status, 0) << loaded.message;
            EXPECT_FALSE(loaded.node_names().empty());
        }));
    }
    EXPECT_LE(used[2], used[1] + 8192);
}

}  // namespace
}  // namespace tengine::test
