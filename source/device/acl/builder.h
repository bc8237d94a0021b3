// SPDX-License-Identifier: Apache-2.0
// Declares the ACL functions of one node, for two purposes: to ask ACL whether it supports them
// (inspect) and to create them (pre_run). operator_table.h has the function that declares each
// operator.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "device/acl/plan.h"

namespace tengine::acl {

using Tensors = std::vector<const ITensor*>;
using arm_compute::ActivationLayerInfo;

class Builder
{
  public:
    // `activation`: a following node that may be computed with this one, or NULL.
    Builder(const node& node, const Settings& settings, const struct node* activation, Plan* plan,
            ir_verdict_t* verdict)
        : of_(node), settings_(settings), activation_(activation), plan_(*plan), verdict_(verdict)
    {
    }

    const node& of() const { return of_; }
    const Settings& settings() const { return settings_; }
    const tensor* source(int index) const { return get_ir_node_input(&of_, index); }
    const tensor* target(int index = 0) const { return get_ir_node_output(&of_, index); }
    bool is_constant(int index) const;
    // Whether the shapes are valid before input() and output() check them. False, and the node is
    // refused, when a tensor has more dimensions than ACL supports, or a computed one no elements.
    bool check_shapes();

    // Inputs and outputs as ACL tensors in the graph's shapes and plain types. Never NULL: a tensor
    // that ACL does not support is refused, and add() then returns false.
    ITensor* input(int index);
    ITensor* output(int index = 0);
    // The same elements in the shape, type and scale of `as`. Another shape costs a copy of a
    // computed tensor, another type or scale of the same size costs nothing.
    ITensor* input(int index, const TensorInfo& as);
    ITensor* output(int index, const TensorInfo& as);
    // A constant input from byte `offset` on; refused when it is computed.
    ITensor* constant(int index, const TensorInfo& as, size_t offset = 0);
    // Constants and tensors that belong to the node.
    ITensor* constant(const TensorInfo& info, std::vector<uint8_t> bytes);
    ITensor* constant(const std::vector<float>& values, DataType type = DataType::F32);
    ITensor* temporary(const TensorInfo& info);

    // The activation after the node, for a function that can do it; disabled without one. Then
    // output() is that of the activation. To be called before output().
    ActivationLayerInfo take_activation();

    // Adds a function: configure() with these arguments, where ITensor* stand for tensors and
    // Tensors for lists of them, validate() with their infos. False, and the node is refused with
    // ACL's message, when ACL does not support it.
    template <class Function, class... Arguments>
    bool add(Arguments&&... arguments)
    {
        if (refused_) return false;
        if (!is_valid<Function>(arguments...)) return false;
        plan_.add<Function>(std::forward<Arguments>(arguments)...);
        return true;
    }

    // Always false.
    bool refuse(int code, const char* attribute, const char* value, const char* format, ...)
        TENGINE_PRINTF(5, 6);
    // Refuses a parameter with a value that ACL does not support.
    bool refuse_value(const char* attribute, int64_t value, const char* accepted);
    bool require_constant(int index, const char* what);
    bool took_activation() const { return took_activation_; }

    // Writes outputs that were requested in another shape. False when the node is refused.
    bool finish();

  private:
    struct Copy
    {
        ITensor* from;
        ITensor* to;
    };

    static ITensorInfo* info_of(ITensor* tensor) { return tensor ? tensor->info() : nullptr; }
    static const ITensorInfo* info_of(const ITensor* tensor)
    {
        return tensor ? tensor->info() : nullptr;
    }
    static std::vector<const ITensorInfo*> info_of(const Tensors& tensors);
    template <class Other>
    static const Other& info_of(const Other& other)
    {
        return other;
    }

    // Some functions throw where others return a status.
    template <class Function, class... Arguments>
    bool is_valid(const Arguments&... arguments)
    {
        try {
            const arm_compute::Status status = Function::validate(info_of(arguments)...);
            return status || refuse_by(typeid(Function).name(), status.error_description());
        } catch (const std::runtime_error& failure) {
            return refuse_by(typeid(Function).name(), failure.what());
        }
    }

    bool check_rank(const tensor& tensor);
    bool can_have(const tensor* tensor);
    ITensor* nothing();
    ITensor* view(const tensor& of, const TensorInfo& as, bool writes);
    const tensor* written(int index) const;
    bool refuse_by(const char* function, const std::string& reason);

    const node& of_;
    const Settings& settings_;
    const struct node* activation_;
    bool took_activation_ = false;
    Plan& plan_;
    ir_verdict_t* verdict_;
    bool refused_ = false;
    std::vector<Copy> copies_;
};

}  // namespace tengine::acl
