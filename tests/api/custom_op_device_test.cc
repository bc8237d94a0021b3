// SPDX-License-Identifier: Apache-2.0
// Custom operators that are registered for a device that hosts them.
#include "op_model.h"
#include "tengine/device.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

// A device that computes custom operators and nothing else.
class HostDevice
{
  public:
    HostDevice(const char* domain, const char* op) : op_(get_op_type(domain, op))
    {
        init_ir_device(&device_, "NPU");
        device_.interface = &interface_;
        device_.allocator = &allocator_;
        device_.privacy = this;
        interface_.init = [](device*) { return 0; };
        interface_.release_device = [](device*) { return 0; };
        interface_.pre_run = pre_run;
        interface_.run = run;
        interface_.post_run = post_run;
        allocator_.describe = describe;
        EXPECT_EQ(register_device(&device_), 0) << get_tengine_error();
    }
    ~HostDevice() { unregister_device(&device_); }
    HostDevice(const HostDevice&) = delete;
    HostDevice& operator=(const HostDevice&) = delete;

  private:
    struct alignas(64) Scratch
    {
        char bytes[4096];
    };

    static int describe(device* device, vector* allowed, vector*, vector* precision)
    {
        const int op = static_cast<const HostDevice*>(device->privacy)->op_;
        const int type = TENGINE_DT_FP32;
        return push_vector_data(allowed, &op) < 0 || push_vector_data(precision, &type) < 0 ? -1
                                                                                            : 0;
    }

    template <class Visit>
    static int for_nodes(const subgraph* part, Visit visit)
    {
        for (int i = 0; i < part->node_num; ++i) {
            node* node = get_ir_graph_node(part->graph, part->node_list[i]);
            if (const int status = visit(*node); status < 0) return status;
        }
        return 0;
    }

    // Boundary tensors have memory already.
    static int allocate_inside(node& node)
    {
        for (int i = 0; i < node.output_num; ++i) {
            tensor* output = get_ir_node_output(&node, i);
            if (output && !output->data && allocate_ir_tensor(output) < 0) return -1;
        }
        return 0;
    }

    static int pre_run(device*, subgraph* part, void*)
    {
        part->device_graph = new Scratch;
        const int status = for_nodes(part, [](node& node) {
            uint64_t bytes = 99;
            const int prepared = tengine_op_prepare_node(&node, &bytes);
            EXPECT_LE(bytes, sizeof(Scratch));
            return prepared < 0 ? prepared : allocate_inside(node);
        });
        if (status < 0) post_run(nullptr, part);
        return status;
    }

    static int run(device*, subgraph* part)
    {
        return for_nodes(part, [part](node& node) {
            return tengine_op_run_node(&node, part->device_graph, sizeof(Scratch));
        });
    }

    static int post_run(device*, subgraph* part)
    {
        delete static_cast<Scratch*>(part->device_graph);
        part->device_graph = nullptr;
        return 0;
    }

    const int op_;
    device device_;
    struct interface interface_ = {};
    struct allocator allocator_ = {};
};

class CustomOpDeviceTest : public CustomOpTest
{
  protected:
    CustomOpDeviceTest()
    {
        npu_op.invoke = [](void*, tengine_op_context_t* context) {
            EXPECT_EQ(shift(context), 0);
            *static_cast<float*>(tengine_op_tensor_mutable_data(tengine_op_output(context, 0))) =
                100;
            return 0;
        };
    }

    testing::AssertionResult register_for(const char* device, ShiftOp* shift,
                                          context_t context = nullptr)
    {
        tengine_op_t* op = create_shift_op(shift);
        const bool is_registered =
            tengine_op_set_device(op, device) == 0 && tengine_op_register(context, op) == 0;
        tengine_op_destroy(op);
        return is_registered ? testing::AssertionSuccess()
                             : testing::AssertionFailure() << get_tengine_error();
    }

    graph_t load_for_npu(const OpModel& model = {})
    {
        const context_t context = create_context("npu", 0);
        EXPECT_EQ(add_context_device(context, "NPU"), 0) << get_tengine_error();
        const graph_t graph = load(model, context);
        destroy_context(context);
        return graph;
    }

    static std::string device_of_shift(graph_t graph)
    {
        tengine_execution_node node;
        EXPECT_EQ(tengine_graph_get_execution_node(graph, 0, &node), 0) << get_tengine_error();
        return node.device;
    }

    ShiftOp& npu_op = add_op();
    const std::vector<float> x_ = {1, 2, 3, 4};
    const std::vector<float> by_cpu_ = {1.5, 2.5, 3.5, 4.5};
    const std::vector<float> by_npu_ = {100, 2.5, 3.5, 4.5};
};

