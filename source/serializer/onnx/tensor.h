// SPDX-License-Identifier: Apache-2.0
// TensorProto to values in memory. All checks precede allocations of the declared size: describe()
// first, then view(), or else room for `bytes` and read(). graph_import.cc and attribute.cc store
// the values in the IR.
#pragma once

#include <string>

#include "serializer/onnx/external_data.h"
#include "serializer/onnx/model_files.h"
#include "serializer/onnx/wire.h"
#include "tengine/ir.h"

namespace tengine {

// TENGINE_DT_* of an ONNX element type. TENGINE_EDTYPE; `owner` names the tensor in the message.
TENGINE_MUST_USE int convert_element_type(int onnx_type, const std::string& owner,
                                          int* out_data_type);

class TensorReader
{
  public:
    // `raw` is raw_data, which may lie outside the proto (see split_message). `owner` names the
    // tensor in messages. `file`, if any, holds `raw`. All but `owner` must outlive the reader.
    TensorReader(const ::onnx::TensorProto& proto, Bytes raw, std::string owner,
                 ExternalData* external, ModelFile* file = nullptr)
        : proto_(proto), raw_(raw), owner_(std::move(owner)), external_(external), file_(file)
    {
    }

    // Checks type, shape and that there are exactly as many values as the shape says.
    TENGINE_MUST_USE int describe();

    // The following are valid after describe().
    int data_type() const { return data_type_; }
    int dim_num() const { return proto_.dims_size(); }
    const int* dims() const { return dims_; }
    size_t bytes() const { return bytes_; }

    // The values in the mapped file, which stays mapped. NULL where they differ from those of
    // read(), where no file is mapped, or where they are not aligned to their elements, unless they
    // are a large matrix.
    char* view() const;
    // Writes bytes() bytes, dense and in the machine's byte order. Strings go to `graph`.
    TENGINE_MUST_USE int read(const struct graph& graph, void* out_values) const;

  private:
    TENGINE_MUST_USE int measure();
    TENGINE_MUST_USE int check_source() const;
    TENGINE_MUST_USE int check_strings() const;
    TENGINE_MUST_USE int read_strings(const struct graph& graph, const char** out_strings) const;
    // The number of values in the typed fields: elements of a few bits have a value for each byte.
    size_t value_number() const;
    bool takes_any_address() const;

    const ::onnx::TensorProto& proto_;
    Bytes raw_;
    std::string owner_;
    ExternalData* external_;
    ModelFile* file_;
    int data_type_ = 0;
    int dims_[MAX_SHAPE_DIM_NUM] = {};
    size_t elements_ = 0;
    size_t bytes_ = 0;
};

}  // namespace tengine
