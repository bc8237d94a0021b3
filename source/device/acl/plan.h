// SPDX-License-Identifier: Apache-2.0
// The device ACL: it offers the functions of the Arm Compute Library to the core, and has no
// kernels of its own.
//
// A part as pre_run makes it: ACL functions in the order of its nodes, and their ACL tensors.
// builder.h translates nodes to functions. The same plan without configured functions serves to ask
// ACL what it supports.
#pragma once

#include <map>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "device/acl/convert.h"
#include "device/acl/memory.h"
#include "device/acl/settings.h"
#include "graph/graph_pool.h"
#include "tengine/device.h"

namespace tengine::acl {

// A tensor's bytes with another type or another scale, in the same shape. Both have the same
// padding when memory is allocated.
class Alias final : public ITensor
{
  public:
    Alias(const TensorInfo& info, ITensor* base) : info_(info), base_(base) {}

    ITensorInfo* info() const override { return &info_; }
    ITensorInfo* info() override { return &info_; }
    uint8_t* buffer() const override { return base_->buffer(); }

  private:
    mutable TensorInfo info_;
    ITensor* base_;
};

class Plan
{
  public:
    // A plan for questions: tensors have no memory, and no function is configured.
    Plan() = default;
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;

    // TENGINE_EOPERATOR when ACL refuses a node, with its message.
    static int create(const subgraph& part, const Settings& settings,
                      std::unique_ptr<Plan>* out_plan);
    // The part is that of create().
    int run(const subgraph& part);
    // Time of each node in the last run, in ns; -1 if it is not known.
    void copy_times(int64_t* out_ns) const;
    // Bytes of tensors between functions, of functions during their run, and of copies of boundary
    // tensors.
    size_t arena_bytes() const { return memory_.bytes() + boundary_bytes_; }
    // Other bytes of functions, mostly rearranged weights. ACL does not report them, so this is the
    // heap's growth in create(); other threads use the heap as well.
    size_t compiled_bytes() const { return compiled_bytes_; }

    // ---- for the builder ----

    // A tensor that a node computes or that is an input of the part.
    ITensor* value(const tensor& of);
    // The same bytes with the type and the scale of `as`, whose shape is the tensor's.
    ITensor* alias(const tensor& of, const TensorInfo& as);
    // Bytes of a constant from `offset` on. Equal requests give the same tensor.
    ITensor* constant(const tensor& of, const TensorInfo& as, size_t offset);
    // A constant that the builder has computed.
    ITensor* constant(const TensorInfo& info, std::vector<uint8_t> bytes);
    // A tensor inside the node that is being built.
    ITensor* temporary(const TensorInfo& info);

    // Makes and configures a function; nothing in a plan for questions.
    template <class Function, class... Arguments>
    void add(Arguments&&... arguments)
    {
        if (!building_) return;
        auto function = make<Function>();
        function->configure(std::forward<Arguments>(arguments)...);
        steps_.push_back({node_, std::move(function)});
    }

  private:
    enum class Role
    {
        kInput,
        kOutput,
        kInside
    };
    struct Value
    {
        Role role = Role::kInside;
        const tensor* host = nullptr;
        arm_compute::Tensor memory;
        std::vector<std::unique_ptr<Alias>> aliases;
        bool copied = false;       // a boundary tensor whose rows have padding
        void* imported = nullptr;  // the host's memory, for a boundary tensor without
        bool alive = false;
    };
    struct Constant
    {
        const void* data = nullptr;
        TensorInfo wanted;  // as requested, without padding
        std::vector<uint8_t> bytes;
        arm_compute::Tensor memory;
        int uses = 0;
        bool copied = false;
    };
    struct Step
    {
        int node;
        std::unique_ptr<arm_compute::IFunction> function;
    };

    // Without IWeightsManager, which identifies rearranged weights by their size alone
    // (docs/acl.md).
    template <class Function>
    std::unique_ptr<Function> make()
    {
        using Manager = std::shared_ptr<arm_compute::IMemoryManager>;
        if constexpr (std::is_constructible_v<Function, Manager>)
            return std::make_unique<Function>(memory_.inside_functions());
        else
            return std::make_unique<Function>();
    }

    Value& find(const tensor& of);
    void find_last_uses(const subgraph& part);
    int build(const subgraph& part, const Settings& settings);
    int build_node(const node& node, const Settings& settings);
    const node* find_activation(const node& node, const Settings& settings);
    void end_lives(const node& node);
    void end_life(Value& value);
    void place();
    void place_boundary(Value& value);
    void place_constant(Constant& constant);
    void prepare();
    void count_compiled(int64_t heap_before);
    void import_boundaries();
    static int run_step(const subgraph& part, const Step& step);
    int run_steps(const subgraph& part);
    int run_profiled(const subgraph& part);

    bool building_ = false;
    GraphPool pool_;
    PartMemory memory_;
    size_t boundary_bytes_ = 0;
    size_t compiled_bytes_ = 0;
    std::map<int, std::unique_ptr<Value>> values_;  // by tensor
    std::map<int, Role> roles_;
    std::map<int, int> last_uses_;  // node positions, by tensor
    std::vector<std::unique_ptr<Constant>> constants_;
    std::vector<std::unique_ptr<arm_compute::Tensor>> temporaries_;
    size_t ended_temporaries_ = 0;
    int node_ = 0;             // position that is being built
    std::vector<bool> fused_;  // nodes that are fused with the previous one
    std::vector<Step> steps_;
    std::vector<int64_t> times_;  // by position, with run_options.profile
};

}  // namespace tengine::acl
