// SPDX-License-Identifier: Apache-2.0
// Signals, rotations, losses, random numbers, and results whose shapes depend on values.
#include "cases/case.h"

namespace tengine::tools {
namespace {

Operand fed_values(std::vector<int> dims, std::vector<double> values, int data_type = kCaseType)
{
    Operand made = fed(std::move(dims));
    made.values = std::move(values);
    made.data_type = data_type;
    return made;
}

Operand indices(std::vector<int> dims, int number)
{
    Operand made = fed(std::move(dims));
    made.data_type = TENGINE_DT_INT64;
    made.low = 0;
    made.high = number - 1;
    return made;
}

Case& add(std::vector<Case>* cases, const char* op, std::vector<Operand> inputs, Types types,
          Types outputs = {kCaseType})
{
    Case made = {op, std::move(inputs)};
    made.types = std::move(types);
    made.outputs = std::move(outputs);
    cases->push_back(made);
    return cases->back();
}

void add_signals(std::vector<Case>* cases)
{
    const Types types = {TENGINE_DT_FP32, TENGINE_DT_FP64};
    for (const int length : {1, 16, 33})
        add(cases, "DFT", {fed({2, length, 1})}, types);
    add(cases, "DFT", {fed({2, 33, 2})}, types).ints = {{"inverse", 1}};
    add(cases, "STFT", {fed({1, 128, 1}), fed_values({}, {8}, TENGINE_DT_INT64), fed({16})}, types);
    for (const char* op : {"BlackmanWindow", "HammingWindow", "HannWindow"})
        for (const double size : {1, 17})
            add(cases, op, {fed_values({}, {size})}, {TENGINE_DT_INT64}, {TENGINE_DT_FP32});
    add(cases, "MelWeightMatrix",
        {fed_values({}, {8}), fed_values({}, {64}), fed_values({}, {8000}),
         fed_values({}, {0}, TENGINE_DT_FP32), fed_values({}, {4000}, TENGINE_DT_FP32)},
        {TENGINE_DT_INT64}, {TENGINE_DT_FP32});
}

// The integers of tflite-micro's front end for audio.
void add_front_end(std::vector<Case>* cases)
{
    const auto listed = [](int data_type, std::vector<double> values) {
        const int size = static_cast<int>(values.size());
        Operand made = fed_values({size}, std::move(values), data_type);
        made.is_constant = true;
        return made;
    };
    for (const int length : {64, 60})
        for (const bool inverse : {false, true})
            add(cases, inverse ? "tengine.SignalIrfft" : "tengine.SignalRfft",
                {fed({2, inverse ? length + 2 : length})}, {TENGINE_DT_INT16, TENGINE_DT_INT32})
                .ints = {{"fft_length", length}};
    add(cases, "tengine.SignalFftAutoScale", {fed({480})}, {TENGINE_DT_INT16},
        {kCaseType, TENGINE_DT_INT32});
    add(cases, "tengine.SignalFilterBank",
        {fed({6}), listed(TENGINE_DT_INT16, {2, -3, 4, 5}),
         listed(TENGINE_DT_INT16, {10, 20, 30, 40}), listed(TENGINE_DT_INT16, {1, 2, 4}),
         listed(TENGINE_DT_INT16, {0, 1, 3}), listed(TENGINE_DT_INT16, {1, 2, 1})},
        {TENGINE_DT_UINT32}, {TENGINE_DT_UINT64})
        .ints = {{"num_channels", 2}};
    add(cases, "tengine.SignalFilterBankLog", {fed({40})}, {TENGINE_DT_UINT32}, {TENGINE_DT_INT16})
        .ints = {{"output_scale", 1600}, {"input_correction_bits", 3}};
    add(cases, "tengine.SignalFilterBankSquareRoot",
        {fed({40}), fed_values({}, {1}, TENGINE_DT_INT32)}, {TENGINE_DT_UINT64},
        {TENGINE_DT_UINT32});
    add(cases, "tengine.SignalPCAN",
        {fed({40}), fed({40}), listed(TENGINE_DT_INT16, std::vector<double>(125, 3))},
        {TENGINE_DT_UINT32})
        .ints = {{"snr_shift", 6}};
}

void add_suppression(std::vector<Case>* cases)
{
    add(cases, "tengine.SoftNonMaxSuppression",
        {fed({50, 4}), fed({50}), fed_values({}, {10}, TENGINE_DT_INT32), fed_values({}, {0.8}),
         fed_values({}, {0.1}), fed_values({}, {0.5})},
        {TENGINE_DT_FP32}, {TENGINE_DT_INT32, TENGINE_DT_FP32, TENGINE_DT_INT32});
}

void add_rotations(std::vector<Case>* cases)
{
    for (const int interleaved : {0, 1})
        for (const int half : {1, 7, 32}) {
            const std::vector<int> heads_first = {2, 3, 5, 2 * half + half % 2};
            const std::vector<int> tokens_first = {2, 5, 3 * 2 * half};
            const Operand table = constant({9, half});
            add(cases, "RotaryEmbedding", {fed(tokens_first), table, table, indices({2, 5}, 9)},
                float_types())
                .ints = {{"interleaved", interleaved}, {"num_heads", 3}};
            add(cases, "RotaryEmbedding", {fed(heads_first), fed({2, 5, half}), fed({2, 5, half})},
                float_types())
                .ints = {{"interleaved", interleaved}, {"rotary_embedding_dim", 2 * half}};
            add(cases, "com.microsoft.RotaryEmbedding",
                {fed(tokens_first), indices({2, 5}, 9), table, table}, float_types())
                .ints = {{"interleaved", interleaved}};
            add(cases, "com.microsoft.RotaryEmbedding",
                {fed({2, 5, 4 * 2 * half}), int64_list({3}), table, table}, float_types())
                .ints = {{"interleaved", interleaved}};
        }
}

// Heads that are rotated whole and in part, with a cosine and a sine for each pair.
void add_rotated_heads(std::vector<Case>* cases)
{
    const auto add_heads = [&](int tokens, int half, int rest, int interleaved) {
        const Operand factors = fed({1, tokens, half});
        add(cases, "RotaryEmbedding", {fed({1, tokens, 3 * (2 * half + rest)}), factors, factors},
            float_types())
            .ints = {
            {"interleaved", interleaved}, {"num_heads", 3}, {"rotary_embedding_dim", 2 * half}};
    };
    for (const int interleaved : {0, 1}) {
        for (const int half : {1, 7, 13, 16, 17, 33})
            for (const int rest : {0, 3})
                add_heads(5, half, rest, interleaved);
        add_heads(0, 4, 0, interleaved);
        add(cases, "RotaryEmbedding", {fed({2, 3, 5, 26}), fed({2, 5, 13}), fed({2, 5, 13})},
            float_types())
            .ints = {{"interleaved", interleaved}};
    }
}

Operand list_of_int32(std::vector<double> values)
{
    Operand made = constant({static_cast<int>(values.size())});
    made.values = std::move(values);
    made.data_type = TENGINE_DT_INT32;
    return made;
}

// Some tokens, and one after others that are in the cache.
void add_attention(std::vector<Case>* cases)
{
    for (const int tokens : {1, 9, 33}) {
        const Operand keys = fed({2, 2, 37, 16});
        add(cases, "Attention", {fed({2, 4, tokens, 16}), keys, keys}, float_types()).ints = {
            {"is_causal", tokens > 1}};
        const Operand fresh = fed({1, tokens, 2 * 16});
        const Operand past = tokens == 1 ? fed({1, 2, 20, 16}) : absent();
        const int last = tokens == 1 ? 19 : tokens - 1;
        add(cases, "com.microsoft.GroupQueryAttention",
            {fed({1, tokens, 4 * 16}), fresh, fresh, past, past, list_of_int32({last * 1.0}),
             list_of_int32({last + 1.0})},
            float_types(), {kCaseType, kCaseType, kCaseType})
            .ints = {{"num_heads", 4}, {"kv_num_heads", 2}};
    }
}

void add_losses(std::vector<Case>* cases)
{
    const Types types = {TENGINE_DT_FP32, TENGINE_DT_FP16, TENGINE_DT_FP64};
    for (const char* op : {"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"})
        for (const char* reduction : {"none", "sum", "mean"})
            add(cases, op, {fed({3, 5, 7}), indices({3, 7}, 5)}, types).texts = {
                {"reduction", reduction}};
}

void add_dynamic(std::vector<Case>* cases)
{
    add(cases, "Range", {fed_values({}, {1}), fed_values({}, {20}), fed_values({}, {3})},
        {TENGINE_DT_FP32, TENGINE_DT_FP64, TENGINE_DT_INT16, TENGINE_DT_INT32, TENGINE_DT_INT64});
    add(cases, "ConstantOfShape", {fed_values({2}, {3, 5})}, {TENGINE_DT_INT64}, {TENGINE_DT_FP32});
    for (const int sorted : {0, 1})
        add(cases, "Unique", {fed({33})}, number_types(),
            {kCaseType, TENGINE_DT_INT64, TENGINE_DT_INT64, TENGINE_DT_INT64})
            .ints = {{"sorted", sorted}};
    add(cases, "NonMaxSuppression",
        {fed({1, 20, 4}), fed({1, 2, 20}), fed_values({}, {5}, TENGINE_DT_INT64),
         fed_values({}, {0.5}), fed_values({}, {0})},
        {TENGINE_DT_FP32}, {TENGINE_DT_INT64});
    add(cases, "MaxUnpool",
        {fed({1, 1, 2, 2}), fed_values({1, 1, 2, 2}, {5, 7, 13, 15}, TENGINE_DT_INT64)},
        float_types())
        .lists = {{"kernel_shape", {2, 2}}, {"strides", {2, 2}}};
}

void add_random(std::vector<Case>* cases)
{
    const Types types = {TENGINE_DT_FP32, TENGINE_DT_FP16, TENGINE_DT_FP64};
    for (const char* op : {"RandomNormalLike", "RandomUniformLike", "Bernoulli"})
        add(cases, op, {fed({3, 17})}, types).low = 0;
    add(cases, "Multinomial", {fed({2, 5})}, types, {TENGINE_DT_INT32});
}

}  // namespace

void add_other_cases(std::vector<Case>* cases)
{
    add_signals(cases);
    add_front_end(cases);
    add_suppression(cases);
    add_rotations(cases);
    add_rotated_heads(cases);
    add_attention(cases);
    add_losses(cases);
    add_dynamic(cases);
    add_random(cases);
    for (const auto& [type, length] : {std::pair(TENGINE_DT_FP32, 1), {TENGINE_DT_INT32, 2}}) {
        Operand like = constant({length});
        like.data_type = type;
        Case& made = add(cases, "CastLike", {fed({2, 3, 17}), like}, all_types(), {type});
        made.low = -9;
        made.high = 9;
    }
}

}  // namespace tengine::tools
