// SPDX-License-Identifier: Apache-2.0
#include "serializer/tmfile/tensors.h"

#include "base/alloc.h"
#include "base/containers.hpp"
#include "base/print_text.hpp"
#include "graph/graph.h"
#include "operator/plain_data.h"
#include "serializer/tmfile/layout.h"
#include "serializer/tmfile/names.h"
#include "serializer/tmfile/texts.h"
#include "tengine/log.h"

namespace tengine::tmfile {
namespace {

// Models without weights, for benchmarks, give only the sizes of constants. These take no memory
// until they are used; a larger total is a damaged file.
constexpr uint64_t kMaxMissingBytes = uint64_t{2} << 30;

class TensorReader
{
  public:
    explicit TensorReader(Reading& reading) : reading_(reading), file_(reading.file) {}

    int run();

  private:
    int add_tensor(uint32_t index);
    int set_role(struct tensor* tensor, const TensorRecord& record) const;
    int set_shape(struct tensor* tensor, const TensorRecord& record);
    int set_quantisation(struct tensor* tensor, const TensorRecord& record);
    int set_values(struct tensor* tensor, const TensorRecord& record);
    int set_texts(struct tensor* tensor, const BufferRecord& buffer, const String& what);
    int use_values(struct tensor* tensor, char* values);
    int add_missing_values();

    Reading& reading_;
    const FileView& file_;
    VectorView buffers_;
    Vector<TensorRecord> records_;
    Names names_;
    Vector<struct tensor*> missing_;  // constants without values
};

String label(const struct tensor* tensor)
{
    return print_text("tensor %s", quote(tensor->name).c_str());
}

int TensorReader::run()
{
    TENGINE_RETURN_IF_ERROR(file_.read_vector(reading_.subgraph.buffers, sizeof(uint32_t),
                                              "the list of buffers", &buffers_));
    TENGINE_RETURN_IF_ERROR(read_named_records(reading_, reading_.subgraph.tensors, "tensor",
                                               sizeof(struct tensor), &names_, &records_));
    for (uint32_t i = 0; i < records_.size(); ++i)
        TENGINE_RETURN_IF_ERROR(add_tensor(i));
    return add_missing_values();
}

int TensorReader::add_tensor(uint32_t index)
{
    const TensorRecord& record = records_[index];
    const String name = names_.choose(index, "tensor");
    TENGINE_RETURN_IF_ERROR(reading_.budget.charge(name.size() + 1));
    struct tensor* tensor = create_ir_tensor(reading_.graph, name.c_str(), record.data_type);
    if (!tensor) return last_error();
    TENGINE_RETURN_IF_ERROR(set_role(tensor, record));
    TENGINE_RETURN_IF_ERROR(set_shape(tensor, record));
    TENGINE_RETURN_IF_ERROR(set_quantisation(tensor, record));
    if (tensor->tensor_type != TENSOR_TYPE_CONST) return TENGINE_OK;
    // The bytes of a sequence contain offsets, so none are read from a file.
    if (tensor->data_type >= TENGINE_DT_SEQUENCE)
        return tengine_error_set(TENGINE_EDTYPE, "the constant %s has no data type of a tensor",
                                 label(tensor).c_str());
    return set_values(tensor, record);
}

int TensorReader::set_role(struct tensor* tensor, const TensorRecord& record) const
{
    if (record.type < TENSOR_TYPE_UNKNOWN || record.type > TENSOR_TYPE_DEP)
        return tengine_error_set(TENGINE_EFORMAT, "%s has type %d, expected 0 to 4",
                                 label(tensor).c_str(), record.type);
    tensor->tensor_type =
        static_cast<uint8_t>(record.type == TENSOR_TYPE_UNKNOWN ? TENSOR_TYPE_VAR : record.type);
    return TENGINE_OK;
}

int TensorReader::set_shape(struct tensor* tensor, const TensorRecord& record)
{
    if (record.dims == 0) return TENGINE_OK;
    VectorView list;
    TENGINE_RETURN_IF_ERROR(file_.read_vector(
        record.dims, sizeof(int32_t), print_text("the shape of %s", label(tensor).c_str()), &list));
    if (list.count() > MAX_SHAPE_DIM_NUM)
        return tengine_error_set(TENGINE_ERANGE, "%s has %u dimensions, expected 0 to %d",
                                 label(tensor).c_str(), list.count(), MAX_SHAPE_DIM_NUM);
    int dims[MAX_SHAPE_DIM_NUM];
    for (uint32_t i = 0; i < list.count(); ++i)
        dims[i] = list.get<int32_t>(i);
    if (reading_.has_nhwc_shapes() && list.count() == 4) dims_from_nhwc(dims);
    return set_ir_tensor_shape(tensor, dims, static_cast<int>(list.count()));
}

int TensorReader::set_quantisation(struct tensor* tensor, const TensorRecord& record)
{
    VectorView list;
    const String what = print_text("the quantisation of %s", label(tensor).c_str());
    TENGINE_RETURN_IF_ERROR(file_.read_vector(record.quantisation, sizeof(uint32_t), what, &list));
    if (list.count() == 0) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(reading_.budget.charge(uint64_t{list.count()} * 16));
    Vector<float> scales;
    Vector<int> zero_points;
    for (uint32_t i = 0; i < list.count(); ++i) {
        QuantRecord quant;
        TENGINE_RETURN_IF_ERROR(file_.read(list[i], what, &quant));
        scales.push_back(quant.scale);
        zero_points.push_back(quant.zero_point);
    }
    return set_ir_tensor_quantization_parameter(tensor, scales.data(), zero_points.data(),
                                                static_cast<int>(list.count()));
}

// The elements of an image in NHWC are permuted byte by byte.
int check_layout(const struct tensor* tensor, bool is_permuted)
{
    if (!is_permuted || get_data_type_bits(tensor->data_type) >= 8) return TENGINE_OK;
    return tengine_error_set(TENGINE_EFORMAT, "%s is an image in NHWC of %s, expected whole bytes",
                             label(tensor).c_str(), get_data_type_name(tensor->data_type));
}

// Constants without a shape are scalars and lists.
int shape_by_size(struct tensor* tensor, uint32_t size)
{
    const int number = static_cast<int>(size / tensor->elem_size);
    return set_ir_tensor_shape(tensor, &number, number == 1 ? 0 : 1);
}

int TensorReader::set_values(struct tensor* tensor, const TensorRecord& record)
{
    if (!reading_.image && record.buffer == kAbsentTensor) return TENGINE_OK;
    const String what = print_text("buffer %u of %s", record.buffer, label(tensor).c_str());
    if (record.buffer >= buffers_.count())
        return tengine_error_set(TENGINE_EFORMAT, "%s does not exist, the model has %u buffers",
                                 what.c_str(), buffers_.count());
    BufferRecord buffer;
    TENGINE_RETURN_IF_ERROR(file_.read(buffers_[record.buffer], what, &buffer));
    if (tensor->data_type == TENGINE_DT_STRING) return set_texts(tensor, buffer, what);
    if (!tensor->shape_set) TENGINE_RETURN_IF_ERROR(shape_by_size(tensor, buffer.size));
    if (!is_ir_tensor_shape_known(tensor) || get_ir_tensor_bytes(tensor) != buffer.size)
        return tengine_error_set(TENGINE_EFORMAT,
                                 "%s has %u bytes, expected %zu by its shape and type",
                                 what.c_str(), buffer.size, get_ir_tensor_bytes(tensor));
    if (buffer.data == 0 && reading_.image) {
        missing_.push_back(tensor);
        return TENGINE_OK;
    }
    const char* values = nullptr;
    TENGINE_RETURN_IF_ERROR(file_.find_bytes(buffer.data, buffer.size, what, &values));
    return use_values(tensor, const_cast<char*>(values));
}

// Each string has at least its length in the file, so a small file cannot make a large tensor.
int TensorReader::set_texts(struct tensor* tensor, const BufferRecord& buffer, const String& what)
{
    if (!IR_HAS_STRINGS) return refuse_texts(what);
    const auto number = static_cast<uint64_t>(tensor->elem_num);
    const bool is_permuted = reading_.has_nhwc_shapes() && tensor->dim_num == 4;
    if (!is_ir_tensor_shape_known(tensor) || is_permuted ||
        buffer.size / sizeof(uint32_t) < number || (buffer.data == 0 && number > 0))
        return tengine_error_set(
            TENGINE_EFORMAT, "%s has %u bytes, too few for %llu strings, or no shape", what.c_str(),
            buffer.size, static_cast<unsigned long long>(number));
    const char* bytes = nullptr;
    if (buffer.size > 0)
        TENGINE_RETURN_IF_ERROR(file_.find_bytes(buffer.data, buffer.size, what, &bytes));
    TENGINE_RETURN_IF_ERROR(reading_.budget.charge(get_ir_tensor_bytes(tensor)));
    TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(tensor));
    return decode_texts(reading_, bytes, buffer.size, number, what,
                        static_cast<const char**>(tensor->data));
}

int TensorReader::use_values(struct tensor* tensor, char* values)
{
    const bool is_permuted = reading_.has_nhwc_shapes() && tensor->dim_num == 4;
    TENGINE_RETURN_IF_ERROR(check_layout(tensor, is_permuted));
    const bool is_aligned = reinterpret_cast<uintptr_t>(values) % tensor->elem_size == 0;
    if (is_aligned && !is_permuted && is_plain_data(tensor)) {
        set_ir_tensor_data(tensor, values, false);
        return TENGINE_OK;
    }
    const size_t bytes = get_ir_tensor_bytes(tensor);
    TENGINE_RETURN_IF_ERROR(reading_.budget.charge(bytes));
    TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(tensor));
    if (is_permuted)
        values_from_nhwc(tensor, values, static_cast<char*>(tensor->data));
    else if (bytes > 0)
        std::memcpy(tensor->data, values, bytes);
    return TENGINE_OK;
}

