// SPDX-License-Identifier: Apache-2.0
// See random_case.h.
#include "random_case.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <sstream>

#include "base/text.h"
#include "device/cpu/shared/types.h"
#include "graph/graph.h"
#include "operator/param.h"
#include "optimizer/optimizer.h"
#include "random_sample.h"
#include "scheduler/scheduler.h"
#include "support/emulated.h"

namespace tengine::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinite = std::numeric_limits<float>::infinity();
constexpr int kLeast = std::numeric_limits<int>::min();
constexpr int kMost = std::numeric_limits<int>::max();
constexpr int64_t kLeastLong = std::numeric_limits<int64_t>::min();
constexpr int64_t kMostLong = std::numeric_limits<int64_t>::max();

std::vector<std::string> split_text(const std::string& text, char separator)
{
    std::vector<std::string> parts;
    std::stringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);)
        parts.push_back(part);
    return parts;
}

std::vector<int64_t> read_integers(const std::string& text)
{
    std::vector<int64_t> values;
    for (const std::string& part : split_text(text, ','))
        values.push_back(std::atoll(part.c_str()));
    return values;
}

void set_text(node* target, const std::string& name, const std::string& value)
{
    const op_field_t* field = find_op_field(target->op.method, name.c_str(), target->op.version);
    ASSERT_NE(field, nullptr) << name;
    const std::vector<int64_t> integers = read_integers(value);
    std::vector<float> floats;
    for (const std::string& part : split_text(value, ','))
        floats.push_back(static_cast<float>(std::atof(part.c_str())));
    int status = TENGINE_EINVAL;
    if (field->kind == OP_FIELD_STRING)
        status = set_node_text(target, field->name, value.c_str(), value.size());
    if (field->kind == OP_FIELD_INT) status = set_node_int(target, field->name, integers[0]);
    if (field->kind == OP_FIELD_FLOAT) status = set_node_float(target, field->name, floats[0]);
    if (field->kind == OP_FIELD_INTS)
        status =
            set_node_ints(target, field->name, integers.data(), static_cast<int>(integers.size()));
    if (field->kind == OP_FIELD_FLOATS)
        status =
            set_node_floats(target, field->name, floats.data(), static_cast<int>(floats.size()));
    ASSERT_EQ(status, TENGINE_OK) << tengine_error_message();
}

// Sizes are drawn from a few small ones, so that shapes often match.
constexpr int kHidden = 2;

void print_shape(std::ostream& out, const tensor* tensor)
{
    out << ' ' << get_data_type_name(tensor->data_type)
        << (tensor->tensor_type == TENSOR_TYPE_CONST ? "!" : "") << '[';
    for (int i = 0; i < tensor->dim_num; ++i)
        out << (i ? "," : "") << tensor->dims[i];
    out << ']';
    if (tensor->quant_param_num > 0) out << 'q' << tensor->quant_param_num;
}

double draw_number(Dice& dice, bool is_wild)
{
    if (is_wild && dice.is_one_in(40))
        return dice.pick<double>({kNan, kInfinite, -kInfinite, 1e38, -1e38, 1e-40, 2147483648.0});
    return static_cast<double>(dice.between(-4000, 4000)) / 1000;
}

// Converts any number to type T, even out of its range.
template <class T>
T convert(double value)
{
    if constexpr (cpu::is_float<T>) {
        return static_cast<T>(static_cast<float>(value));
    } else {
        if (!(value >= -2147483648.0 && value < 2147483648.0)) return std::numeric_limits<T>::max();
        return static_cast<T>(static_cast<int64_t>(value));
    }
}

bool is_small(const std::vector<int>& dims)
{
    double elements = 1;
    for (const int dim : dims)
        elements *= dim;
    return elements < 65536;
}

// Halves the largest dimensions until the tensor fits the address space, zeros not counted: larger
// tensors cannot be made. This matters on 32-bit machines.
std::vector<int> make_addressable(std::vector<int> dims)
{
    const auto count_bytes = [&dims] {
        double bytes = sizeof(double);  // of the widest element
        for (const int dim : dims)
            bytes *= std::max(dim, 1);
        return bytes;
    };
    while (count_bytes() > static_cast<double>(PTRDIFF_MAX))
        *std::max_element(dims.begin(), dims.end()) /= 2;
    return dims;
}

int get_storage_type(int data_type)
{
    return data_type == TENGINE_DT_BOOL ? TENGINE_DT_UINT8 : data_type;
}

