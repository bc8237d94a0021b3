// SPDX-License-Identifier: Apache-2.0
// Reference kernels of operator/onnx/state_ops.c. Accumulators are double.
#include <cmath>
#include <cstring>

#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/reference/norm/float_rows.h"
#include "device/cpu/reference/vector/small_elements.h"
#include "device/cpu/shared/grain.h"
#include "operator/onnx/state_param.h"

namespace tengine::cpu {
namespace {

// ---- TensorScatter ----

struct Scatter
{
    int64_t batches, middle;  // middle: lists of rows of a batch
    int64_t rows, updates;    // rows of a list
    int64_t row_bytes;
    bool circular;
    const int64_t* first;  // first row of each batch; null: 0
};

Scatter describe_scatter(const KernelContext& context)
{
    const auto& param = context.param<tensor_scatter_param>();
    const tensor* cache = context.input(0);
    const tensor* first = context.input(2);
    const int axis = param.axis < 0 ? param.axis + cache->dim_num : param.axis;
    return {cache->dims[0],
            multiply_dims(cache, 1, axis),
            cache->dims[axis],
            context.input(1)->dims[axis],
            multiply_dims(cache, axis + 1, cache->dim_num) * cache->elem_size,
            std::strcmp(param.mode, "circular") == 0,
            first ? first->i64 : nullptr};
}

int check_first_rows(const KernelContext& context, const Scatter& scatter)
{
    for (int64_t b = 0; scatter.first && b < scatter.batches; ++b) {
        const int64_t last =
            scatter.circular ? INT64_MAX - scatter.updates : scatter.rows - scatter.updates;
        if (scatter.first[b] < 0 || scatter.first[b] > last)
            return fail_node(context.node, TENGINE_ERANGE,
                             "write_indices of batch %lld is %lld, but there are %lld rows to "
                             "write into %lld (mode %s)",
                             static_cast<long long>(b), static_cast<long long>(scatter.first[b]),
                             static_cast<long long>(scatter.updates),
                             static_cast<long long>(scatter.rows),
                             context.param<tensor_scatter_param>().mode);
    }
    return TENGINE_OK;
}

int run_tensor_scatter(KernelContext& context)
{
    const Scatter scatter = describe_scatter(context);
    const tensor* cache = context.input(0);
    const tensor* output = context.output(0);
    TENGINE_RETURN_IF_ERROR(check_first_rows(context, scatter));
    if (output->elem_num == 0) return TENGINE_OK;
    if (output->data != cache->data)
        std::memcpy(output->data, cache->data,
                    static_cast<size_t>(cache->elem_num) * cache->elem_size);
    if (context.input(1)->elem_num == 0) return TENGINE_OK;
    const uint8_t* from = context.input(1)->u8;
    const auto write = [&](int64_t begin, int64_t end, int) {
        for (int64_t item = begin; item < end; ++item) {
            const int64_t list = item / scatter.updates;
            const int64_t start = scatter.first ? scatter.first[list / scatter.middle] : 0;
            const int64_t row = (start + item % scatter.updates) % scatter.rows;
            std::memcpy(output->u8 + (list * scatter.rows + row) * scatter.row_bytes,
                        from + item * scatter.row_bytes, static_cast<size_t>(scatter.row_bytes));
        }
    };
    parallel_for(context.pool, scatter.batches * scatter.middle * scatter.updates,
                 grain_for(scatter.row_bytes / 16), write);
    return TENGINE_OK;
}

// ---- CausalConvWithState ----

struct CausalConv
{
    int64_t batch, channels, tokens, taps;
    bool activates;
};

// Computes the tokens of one channel of one batch, which follow those of the state.
template <class T>
void convolve(const KernelContext& context, const CausalConv& conv, int64_t line, double* padded)
{
    const tensor* past = context.input(CAUSAL_CONV_PAST);
    const tensor* bias = context.input(CAUSAL_CONV_BIAS);
    const int64_t state = conv.taps - 1, channel = line % conv.channels;
    std::fill_n(padded, state, 0);
    if (past) load_row<T>(past->data, line * state, state, padded);
    load_row<T>(context.input(CAUSAL_CONV_INPUT)->data, line * conv.tokens, conv.tokens,
                padded + state);
    const T* weight =
        static_cast<const T*>(context.input(CAUSAL_CONV_WEIGHT)->data) + channel * conv.taps;
    T* output = context.output(0) ? static_cast<T*>(context.output(0)->data) : nullptr;
    for (int64_t token = 0; output && token < conv.tokens; ++token) {
        double sum = bias ? static_cast<double>(static_cast<const T*>(bias->data)[channel]) : 0;
        for (int64_t tap = 0; tap < conv.taps; ++tap)
            sum += static_cast<double>(weight[tap]) * padded[token + tap];
        if (conv.activates) sum /= 1 + std::exp(-sum);
        output[line * conv.tokens + token] = static_cast<T>(sum);
    }
    if (context.output(1))
        store_row<T>(padded + conv.tokens, line * state, state, context.output(1)->data);
}

int prepare_causal_conv(KernelContext& context)
{
    const tensor* input = context.input(CAUSAL_CONV_INPUT);
    const int64_t taps = context.input(CAUSAL_CONV_WEIGHT)->dims[2];
    context.scratch_size = sizeof(double) * static_cast<uint64_t>(input->dims[2] + taps - 1) *
                           static_cast<uint64_t>(get_thread_pool_size(context.pool));
    return TENGINE_OK;
}

int run_causal_conv(KernelContext& context)
{
    const tensor* input = context.input(CAUSAL_CONV_INPUT);
    const CausalConv conv = {
        input->dims[0], input->dims[1], input->dims[2], context.input(CAUSAL_CONV_WEIGHT)->dims[2],
        std::strcmp(context.param<causal_conv_param>().activation, "none") != 0};
    return dispatch_type(FloatTypes{}, input->data_type, [&](auto type) {
        parallel_for(context.pool, conv.batch * conv.channels, grain_for(conv.tokens * conv.taps),
                     [&](int64_t begin, int64_t end, int worker) {
                         double* padded = static_cast<double*>(context.scratch) +
                                          worker * (conv.tokens + conv.taps - 1);
                         for (int64_t line = begin; line < end; ++line)
                             convolve<typename decltype(type)::type>(context, conv, line, padded);
                     });
        return TENGINE_OK;
    });
}

// ---- LinearAttention ----

// A worker's scratch, in doubles.
struct LinearSpace
{
    double *state, *query, *key, *decay, *value, *result;