TEST_F(CustomOpDeviceTest, EachDeviceHasItsOwn)
{
    const HostDevice npu("tengine", "Custom");
    ASSERT_TRUE(register_for("NPU", &npu_op));
    ASSERT_TRUE(register_shift_op(&shift_op));
    graph_t graph = load_for_npu();
    ASSERT_TRUE(prepare_and_run(graph, x_)) << get_tengine_error();
    EXPECT_EQ(result(graph), by_npu_);
    EXPECT_EQ(device_of_shift(graph), "NPU");
    // The CPU's operator infers types and sizes, on any device.
    EXPECT_EQ(shift_op.calls, (std::vector<std::string>{"init", "prepare"}));
    EXPECT_EQ(npu_op.calls, (std::vector<std::string>{"init", "prepare", "invoke"}));
    EXPECT_EQ(destroy_graph(graph), 0);
    EXPECT_EQ(shift_op.states + npu_op.states, 0);

    graph = load_for_npu();
    ASSERT_EQ(tengine_graph_set_affinity(graph, "shift", "CPU"), 0) << get_tengine_error();
    ASSERT_TRUE(prepare_and_run(graph, x_)) << get_tengine_error();
    EXPECT_EQ(result(graph), by_cpu_);
    EXPECT_EQ(destroy_graph(graph), 0);

    graph = load();  // the device is not in the context
    ASSERT_TRUE(prepare_and_run(graph, x_)) << get_tengine_error();
    EXPECT_EQ(result(graph), by_cpu_);
    EXPECT_EQ(device_of_shift(graph), "CPU");
    EXPECT_EQ(destroy_graph(graph), 0);
}

TEST_F(CustomOpDeviceTest, TheDeviceMayBeTheOnlyOne)
{
    const HostDevice npu("tengine", "Custom");
    ASSERT_TRUE(register_for("NPU", &npu_op));
    const graph_t graph = load_for_npu();
    for (const int size : {4, 2, 4}) {
        ASSERT_EQ(set_tensor_shape(get_graph_tensor(graph, "x"), &size, 1), 0);
        ASSERT_TRUE(prepare_and_run(graph, std::vector<float>(static_cast<size_t>(size), 2)))
            << get_tengine_error();
        std::vector<float> expected(static_cast<size_t>(size), 2.5f);
        expected[0] = 100;
        EXPECT_EQ(result(graph), expected);
    }
    // No other device can take its place.
    npu_op.failing = "invoke";
    npu_op.code = TENGINE_ELIMIT;
    npu_op.sentence = "the chip is too hot";
    EXPECT_EQ(run_graph(graph, 1), -1);
    const std::string sentence = last_error();
    EXPECT_NE(sentence.find("the chip is too hot; then: com.example.Shift is implemented for NPU, "
                            "not for CPU"),
              std::string::npos)
        << sentence;
    EXPECT_EQ(destroy_graph(graph), 0);
}

TEST_F(CustomOpDeviceTest, DevicesThatAreNotThereAreNamed)
{
    ASSERT_TRUE(register_for("NPU", &npu_op));
    const graph_t graph = load();
    EXPECT_EQ(prerun_graph(graph), -1);
    EXPECT_EQ(get_tengine_errno(), TENGINE_EOPERATOR);
    EXPECT_EQ(last_error(),
              "no device supports 1 node(s): Custom 'shift': com.example.Shift is "
              "implemented for NPU (not registered), not for CPU");
    EXPECT_EQ(npu_op.count("invoke"), 0);
}

TEST_F(CustomOpDeviceTest, TheCpuTakesOverWhenTheDeviceFails)
{
    const HostDevice npu("tengine", "Custom");
    ASSERT_TRUE(register_for("NPU", &npu_op));
    ASSERT_TRUE(register_shift_op(&shift_op));
    npu_op.failing = "invoke";
    npu_op.code = TENGINE_ELIMIT;
    graph_t graph = load_for_npu();
    ASSERT_TRUE(prepare_and_run(graph, x_)) << get_tengine_error();
    EXPECT_EQ(result(graph), by_cpu_);
    EXPECT_EQ(destroy_graph(graph), 0);

    npu_op.failing = "prepare";
    graph = load_for_npu();
    ASSERT_TRUE(prepare_and_run(graph, x_)) << get_tengine_error();
    EXPECT_EQ(device_of_shift(graph), "CPU");
    EXPECT_EQ(destroy_graph(graph), 0);
}

// Types and sizes are fixed when a device prepares.
TEST_F(CustomOpDeviceTest, ADeviceMustComeToTheSameSizes)
{
    const HostDevice npu("tengine", "Custom");
    npu_op.prepare = [](void*, tengine_op_context_t* context) {
        const int size = 3;
        return tengine_op_resize_output(context, 0, &size, 1);
    };
    ASSERT_TRUE(register_for("NPU", &npu_op));
    ASSERT_TRUE(register_shift_op(&shift_op));
    const graph_t graph = load_for_npu();
    ASSERT_TRUE(prepare_and_run(graph, x_)) << get_tengine_error();
    EXPECT_EQ(device_of_shift(graph), "CPU");
    EXPECT_EQ(result(graph), by_cpu_);
    EXPECT_EQ(destroy_graph(graph), 0);
}