uint64_t read_environment(const char* name, uint64_t otherwise)
{
    const char* value = std::getenv(name);
    return value ? std::strtoull(value, nullptr, 10) : otherwise;
}

}  // namespace

RandomCase::RandomCase(const method& row, uint64_t seed, bool is_wild)
    : row_(row), seed_(seed), is_wild_(is_wild), dice_(seed * 2654435761u + 99)
{
    const std::string domain = row.domain && *row.domain ? std::string(row.domain) + '.' : "";
    base_ = any_shape();
    node_ = builder_.add(domain + row.name, {}, {"subject"});
    const std::vector<const Sample*> samples = find_samples(row);
    if (!samples.empty() && !dice_.is_one_in(4)) {
        const Sample& sample = *dice_.pick(samples);
        add_sample(sample.inputs, sample.fields);
    } else {
        add_inputs();
        set_fields(static_cast<int>(dice_.between(1, 6)));
    }
    add_outputs();
}

// Starts from the sample, with few changes.
void RandomCase::add_sample(const std::string& inputs, const std::string& fields)
{
    is_faithful_ = true;
    const int rarely = static_cast<int>(dice_.between(2, 20));
    for (std::string text : split_text(inputs, ' ')) {
        if (text == "-") {
            connect('-', nullptr);
            continue;
        }
        if (text[0] == '=') {
            add_list(read_integers(text.substr(1)), rarely);
            continue;
        }
        const bool is_integer = text[0] == 'i';
        if (is_integer) text.erase(0, 1);
        std::vector<int> dims;
        for (const int64_t dim : read_integers(text))
            dims.push_back(static_cast<int>(dim));
        if (dice_.is_one_in(rarely * 2)) dims = any_shape();
        if (!dims.empty() && dice_.is_one_in(rarely))
            dims[static_cast<size_t>(dice_.between(0, static_cast<int64_t>(dims.size()) - 1))] =
                static_cast<int>(dice_.between(0, 7));
        connect(is_integer ? 'k' : 'x', &dims);
        if (node_->input_num == 1) base_ = dims;
    }
    if (dice_.is_one_in(rarely)) add_input('s');
    for (const std::string& field : split_text(fields, ' ')) {
        const size_t sign = field.find('=');
        set_text(node_, field.substr(0, sign), field.substr(sign + 1));
    }
    set_fields(rarely);
}

void RandomCase::add_outputs()
{
    const int most = row_.max_output < 0 ? 4 : std::min(row_.max_output, 8);
    const bool is_any = is_wild_ && dice_.is_one_in(8);
    const int64_t number =
        is_any ? dice_.between(1, 5) : dice_.between(std::min(row_.min_output, most), most);
    std::vector<int32_t> outputs = {node_->output_tensors[0]};
    for (int i = 1; i < number; ++i) {
        tensor* output = create_ir_tensor(builder_.get(), nullptr, TENGINE_DT_FP32);
        EXPECT_EQ(set_ir_node_output_tensor(node_, i, output), TENGINE_OK);
        outputs.push_back(output->index);
    }
    EXPECT_EQ(set_ir_graph_output_tensor(builder_.get(), outputs.data(),
                                         static_cast<int>(outputs.size())),
              TENGINE_OK);
}

// ---- inputs ----

void RandomCase::add_inputs()
{
    const std::string kinds = find_input_kinds(row_.name);
    const int most = row_.max_input < 0 ? 4 : std::min(row_.max_input, 8);
    const bool is_any = is_wild_ && dice_.is_one_in(10);
    const int64_t number =
        is_any ? dice_.between(0, 8) : dice_.between(std::min(row_.min_input, most), most);
    for (size_t i = 0; i < static_cast<size_t>(number); ++i) {
        char kind = kinds[std::min(i, kinds.size() - 1)];
        if (static_cast<int>(i) >= row_.min_input && dice_.is_one_in(4)) kind = '-';
        if (is_wild_ && dice_.is_one_in(20)) kind = dice_.pick<char>({'-', 'x', 'i', 'c'});
        add_input(kind);
    }
}

void RandomCase::add_input(char kind)
{
    const std::vector<int> dims =
        node_->input_num == 0 || kind == '-' ? base_ : shape_of_kind(kind);
    connect(kind, kind == '-' ? nullptr : &dims);
}

// A constant list of integers.
void RandomCase::add_list(std::vector<int64_t> values, int rarely)
{
    for (int64_t& value : values)
        if (dice_.is_one_in(rarely * 2)) value = any_int();
    const std::string name = "x" + std::to_string(node_->input_num);
    tensor* made = builder_.ints(name, values);
    EXPECT_EQ(set_ir_node_input_tensor(node_, node_->input_num, made), TENGINE_OK);
}