    LinearSpace(const linear_attention_form& form, double* memory)
        : state(memory),
          query(state + form.depth * form.width),
          key(query + form.depth),
          decay(key + form.depth),
          value(decay + form.depth),
          result(value + form.width)
    {
    }
    static int64_t size(const linear_attention_form& form)
    {
        return form.depth * form.width + 3 * form.depth + 2 * form.width;
    }
};

// One head of keys of one batch, with the heads of the query that read its state.
class LinearHead
{
  public:
    LinearHead(const KernelContext& context, const linear_attention_form& form, LoadRow load,
               StoreRow store, int64_t item, const LinearSpace& space)
        : context_(context),
          form_(form),
          load_(load),
          store_(store),
          b_(item / form.key_heads),
          head_(item % form.key_heads),
          space_(space)
    {
    }

    void take(int64_t token, double scale) const
    {
        const int64_t place = b_ * form_.tokens + token;
        const int64_t group = form_.heads / form_.key_heads;
        load_(data_of(LINEAR_KEY), (place * form_.key_heads + head_) * form_.depth, form_.depth,
              space_.key);
        load_(data_of(LINEAR_VALUE), (place * form_.key_heads + head_) * form_.width, form_.width,
              space_.value);
        if (form_.has_decay) decay(place);
        if (form_.has_beta) subtract(place);
        for (int64_t i = 0; i < form_.depth; ++i)
            for (int64_t j = 0; j < form_.width; ++j)
                row(i)[j] += space_.key[i] * space_.value[j];
        for (int64_t head = head_ * group; head < (head_ + 1) * group; ++head)
            answer(place * form_.heads + head, scale);
    }

  private:
    const void* data_of(int index) const { return context_.input(index)->data; }
    double* row(int64_t i) const { return space_.state + i * form_.width; }