// A device hosts operators if it lists "tengine.Custom"; this one has Sigmoid.
TEST_F(CustomOpDeviceTest, ADeviceNeedNotHostThem)
{
    const HostDevice npu("", "Sigmoid");
    ASSERT_TRUE(register_for("NPU", &npu_op));
    ASSERT_TRUE(register_shift_op(&shift_op));
    const graph_t graph = load_for_npu();
    ASSERT_TRUE(prepare_and_run(graph, x_)) << get_tengine_error();
    EXPECT_EQ(result(graph), by_cpu_);
    EXPECT_EQ(npu_op.count("invoke"), 0);
    EXPECT_EQ(destroy_graph(graph), 0);
}

// Operators of a node are initialised together or not at all: otherwise one would keep the results
// of the first attempt.
TEST_F(CustomOpDeviceTest, AFailedInitOfOneEndsTheOthers)
{
    const HostDevice npu("tengine", "Custom");
    ASSERT_TRUE(register_shift_op(&shift_op));
    ASSERT_TRUE(register_for("NPU", &npu_op));
    npu_op.failing = "init";
    npu_op.code = TENGINE_ELIMIT;
    const graph_t graph = load_for_npu();
    EXPECT_FALSE(prepare_and_run(graph, x_));
    EXPECT_EQ(last_error(),
              "com.example.Shift 'shift': init of custom operator "
              "'com.example.Shift' returned -61");
    EXPECT_EQ(shift_op.states, 0);
    npu_op.failing = "";
    ASSERT_TRUE(prepare_and_run(graph, x_)) << get_tengine_error();
    EXPECT_EQ(result(graph), by_npu_);
    EXPECT_EQ(destroy_graph(graph), 0);
}

// Graphs without the device keep the library's operator.
TEST_F(CustomOpDeviceTest, TheLibrarysOperatorsNeedOneForTheCpu)
{
    const HostDevice npu("tengine", "Custom");
    const auto register_tanh = [](const char* device, ShiftOp* shift) {
        tengine_op_t* op = create_shift_op(shift, "", "Tanh", 1, 28);
        EXPECT_EQ(tengine_op_set_device(op, device), 0);
        EXPECT_EQ(tengine_op_register(nullptr, op), 0) << get_tengine_error();
        tengine_op_destroy(op);
    };
    const OpModel tanh = {"", "Tanh", 13, {4}, false};
    register_tanh("NPU", &npu_op);
    for (const bool has_device : {false, true}) {
        const graph_t graph = has_device ? load_for_npu(tanh) : load(tanh);
        ASSERT_TRUE(prepare_and_run(graph, {0, 0, 0, 0})) << get_tengine_error();
        EXPECT_EQ(result(graph), (std::vector<float>{0, 0, 0, 0}));
        EXPECT_EQ(destroy_graph(graph), 0);
    }
    EXPECT_EQ(npu_op.states, 0);
    register_tanh("CPU", &shift_op);
    const graph_t graph = load_for_npu(tanh);
    ASSERT_TRUE(prepare_and_run(graph, {0, 0, 0, 0})) << get_tengine_error();
    EXPECT_EQ(result(graph), (std::vector<float>{100, 0.5, 0.5, 0.5}));
    EXPECT_EQ(destroy_graph(graph), 0);
}

TEST_F(CustomOpDeviceTest, VersionsConflictOnOneDeviceOnly)
{
    ShiftOp& third = add_op();
    ASSERT_TRUE(register_for("NPU", &npu_op));
    ASSERT_TRUE(register_shift_op(&shift_op));
    EXPECT_FALSE(register_for("NPU", &third));
    EXPECT_EQ(last_error(),
              "tengine_op_register: operator 'com.example.Shift' is registered "
              "already for versions 1 to 5 on NPU");
    EXPECT_FALSE(register_for("CPU", &third));
    EXPECT_EQ(last_error(),
              "tengine_op_register: operator 'com.example.Shift' is registered "
              "already for versions 1 to 5 on CPU");
    EXPECT_FALSE(register_for("", &third));
    EXPECT_EQ(last_error(), "tengine_op_set_device: device '': expected its name");
    EXPECT_TRUE(register_for("Second", &third)) << last_error();
}

TEST_F(CustomOpDeviceTest, OtherNodesAreRefused)
{
    uint64_t bytes = 0;
    EXPECT_EQ(tengine_op_prepare_node(nullptr, &bytes), TENGINE_EINVAL);
    EXPECT_EQ(tengine_op_run_node(nullptr, nullptr, 0), TENGINE_EINVAL);
    EXPECT_EQ(last_error(), "tengine_op_run_node: node is NULL");
}

}  // namespace
}  // namespace tengine