// The node's next input, absent without `dims`.
void RandomCase::connect(char kind, const std::vector<int>* dims)
{
    const int place = node_->input_num;
    tensor* made = nullptr;
    if (dims) {
        const std::string name = "x" + std::to_string(place);
        const bool is_meant = place == 0 ? dice_.is_one_in(12) : !dice_.is_one_in(4);
        const bool is_constant = is_meant && is_small(*dims);
        const int type = any_type(kind);
        const std::vector<int> possible = make_addressable(*dims);
        made = is_constant ? builder_.constant<uint8_t>(name, possible, {}, type)
                           : builder_.input(name, possible, type);
        if (is_wild_ && row_.tengine) quantize(made);
        if (is_constant) fill_tensor(made, seed_ + static_cast<uint64_t>(place), is_wild_);
    }
    EXPECT_EQ(set_ir_node_input_tensor(node_, place, made), TENGINE_OK);
}

std::vector<int> RandomCase::any_shape()
{
    if (!dice_.is_one_in(5)) {
        const int64_t rank = dice_.is_one_in(3) ? dice_.between(2, 5) : 4;
        std::vector<int> dims;
        for (int64_t i = 0; i < rank; ++i)
            dims.push_back(static_cast<int>(i == 0 ? dice_.between(1, 2) : dice_.between(1, 6)));
        return dims;
    }
    if (is_wild_ && dice_.is_one_in(8))
        return dice_.pick<std::vector<int>>(
            {{0, kMost, 1}, {1, 0, kMost, 4096}, {0, 1, 65536, 65536}, {kMost, 0}});
    std::vector<int> dims(static_cast<size_t>(dice_.between(0, 6)));
    for (int& dim : dims)
        dim = static_cast<int>(dice_.between(0, 7) * dice_.between(1, 7) / 7);
    return dims;
}

std::vector<int> RandomCase::shape_of_weight(char kind)
{
    const int channels = base_.size() > 1 ? base_[1] : 1;
    const int last = base_.empty() ? 1 : base_.back();
    const int gates = std::strcmp(row_.name, "LSTM") == 0  ? 4
                      : std::strcmp(row_.name, "GRU") == 0 ? 3
                                                           : 0;
    if (kind == 'h') return {1, channels, kHidden};
    if (gates > 0) return {1, gates * kHidden, kind == 'r' ? kHidden : last};
    const auto small = [this] { return static_cast<int>(dice_.between(1, 3)); };
    std::vector<int> dims = {small(), dice_.is_one_in(3) ? 1 : channels};
    if (kind == 'v') dims = {channels, small()};
    for (size_t i = 2; i < base_.size(); ++i)
        dims.push_back(small());
    return dims;
}

std::vector<int> RandomCase::shape_of_kind(char kind)
{
    if (dice_.is_one_in(is_wild_ ? 8 : 16)) return any_shape();
    const int channels = base_.size() > 1 ? base_[1] : 1;
    const int last = base_.empty() ? 1 : base_.back();
    const auto small = [this] { return static_cast<int>(dice_.between(1, 3)); };
    switch (kind) {
        case 'c':
            return dice_.is_one_in(8) ? std::vector<int>{channels, 1, 1}
                                      : std::vector<int>{channels};
        case 'o':
            return {small()};
        case 'l':
            return {last};
        case 'w':
        case 'v':
        case 'r':
        case 'h':
            return shape_of_weight(kind);
        case 'm':
            return {last, small()};
        case 'n':
            return {small(), last};
        case 'i':
        case 'f':
            return {static_cast<int>(dice_.is_one_in(2) ? static_cast<int64_t>(base_.size())
                                                        : dice_.between(0, 5))};
        case 'b':
            if (row_.name[0] == 'L') return {1, 8 * kHidden};
            if (row_.name[0] == 'G') return {1, 6 * kHidden};
            return base_;
        case 'k':
            return {1};
        case 'e':
            return {};
        case 'p':
            return dice_.is_one_in(2) ? base_ : std::vector<int>{small()};
        default:
            break;
    }
    if (dice_.is_one_in(3)) return base_;
    // Makes a shape that broadcasts: some dimensions are 1, leading ones are left out.
    std::vector<int> dims = base_;
    for (int& dim : dims)
        if (dice_.is_one_in(3)) dim = 1;
    if (dice_.is_one_in(3) && !dims.empty())
        dims.erase(dims.begin(),
                   dims.begin() + dice_.between(0, static_cast<int64_t>(dims.size())));
    return dims;
}