    void decay(int64_t place) const
    {
        const bool is_shared = form_.decay_num == form_.key_heads;
        const int64_t count = is_shared ? 1 : form_.depth;
        load_(data_of(LINEAR_DECAY), place * form_.decay_num + head_ * count, count, space_.decay);
        for (int64_t i = 0; i < form_.depth; ++i) {
            const double factor = std::exp(space_.decay[is_shared ? 0 : i]);
            for (int64_t j = 0; j < form_.width; ++j)
                row(i)[j] *= factor;
        }
    }

    // Replaces the value by its difference to the state's value for the key.
    void subtract(int64_t place) const
    {
        double beta;
        load_(data_of(LINEAR_BETA),
              place * form_.beta_num + (form_.beta_num == form_.key_heads ? head_ : 0), 1, &beta);
        for (int64_t j = 0; j < form_.width; ++j) {
            double sum = 0;
            for (int64_t i = 0; i < form_.depth; ++i)
                sum += row(i)[j] * space_.key[i];
            space_.value[j] = beta * (space_.value[j] - sum);
        }
    }

    void answer(int64_t place, double scale) const
    {
        load_(data_of(LINEAR_QUERY), place * form_.depth, form_.depth, space_.query);
        for (int64_t j = 0; j < form_.width; ++j) {
            double sum = 0;
            for (int64_t i = 0; i < form_.depth; ++i)
                sum += space_.query[i] * row(i)[j];
            space_.result[j] = scale * sum;
        }
        store_(space_.result, place * form_.width, form_.width, context_.output(0)->data);
    }

    const KernelContext& context_;
    const linear_attention_form& form_;
    const LoadRow load_;
    const StoreRow store_;
    const int64_t b_, head_;
    const LinearSpace& space_;
};

int prepare_linear_attention(KernelContext& context)
{
    linear_attention_form form;
    TENGINE_RETURN_IF_ERROR(read_linear_attention(context.node, &form));
    context.scratch_size = sizeof(double) * static_cast<uint64_t>(LinearSpace::size(form)) *
                           static_cast<uint64_t>(get_thread_pool_size(context.pool));
    return TENGINE_OK;
}

int run_linear_attention(KernelContext& context)
{
    linear_attention_form form;
    LoadRow load = nullptr, load_state = nullptr;
    StoreRow store = nullptr, store_state = nullptr;
    const tensor* past = context.input(LINEAR_PAST);
    const tensor* present = context.output(1);
    TENGINE_RETURN_IF_ERROR(read_linear_attention(context.node, &form));
    TENGINE_RETURN_IF_ERROR(find_load_row(context.input(LINEAR_QUERY), &load));
    TENGINE_RETURN_IF_ERROR(find_store_row(context.output(0), &store));
    TENGINE_RETURN_IF_ERROR(find_load_row(past, &load_state));
    TENGINE_RETURN_IF_ERROR(find_store_row(present, &store_state));
    const float given = context.param<linear_attention_param>().scale;
    const double scale = given != 0 ? given : 1 / std::sqrt(static_cast<double>(form.depth));
    const int64_t state = form.depth * form.width;
    const auto attend = [&](int64_t begin, int64_t end, int worker) {
        const LinearSpace space(
            form, static_cast<double*>(context.scratch) + worker * LinearSpace::size(form));
        for (int64_t item = begin; item < end; ++item) {
            std::fill_n(space.state, state, 0);
            if (past) load_state(past->data, item * state, state, space.state);
            const LinearHead head(context, form, load, store, item, space);
            for (int64_t token = 0; token < form.tokens; ++token)
                head.take(token, scale);
            if (present) store_state(space.state, item * state, state, present->data);
        }
    };
    parallel_for(context.pool, form.batch * form.key_heads, grain_for(form.tokens * state), attend);
    return TENGINE_OK;
}

constexpr Kernel state_rows[] = {
    {.op = "CausalConvWithState",
     .name = "reference",
     .run = run_causal_conv,
     .prepare = prepare_causal_conv},
    {.op = "LinearAttention",
     .name = "reference",
     .run = run_linear_attention,
     .prepare = prepare_linear_attention},
    {.op = "TensorScatter",
     .name = "reference",
     .run = run_unpacked<run_tensor_scatter>,
     .prepare = prepare_unpacked,
     .in_place_input = 0},
};

}  // namespace

extern const KernelTable state_reference;
const KernelTable state_reference = make_table<state_rows>();

}  // namespace tengine::cpu
