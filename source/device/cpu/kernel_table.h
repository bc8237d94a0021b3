// SPDX-License-Identifier: Apache-2.0
// Kernels of the CPU device. Files in kernel/ (fast) and reference/ (plain) each export one
// KernelTable; CMake finds them and generates the list. implementations.cc has the order in which
// the kernels of an operator are asked; the first that accepts, and is expected to pay, is used.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <type_traits>

#include "device/cpu/kernel_context.h"
#include "registry/selection.h"

namespace tengine::cpu {

struct Kernel
{
    const char* op;    // ONNX operator, or "com.microsoft.QGemm"
    const char* name;  // "conv.f32.im2col", "reference": in implementations.cc
    // The supported types, shapes and parameters. Null: all that pass the operator's shape
    // inference.
    bool (*accepts)(const node& node);
    // Computes all outputs. 0 or an error; its arguments are valid.
    int (*run)(KernelContext& context);
    // (optional) Called once at pre_run: state, packing, scratch size.
    int (*prepare)(KernelContext& context) = nullptr;
    // Output 0 may use the memory of this input, which has the same size and is read element by
    // element; -1: never.
    int in_place_input = -1;
    // (optional) The same for any output, if it depends on the node; called after prepare.
    int (*find_in_place)(const KernelContext& context, int output) = nullptr;
    Layout layout = Layout::kPlanar;  // that of all its tensors of rank four
    bool fuses = false;               // supports KernelContext::fusion
    bool scales = false;              // and Fusion::scale
    bool leads = false;  // its steps have this layout, independently of the previous steps
    // A constant input that may begin at any address, since only prepare() reads it, to pack it
    // (packed_problem.h), or since its bytes are copied. -1: none.
    int unaligned_input = -1;
    // In NHWC, input 0 (for Concat: each) and output 0 may be channels of a larger tensor, with the
    // distances of KernelContext::pixel_steps.
    bool takes_steps = false;
    // Whether the kernel is expected to be the fastest for a node that it accepts; else the
    // following ones are asked, unless kernels are timed (plan/timing.h). Null: always.
    bool (*pays)(const node& node) = nullptr;
    bool looks_up = false;  // supports Fusion::table
    // (optional) The bytes of weights that a run reads, if they are packed in another size than
    // that of the constants. For plan/micro_batch.cc.
    int64_t (*count_weights)(const node& node) = nullptr;
};

struct KernelTable
{
    const Kernel* rows;
    size_t row_num;
};

// Whether the operator is part of the build (TENGINE_OPERATORS).
constexpr bool is_selected(std::string_view op)
{
#ifdef TENGINE_SELECTED_OPERATORS
    for (const std::string_view selected : {TENGINE_SELECTED_OPERATORS})
        if (selected == op) return true;
    return false;
#else
    return !op.empty();
#endif
}

// Whether the build leaves the kernel out (TENGINE_OMITTED_KERNELS): the next ones of the list in
// implementations.cc compute its nodes, in the end the reference.
constexpr bool is_omitted(std::string_view kernel)
{
#ifdef TENGINE_OMITTED_KERNEL_NAMES
    for (const std::string_view omitted : {TENGINE_OMITTED_KERNEL_NAMES})
        if (omitted == kernel) return true;
#endif
    return kernel.empty();
}

// Whether a row of a table is part of the build: its operator is, and if it is a kernel, it is not
// left out.
template <class Row>
constexpr bool is_built(const Row& row)
{
    return is_selected(row.op);
}
constexpr bool is_built(const Kernel& kernel)
{
    return is_selected(kernel.op) && !is_omitted(kernel.name);
}

// The rows that are part of the build. The others, and their functions, are not linked.
template <const auto& rows>
struct SelectedRows
{
    using Row = std::remove_cv_t<std::remove_reference_t<decltype(rows[0])>>;

    static constexpr size_t count()
    {
        size_t number = 0;
        for (const Row& row : rows)
            number += is_built(row);
        return number;
    }
    static constexpr auto pick()
    {
        std::array<Row, count()> picked = {};
        size_t number = 0;
        for (const Row& row : rows)
            if (is_built(row)) picked[number++] = row;
        return picked;
    }
    static constexpr auto list = pick();
};

// Returns the table of a file, conv.cc: make_table<conv_rows>(), with `constexpr Kernel
// conv_rows[]`.
template <const auto& rows>
constexpr KernelTable make_table()
{
    return {SelectedRows<rows>::list.data(), SelectedRows<rows>::list.size()};
}

// Generated from the files of kernel/ and reference/.
extern const KernelTable* const kernel_tables[];
extern const int kernel_table_num;

}  // namespace tengine::cpu