int RandomCase::any_type(char kind)
{
    if (is_wild_ && dice_.is_one_in(is_faithful_ ? 20 : 4))
        return dice_.pick<int>({TENGINE_DT_FP32, TENGINE_DT_FP16, TENGINE_DT_INT8, TENGINE_DT_UINT8,
                                TENGINE_DT_INT32, TENGINE_DT_INT16, TENGINE_DT_INT64,
                                TENGINE_DT_BOOL});
    const bool is_recurrent = row_.name[0] == 'L' || row_.name[0] == 'G';
    if (kind == 'b' && !is_recurrent) return TENGINE_DT_BOOL;
    if (kind == 'i' || kind == 'k' || kind == 'p')
        return row_.tengine ? TENGINE_DT_INT32 : TENGINE_DT_INT64;
    return TENGINE_DT_FP32;
}

// Sets one scale, or several; valid numbers or not.
void RandomCase::quantize(tensor* target)
{
    const bool is_integer = target->data_type == TENGINE_DT_INT8 ||
                            target->data_type == TENGINE_DT_UINT8 ||
                            target->data_type == TENGINE_DT_INT32;
    if (!is_integer ? !dice_.is_one_in(60) : dice_.is_one_in(3)) return;
    const int channels = target->dim_num > 0 ? std::min(target->dims[0], 4096) : 1;
    const auto number = static_cast<size_t>(
        dice_.is_one_in(2)
            ? 1
            : std::max<int64_t>(1, dice_.is_one_in(3) ? dice_.between(1, 5) : channels));
    std::vector<float> scales(number);
    std::vector<int> zero_points(number);
    for (size_t i = 0; i < number; ++i) {
        scales[i] = dice_.is_one_in(20) ? dice_.pick<float>({0, -1, kNan, kInfinite, 1e38f, 1e-45f})
                                        : 0.03125f;
        zero_points[i] = dice_.is_one_in(20) ? dice_.pick<int>({kLeast, kMost, -1, 300})
                         : is_integer        ? 3
                                             : 0;
        if (target->data_type == TENGINE_DT_INT32 && !dice_.is_one_in(20)) zero_points[i] = 0;
    }
    EXPECT_EQ(set_ir_tensor_quantization_parameter(target, scales.data(), zero_points.data(),
                                                   static_cast<int>(number)),
              TENGINE_OK);
}

// ---- attributes ----

int64_t RandomCase::any_int()
{
    if (is_wild_ && dice_.is_one_in(3))
        return dice_.pick<int64_t>({kLeast, kLeast + 1, -65537, -65536, -4096, -100, -1, 0, 1, 100,
                                    255, 4096, 65535, 65537, 1 << 30, kMost - 1, kMost});
    return dice_.is_one_in(8) ? dice_.between(-6, 12) : dice_.between(-1, 4);
}

double RandomCase::any_float()
{
    if (is_wild_ && dice_.is_one_in(4))
        return dice_.pick<double>(
            {kNan, kInfinite, -kInfinite, 1e38, -1e38, 3e38, 1e-45, -0.0, 1e9, -1e9, 65536.0});
    return dice_.is_one_in(3) ? static_cast<double>(dice_.between(-4, 4))
                              : static_cast<double>(dice_.between(-3000, 3000)) / 1000;
}

// Sets one field in `rarely`.
void RandomCase::set_fields(int rarely)
{
    const bool is_recurrent = !row_.tengine && row_.max_input >= 6 && row_.max_input <= 8;
    if (is_recurrent && !dice_.is_one_in(8) &&
        find_op_field(&row_, "hidden_size", row_.version) != nullptr)
        set_node_int(node_, "hidden_size", kHidden);
    for (int i = 0; i < row_.field_num; ++i)
        if (row_.fields[i].required || dice_.is_one_in(rarely)) set_field(row_.fields[i]);
}

