// SPDX-License-Identifier: Apache-2.0
// The contract is in decoder.h.
#include "decoder.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "tengine/inspect.h"
#include "tensor_file/failure.h"

namespace tengine::tools {
namespace {

// Inputs and outputs of GroupQueryAttention.
enum
{
    kPastKey = 3,
    kPastValue = 4,
    kLastKey = 5,
    kTotal = 6,
    kCos = 7,
    kSin = 8,
    kPresentKey = 1,
    kPresentValue = 2
};

bool is_attention(node_t node)
{
    return std::strcmp(get_node_op(node), "GroupQueryAttention") == 0 &&
           std::strcmp(tengine_node_get_domain(node), "com.microsoft") == 0;
}

bool is_output(graph_t graph, tensor_t tensor)
{
    for (int i = 0; i < tengine_graph_get_output_number(graph); ++i)
        if (tengine_graph_get_output(graph, i) == tensor) return true;
    return false;
}

tensor_t input_of(node_t node, int index)
{
    return index < get_node_input_number(node) ? get_node_input_tensor(node, index) : nullptr;
}

// Whether the node gathers rows of this input, one for each token.
bool is_table(node_t node, int index)
{
    if (std::strcmp(get_node_op(node), "Gather") == 0) return index == 0;
    return is_attention(node) && (index == kCos || index == kSin);
}

bool is_row_number(tensor_t tensor)
{
    for (int i = 0; i < tengine_tensor_get_consumer_number(tensor); ++i) {
        const node_t node = tengine_tensor_get_consumer(tensor, i);
        if (std::strcmp(get_node_op(node), "Gather") == 0 && input_of(node, 1) == tensor)
            return true;
    }
    return false;
}

std::string quoted(tensor_t tensor)
{
    return "'" + std::string(get_tensor_name(tensor)) + "'";
}

}  // namespace

Decoder::Decoder(Model* model, const std::string& path) : model_(model), path_(path)
{
    const graph_t graph = model->graph();
    for (int i = 0; i < get_graph_node_num(graph); ++i) {
        const node_t node = get_graph_node_by_idx(graph, i);
        if (is_attention(node)) find_attention(node);
    }
    if (caches_.empty()) fail("it has no GroupQueryAttention, whose cache would be fed");
    find_tokens();
    find_logits();
    for (Cache& cache : caches_) {
        cache.bytes.resize(static_cast<size_t>(tengine_tensor_get_buffer_size(cache.past)));
        lend(cache.past, cache.bytes.data(), cache.bytes.size());
    }
}

void Decoder::fail(const std::string& what) const
{
    throw Failure(path_ + ": --tokens needs a decoder with a cache: " + what);
}

bool Decoder::is_input(tensor_t tensor) const
{
    for (int i = 0; i < tengine_graph_get_input_number(model_->graph()); ++i)
        if (tengine_graph_get_input(model_->graph(), i) == tensor) return true;
    return false;
}

// The size of the cache, which is equal in all nodes.
tensor_t Decoder::length_input(node_t node, int index) const
{
    const tensor_t length = input_of(node, index);
    const tensor_t found = index == kTotal ? total_input_ : last_;
    const std::string subject =
        std::string(index == kTotal ? "total_sequence_length" : "seqlens_k") + " of node '" +
        get_node_name(node) + "'";
    if (!length || !is_input(length)) fail(subject + " is not an input of the model");
    if (found && found != length) fail(subject + " is not " + quoted(found) + ", as of others");
    return length;
}

void Decoder::add_cache(node_t node, int input, int output)
{
    const std::string subject =
        std::string(input == kPastKey ? "key" : "value") + " of node '" + get_node_name(node) + "'";
    Cache cache = {input_of(node, input), get_node_output_tensor(node, output), {}};
    if (!cache.past || !is_input(cache.past))
        fail("past_" + subject + " is not an input of the model");
    if (!cache.present || !is_output(model_->graph(), cache.present))
        fail("present_" + subject + " is not an output of the model");
    const DeclaredShape shape = declared_shape(cache.past);
    if (is_free(shape) || shape.dims.size() != 4 || shape.dims[0] != 1)
        fail("the shape of " + quoted(cache.past) + " is " + declared_text(shape) +
             ", expected four numbers, of which the first is 1");
    if (set_tensor_shape(cache.past, shape.dims.data(), 4) < 0) fail_api(path_);
    room_ = caches_.empty() ? shape.dims[2] : std::min(room_, shape.dims[2]);
    caches_.push_back(std::move(cache));
}

void Decoder::find_attention(node_t node)
{
    last_ = length_input(node, kLastKey);
    total_input_ = length_input(node, kTotal);
    add_cache(node, kPastKey, kPresentKey);
    add_cache(node, kPastValue, kPresentValue);
}

void Decoder::find_tokens()
{
    const graph_t graph = model_->graph();
    for (int i = 0; i < tengine_graph_get_input_number(graph); ++i) {
        const tensor_t input = tengine_graph_get_input(graph, i);
        if (input == last_ || input == total_input_ ||
            std::any_of(caches_.begin(), caches_.end(),
                        [&](const Cache& cache) { return cache.past == input; }))
            continue;
        if (tokens_ || !is_row_number(input) || get_tensor_data_type(input) != TENGINE_DT_INT64)
            fail("its input " + quoted(input) +
                 " is neither the cache, nor a length, nor the only one of int64 tokens that a "
                 "Gather takes rows for");
        tokens_ = input;
    }
    if (!tokens_) fail("it has no input of tokens");
    const int one[] = {1};
    for (const tensor_t length : {last_, total_input_})
        if (set_tensor_shape(length, one, declared_shape(length).dims.empty() ? 0 : 1) < 0)
            fail_api(path_);
    lend(last_, &last_key_, sizeof last_key_);
    lend(total_input_, &total_, sizeof total_);
}

void Decoder::find_logits()
{
    const graph_t graph = model_->graph();
    for (int i = 0; i < tengine_graph_get_output_number(graph); ++i) {
        const tensor_t output = tengine_graph_get_output(graph, i);
        if (std::any_of(caches_.begin(), caches_.end(),
                        [&](const Cache& cache) { return cache.present == output; }))
            continue;
        if (logits_) fail("it has more outputs than logits and cache: " + quoted(output));
        logits_ = output;
    }
    if (!logits_) fail("it has no output of logits");
}

void Decoder::lend(tensor_t tensor, void* data, size_t bytes) const
{
    if (set_tensor_buffer(tensor, data, static_cast<int>(bytes)) < 0) fail_api(path_);
}

int64_t Decoder::cache_bytes() const
{
    int64_t bytes = 0;
    for (const Cache& cache : caches_)
        bytes += static_cast<int64_t>(cache.bytes.size());
    return bytes;
}

int64_t Decoder::weight_bytes() const
{
    std::set<tensor_t> counted;
    int64_t bytes = 0;
    for (int i = 0; i < get_graph_node_num(model_->graph()); ++i) {
        const node_t node = get_graph_node_by_idx(model_->graph(), i);
        for (int k = 0; k < get_node_input_number(node); ++k) {
            const tensor_t tensor = input_of(node, k);
            if (!tensor || tengine_tensor_get_type(tensor) != TENSOR_TYPE_CONST ||
                !counted.insert(tensor).second)
                continue;
            const std::vector<int> shape = describe_tensor(tensor).shape;
            const int rows = is_table(node, k) && !shape.empty() ? std::max(shape[0], 1) : 1;
            bytes += tengine_tensor_get_buffer_size(tensor) / rows;
        }
    }
    return bytes;
}

void Decoder::prepare(size_t tokens, int threads)
{
    const int shape[] = {1, static_cast<int>(tokens)};
    ids_.resize(tokens);
    if (set_tensor_shape(tokens_, shape, 2) < 0) fail_api(path_);
    lend(tokens_, ids_.data(), ids_.size() * sizeof ids_[0]);
    model_->prepare(threads);
    // In place, a run writes only the rows of the new tokens.
    for (Cache& cache : caches_)
        lend(cache.present, cache.bytes.data(), cache.bytes.size());
}

int Decoder::vocabulary() const
{
    const std::vector<int> shape = describe_tensor(logits_).shape;
    if (shape.empty() || shape.back() < 1 || get_tensor_data_type(logits_) != TENGINE_DT_FP32)
        fail("its output " + quoted(logits_) + " is not one of fp32 logits");
    return shape.back();
}

int Decoder::read(const std::vector<int>& tokens, int threads)
{
    prepare(tokens.size(), threads);
    std::copy(tokens.begin(), tokens.end(), ids_.begin());
    total_ += static_cast<int32_t>(tokens.size());
    last_key_ = total_ - 1;
    model_->run();
    const int count = vocabulary();
    const auto* logits = static_cast<const float*>(get_tensor_buffer(logits_));
    const int64_t all =
        tengine_tensor_get_buffer_size(logits_) / static_cast<int64_t>(sizeof *logits);
    if (!logits || all < count) fail_api(path_);
    const float* row = logits + (all - count);
    return static_cast<int>(std::max_element(row, row + count) - row);
}

}  // namespace tengine::tools
