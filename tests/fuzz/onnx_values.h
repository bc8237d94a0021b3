// SPDX-License-Identifier: Apache-2.0
// Draws values of attributes and constants, as a hostile file may have them, for the mutations of
// ONNX models.
#pragma once

#include <onnx/onnx.pb.h>
#include <random>
#include <string>
#include <vector>

#include "operator/registry.h"

namespace tengine::test {

class OnnxValues
{
  public:
    explicit OnnxValues(std::mt19937* engine) : engine_(*engine) {}

    int draw(int below)
    {
        return static_cast<int>(engine_() % static_cast<unsigned>(below < 1 ? 1 : below));
    }
    template <class List>
    int draw_from(const List& list)
    {
        return draw(static_cast<int>(list.size()));
    }
    // Returns an element of a message's list that is not empty.
    template <class List>
    auto* some_of(List* list)
    {
        return list->Mutable(draw(list->size()));
    }

    int64_t some_integer();
    float some_float();
    std::string some_word(const char* choices);
    std::string some_text();
    std::string new_name() { return "made" + std::to_string(engine_() % 100000); }
    const ir_method_t* some_operator();
    void fill_attribute(const op_field_t& field, ::onnx::AttributeProto* attribute);
    // Gives the constant few elements, so that extents that depend on them stay small.
    void fill_constant(::onnx::TensorProto* constant);

  private:
    void fill_typed(int type, int number, ::onnx::TensorProto* constant);

    std::mt19937& engine_;
};

}  // namespace tengine::test