// A value out of the field's range is refused, and the field is then unchanged.
void RandomCase::set_field(const op_field_t& field)
{
    const int64_t number = is_wild_ && dice_.is_one_in(10)
                               ? dice_.pick<int64_t>({0, 7, 8, 9, 16, 17, 1000, 5000})
                               : dice_.between(0, 6);
    const int short_num = static_cast<int>(number);
    if (field.kind == OP_FIELD_INT) {
        const bool is_small = field.maximum > field.minimum && field.maximum < 64;
        set_node_int(node_, field.name,
                     is_small && !dice_.is_one_in(4)
                         ? dice_.between(static_cast<int64_t>(field.minimum),
                                         static_cast<int64_t>(field.maximum))
                         : any_int());
    } else if (field.kind == OP_FIELD_FLOAT) {
        set_node_float(node_, field.name, static_cast<float>(any_float()));
    } else if (field.kind == OP_FIELD_INTS) {
        std::vector<int64_t> values(static_cast<size_t>(number));
        for (int64_t& value : values)
            value = is_wild_ && dice_.is_one_in(60) ? dice_.pick<int64_t>({kLeastLong, kMostLong})
                                                    : any_int();
        set_node_ints(node_, field.name, values.data(), short_num);
    } else if (field.kind == OP_FIELD_FLOATS) {
        std::vector<float> values(static_cast<size_t>(number));
        for (float& value : values)
            value = static_cast<float>(any_float());
        set_node_floats(node_, field.name, values.data(), short_num);
    } else if (field.kind == OP_FIELD_STRING) {
        std::vector<std::string> choices = {""};
        std::stringstream list(field.choices ? field.choices : "NOTSET|bias|x");
        for (std::string choice; std::getline(list, choice, '|');)
            choices.push_back(choice);
        const std::string text = dice_.pick(choices);
        set_node_text(node_, field.name, text.c_str(), text.size());
    }
}

std::string RandomCase::describe() const
{
    std::ostringstream out;
    out << row_.name << ' ' << seed_ << ':';
    for (int i = 0; i < node_->input_num; ++i)
        if (const tensor* input = get_ir_node_input(node_, i))
            print_shape(out, input);
        else
            out << " -";
    out << " > " << node_->output_num << ' ';
    text_t params = {};
    print_node_params(node_, &params);
    if (params.data) out << std::string(params.data).substr(0, 600);
    free_text(&params);
    return out.str();
}

// ---- running ----

void fill_tensor(tensor* target, uint64_t seed, bool is_wild)
{
    Dice dice(seed * 7919 + 1);
    cpu::dispatch_type(cpu::NumberTypes{}, get_storage_type(target->data_type), [&](auto tag) {
        using T = typename decltype(tag)::type;
        for (int64_t i = 0; i < target->elem_num; ++i) {
            const double value = draw_number(dice, is_wild);
            static_cast<T*>(target->data)[i] =
                target->data_type == TENGINE_DT_BOOL ? convert<T>(value > 0) : convert<T>(value);
        }
        return TENGINE_OK;
    });
}

std::vector<double> read_tensor(const tensor* from)
{
    std::vector<double> values;
    cpu::dispatch_type(cpu::NumberTypes{}, get_storage_type(from->data_type), [&](auto tag) {
        const auto* data = static_cast<const typename decltype(tag)::type*>(from->data);
        for (int64_t i = 0; i < from->elem_num; ++i)
            values.push_back(static_cast<double>(data[i]));
        return TENGINE_OK;
    });
    return values;
}

int run_once(graph* source, uint64_t seed, bool is_wild)
{
    ir_run_options_t options = {};
    options.num_thread = 1;
    const int status = prerun_ir_graph(source, &options);
    if (status < 0) return status;
    for (int i = 0; i < source->input_tensor_num; ++i) {
        tensor* input = source->tensor_list[source->input_tensors[i]];
        if (!input->data) {
            EXPECT_EQ(allocate_ir_tensor(input), TENGINE_OK);
        }
        fill_tensor(input, seed + 100 + static_cast<uint64_t>(i), is_wild);
    }
    return run_ir_graph(source, 1);
}

// ---- the environment ----

CaseRange get_case_range(int usual)
{
    const uint64_t first = read_environment("TENGINE_RANDOM_SEED", 1);
    const auto number = static_cast<uint64_t>(kEmulated ? usual / 4 : usual);
    return {first, first + read_environment("TENGINE_RANDOM_CASES", number)};
}

bool is_operator_wanted(const std::string& name)
{
    const char* wanted = std::getenv("TENGINE_RANDOM_OP");
    return !wanted || name == wanted;
}

void log_case(const RandomCase& subject)
{
    static const bool is_logging = std::getenv("TENGINE_RANDOM_LOG") != nullptr;
    if (is_logging) std::fprintf(stderr, "%s\n", subject.describe().c_str());
}

}  // namespace tengine::test