// Each tensor has at least one byte of its own.
uint64_t missing_bytes(const struct tensor* tensor)
{
    return (uint64_t{get_ir_tensor_bytes(tensor)} / ALLOC_ALIGNMENT + 1) * ALLOC_ALIGNMENT;
}

int TensorReader::add_missing_values()
{
    if (missing_.empty()) return TENGINE_OK;
    uint64_t total = 0;
    for (const struct tensor* tensor : missing_)
        total += missing_bytes(tensor);
    if (total > kMaxMissingBytes)
        return tengine_error_set(TENGINE_ELIMIT,
                                 "%zu constants have no values and would take %llu bytes, more "
                                 "than 2 GiB",
                                 missing_.size(), static_cast<unsigned long long>(total));
    char* place = nullptr;
    TENGINE_RETURN_IF_ERROR(reading_.image->add_zeroes(static_cast<size_t>(total), &place));
    for (struct tensor* tensor : missing_) {
        set_ir_tensor_data(tensor, place, false);
        place += missing_bytes(tensor);
    }
    const String& path = reading_.image->path();
    TLOG_WARNING("%s has no values for %zu of its constants; they are set to zero",
                 path.empty() ? "a model in memory" : ("'" + path + "'").c_str(), missing_.size());
    return TENGINE_OK;
}

}  // namespace

int add_tensors(Reading& reading)
{
    return TensorReader(reading).run();
}

}  // namespace tengine::tmfile
