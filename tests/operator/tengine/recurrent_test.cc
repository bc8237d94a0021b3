// SPDX-License-Identifier: Apache-2.0
// Tengine's recurrent layers (source/operator/tengine/recurrent_ops.c) against the equations of
// LSTM (Hochreiter and Schmidhuber, 1997), GRU (Cho et al., 2014) and the simple layer, step by
// step in double.
#include <cmath>
#include <functional>

#include "tengine_case.h"

namespace tengine::test {
namespace {

double sigmoid(double x)
{
    return 1 / (1 + std::exp(-x));
}

struct Sizes
{
    int sequence, batch, input, hidden;
};

// The weights of one layer in ONNX's order, with a given number of gates.
struct Layer
{
    Sizes size;
    int gates;
    Array x, w, r, b, h, c, p;

    Layer(const Sizes& sizes, int gate_num, int directions = 1)
        : size(sizes), gates(gate_num), x(make_array({sizes.sequence, sizes.batch, sizes.input}, 1))
    {
        const int rows = gates * sizes.hidden;
        w = make_array({directions, rows, sizes.input}, 2, 0.7);
        r = make_array({directions, rows, sizes.hidden}, 3, 0.6);
        b = make_array({directions, 2 * rows}, 4, 0.5);
        h = make_array({directions, sizes.batch, sizes.hidden}, 5, 0.9);
        c = make_array({directions, sizes.batch, sizes.hidden}, 6, 0.8);
        p = make_array({directions, 3 * sizes.hidden}, 7, 0.4);
    }

    // Rows `gate` of W x + Wb, and of R h + Rb (with the product's bias only if `bias`).
    double input_part(int step, int n, int gate, int j, bool bias) const
    {
        const int row = gate * size.hidden + j;
        double sum = bias ? b.values[static_cast<size_t>(row)] : 0;
        for (int i = 0; i < size.input; ++i)
            sum += w.values[static_cast<size_t>(row * size.input + i)] *
                   x.values[static_cast<size_t>((step * size.batch + n) * size.input + i)];
        return sum;
    }
    double hidden_part(const std::vector<double>& state, int gate, int j, bool bias) const
    {
        const int row = gate * size.hidden + j;
        double sum = bias ? b.values[static_cast<size_t>(gates * size.hidden + row)] : 0;
        for (int i = 0; i < size.hidden; ++i)
            sum += r.values[static_cast<size_t>(row * size.hidden + i)] *
                   state[static_cast<size_t>(i)];
        return sum;
    }
};

struct Options
{
    bool bias = false, state = false, peepholes = false;
    bool after_product = false;  // GRU: the reset gate scales R h + Rb
};

// Runs step(sequence position, batch entry, state) for all and collects the states.
using Step = std::function<void(int, int, std::vector<double>&, std::vector<double>&)>;
Array unroll(const Layer& layer, bool has_state, const Step& step)
{
    const Sizes& s = layer.size;
    Array out{{s.sequence, 1, s.batch, s.hidden}, {}};
    out.values.resize(static_cast<size_t>(s.sequence * s.batch * s.hidden));
    for (int n = 0; n < s.batch; ++n) {
        const auto first = [&](const Array& initial) {
            if (!has_state) return std::vector<double>(static_cast<size_t>(s.hidden));
            const auto begin = initial.values.begin() + n * s.hidden;
            return std::vector<double>(begin, begin + s.hidden);
        };
        std::vector<double> hidden = first(layer.h), cell = first(layer.c);
        for (int t = 0; t < s.sequence; ++t) {
            step(t, n, hidden, cell);
            std::copy(hidden.begin(), hidden.end(),
                      out.values.begin() + (t * s.batch + n) * s.hidden);
        }
    }
    return out;
}

Array naive_lstm(const Layer& layer, const Options& with)
{
    return unroll(layer, with.state, [&](int t, int n, auto& hidden, auto& cell) {
        const std::vector<double> old = hidden;
        for (int j = 0; j < layer.size.hidden; ++j) {
            const auto gate = [&](int index, int peephole, double seen) {
                const double peep =
                    with.peepholes && peephole >= 0
                        ? layer.p.values[static_cast<size_t>(peephole * layer.size.hidden + j)] *
                              seen
                        : 0;
                return layer.input_part(t, n, index, j, with.bias) +
                       layer.hidden_part(old, index, j, with.bias) + peep;
            };
            double& c = cell[static_cast<size_t>(j)];
            const double kept = sigmoid(gate(2, 2, c)) * c;
            c = kept + sigmoid(gate(0, 0, c)) * std::tanh(gate(3, -1, 0));
            hidden[static_cast<size_t>(j)] = sigmoid(gate(1, 1, c)) * std::tanh(c);
        }
    });
}

Array naive_gru(const Layer& layer, const Options& with)
{
    return unroll(layer, with.state, [&](int t, int n, auto& hidden, auto&) {
        const std::vector<double> old = hidden;
        const auto gate = [&](int index, int j) {
            return sigmoid(layer.input_part(t, n, index, j, with.bias) +
                           layer.hidden_part(old, index, j, with.bias));
        };
        std::vector<double> reset(old);
        for (size_t i = 0; i < reset.size(); ++i)
            reset[i] *= gate(1, static_cast<int>(i));
        for (int j = 0; j < layer.size.hidden; ++j) {
            const double product = with.after_product
                                       ? gate(1, j) * layer.hidden_part(old, 2, j, with.bias)
                                       : layer.hidden_part(reset, 2, j, with.bias);
            const double candidate = std::tanh(layer.input_part(t, n, 2, j, with.bias) + product);
            const double update = gate(0, j);
            hidden[static_cast<size_t>(j)] =
                (1 - update) * candidate + update * old[static_cast<size_t>(j)];
        }
    });
}

struct LayerCase : TengineCase
{
    LayerCase(const std::string& op, const Layer& layer, int output_num = 1)
        : TengineCase(op, 0, output_num)
    {
        input(layer.x).constant(layer.w).constant(layer.r);
        if (op.find("tengine.") == 0) attr("hidden_size", layer.size.hidden);
    }
};

constexpr Sizes kSizes = {4, 3, 5, 2};

// ---- Lstm ----

TEST(Lstm, WithoutBias)
{
    const Layer layer(kSizes, 4);
    expect_close(LayerCase("tengine.Lstm", layer).run_one(), naive_lstm(layer, {}));
}

TEST(Lstm, WithBias)
{
    const Layer layer(kSizes, 4);
    LayerCase made("tengine.Lstm", layer);
    expect_close(made.constant(layer.b).run_one(), naive_lstm(layer, {true}));
    EXPECT_NE(made.ops().find("LSTM"), std::string::npos);
}

// Six inputs: no lengths, and the states at their indices.
TEST(Lstm, WithInitialStates)
{
    const Layer layer(kSizes, 4);
    LayerCase made("tengine.Lstm", layer);
    made.constant(layer.b).input(layer.h).constant(layer.c);
    expect_close(made.run_one(), naive_lstm(layer, {true, true}));
}

TEST(Lstm, WithAllInputs)
{
    const Layer layer(kSizes, 4);
    LayerCase made("tengine.Lstm", layer);
    made.constant(layer.b).constant({{3}, {4, 4, 4}, TENGINE_DT_INT32});
    made.constant(layer.h).constant(layer.c).constant(layer.p);
    expect_close(made.run_one(), naive_lstm(layer, {true, true, true}));
}

// Peepholes of three hidden values have as many elements as the states of a batch of three.
TEST(Lstm, PeepholesAreNotTakenForAState)
{
    const Layer layer(kSizes, 4);
    LayerCase made("tengine.Lstm", layer);
    expect_close(made.constant(layer.b).constant(layer.p).run_one(),
                 naive_lstm(layer, {true, false, true}));
}

TEST(Lstm, ShorterSequencesEndInZeroes)
{
    const Layer layer(kSizes, 4);
    Array expected = naive_lstm(layer, {true});
    const std::vector<int> lengths = {4, 1, 3};
    for (int t = 0; t < 4; ++t)
        for (int n = 0; n < 3; ++n)
            for (int j = 0; j < 2 && t >= lengths[static_cast<size_t>(n)]; ++j)
                expected.values[static_cast<size_t>((t * 3 + n) * 2 + j)] = 0;
    LayerCase made("tengine.Lstm", layer);
    made.constant(layer.b).constant({{3}, {4, 1, 3}, TENGINE_DT_INT32});
    expect_close(made.run_one(), expected);
}

TEST(Lstm, LayersFromMxnetHaveThreeDimensions)
{
    const Layer layer(kSizes, 4);
    LayerCase made("tengine.Lstm", layer);
    Array expected = naive_lstm(layer, {true});
    expected.dims = {4, 3, 2};
    expect_close(made.constant(layer.b).attr("mxnet_flag", 1).run_one(), expected);
}

TEST(Lstm, GivesTheLastStates)
{
    const Layer layer(kSizes, 4);
    const std::vector<Array> results = LayerCase("tengine.Lstm", layer, 3).run();
    ASSERT_EQ(results.size(), 3U);
    const Array all = naive_lstm(layer, {});
    expect_close(results[1], {{1, 3, 2}, {all.values.end() - 6, all.values.end()}});
    EXPECT_EQ(results[2].dims, (std::vector<int>{1, 3, 2}));
}

// Weights of two directions; the first runs forward.
TEST(Lstm, TwoDirections)
{
    const Layer both(kSizes, 4, 2);
    Layer forward(kSizes, 4);
    const auto half = [](const Array& of) {
        return std::vector<double>(of.values.begin(),
                                   of.values.begin() + static_cast<int>(of.values.size() / 2));
    };
    forward.w.values = half(both.w);
    forward.r.values = half(both.r);
    const Array result = LayerCase("tengine.Lstm", both).run_one();
    const Array expected = naive_lstm(forward, {});
    ASSERT_EQ(result.dims, (std::vector<int>{4, 2, 3, 2}));
    for (int t = 0; t < 4; ++t)
        for (int i = 0; i < 6; ++i)
            EXPECT_NEAR(result.values[static_cast<size_t>(t * 12 + i)],
                        expected.values[static_cast<size_t>(t * 6 + i)], 1e-5);
}

TEST(Lstm, FieldsThatFilesLeaveUninitialisedHaveNoEffect)
{
    const Layer layer(kSizes, 4);
    LayerCase made("tengine.Lstm", layer);
    for (const char* name : {"output_len", "sequence_len", "input_size", "cell_size", "forget_act",
                             "cellin_act", "has_peephole", "has_clip"})
        made.attr(name, 12345678);
    made.attr("clip", 1e-3).attr("forget_bias", 1.0);
    expect_close(made.constant(layer.b).run_one(), naive_lstm(layer, {true}));
}

TEST(Lstm, RefusesInputsThatDoNotFit)
{
    const Layer layer(kSizes, 4);
    LayerCase("tengine.Lstm", layer)
        .attr("hidden_size", 3)
        .expect_failure(TENGINE_EINVAL, "elements");
    LayerCase("tengine.Lstm", layer).attr("hidden_size", 0).expect_failure(TENGINE_ERANGE, "is 0");
    LayerCase("tengine.Lstm", layer)
        .attr("hidden_size", 2147483647)
        .expect_failure(TENGINE_ERANGE, "2147483647");
    LayerCase("tengine.Lstm", layer)
        .constant(make_array({1, 7}))
        .expect_failure(TENGINE_EINVAL, "is not a bias");
    TengineCase flat("tengine.Lstm");
    flat.input(make_array({4, 5})).constant(layer.w).constant(layer.r).attr("hidden_size", 2);
    flat.expect_failure(TENGINE_EINVAL, "rank 2");
}

TEST(Lstm, Raised)
{
    const Layer layer(kSizes, 4);
    LayerCase plain("LSTM", layer);
    expect_close(plain.constant(layer.b).expect_raised("tengine.Lstm"), naive_lstm(layer, {true}));
    EXPECT_EQ(plain.raised_attr("hidden_size"), 2);
    LayerCase stateful("LSTM", layer);
    stateful.constant(layer.b).absent().constant(layer.h).constant(layer.c);
    stateful.expect_raised("tengine.Lstm");
    LayerCase peeping("LSTM", layer);
    peeping.constant(layer.b).absent().absent().absent().constant(layer.p);
    expect_close(peeping.expect_raised("tengine.Lstm"), naive_lstm(layer, {true, false, true}));
}

TEST(Lstm, NotRaised)
{
    const Layer layer(kSizes, 4);
    LayerCase("LSTM", layer)
        .attr("direction", "reverse")
        .expect_refusal("direction is not forward");
    LayerCase("LSTM", layer).attr("clip", 1.5).expect_refusal("clips");
    LayerCase("LSTM", layer).attr("input_forget", 1).expect_refusal("couples");
    LayerCase("LSTM", layer, 2).expect_refusal("last state");
    LayerCase cell("LSTM", layer);
    cell.absent().absent().absent().constant(layer.c).expect_refusal("only an initial cell state");
}

// ---- Gru ----

TEST(Gru, WithoutInitialStateTheResetGateComesFirst)
{
    const Layer layer(kSizes, 3);
    expect_close(LayerCase("tengine.Gru", layer).run_one(), naive_gru(layer, {}));
    expect_close(LayerCase("tengine.Gru", layer).constant(layer.b).run_one(),
                 naive_gru(layer, {true}));
}

TEST(Gru, WithInitialStateTheResetGateComesLast)
{
    const Layer layer(kSizes, 3);
    LayerCase made("tengine.Gru", layer);
    Options with{true, true};
    with.after_product = true;
    expect_close(made.constant(layer.b).constant(layer.h).run_one(), naive_gru(layer, with));
}

TEST(Gru, LayersFromMxnetHaveThreeDimensions)
{
    const Layer layer(kSizes, 3);
    Array expected = naive_gru(layer, {});
    expected.dims = {4, 3, 2};
    expect_close(LayerCase("tengine.Gru", layer).attr("mxnet_flag", 1).run_one(), expected);
}

TEST(Gru, Raised)
{
    const Layer layer(kSizes, 3);
    expect_close(LayerCase("GRU", layer).constant(layer.b).expect_raised("tengine.Gru"),
                 naive_gru(layer, {true}));
    LayerCase torch_like("GRU", layer);
    torch_like.constant(layer.b).absent().constant(layer.h).attr("linear_before_reset", 1);
    Options with{true, true};
    with.after_product = true;
    expect_close(torch_like.expect_raised("tengine.Gru"), naive_gru(layer, with));
}

TEST(Gru, NotRaised)
{
    const Layer layer(kSizes, 3);
    LayerCase("GRU", layer)
        .attr("linear_before_reset", 1)
        .expect_refusal("linear_before_reset is 1");
    LayerCase stateful("GRU", layer);
    stateful.absent().absent().constant(layer.h).expect_refusal("linear_before_reset is 0");
}

// ---- RNN ----

struct Simple
{
    Sizes size = kSizes;
    Array x = make_array({4, 3, 5}, 1);
    Array kernel = make_array({7, 2}, 2, 0.6);  // 5 input rows, then 2 of the state
    Array bias = make_array({2}, 3, 0.5);

    // `state` per batch entry.
    Array run(int output_len, bool biased, std::vector<double> state) const
    {
        std::vector<double> all;
        for (int t = 0; t < 4; ++t) {
            const std::vector<double> old = state;
            for (int n = 0; n < 3; ++n)
                for (int j = 0; j < 2; ++j) {
                    double sum = biased ? bias.values[static_cast<size_t>(j)] : 0;
                    for (int i = 0; i < 7; ++i)
                        sum += kernel.values[static_cast<size_t>(i * 2 + j)] *
                               (i < 5 ? x.values[static_cast<size_t>((t * 3 + n) * 5 + i)]
                                      : old[static_cast<size_t>(n * 2 + i - 5)]);
                    state[static_cast<size_t>(n * 2 + j)] = std::tanh(sum);
                }
            all.insert(all.end(), state.begin(), state.end());
        }
        return {{output_len, 3, 2}, {all.end() - output_len * 6, all.end()}};
    }
};

struct SimpleCase : TengineCase
{
    SimpleCase(const Simple& layer, int output_len) : TengineCase("tengine.RNN")
    {
        input(layer.x).constant(layer.kernel);
        attr("hidden_size", 2).attr("input_size", 5).attr("output_len", output_len);
    }
};

TEST(Rnn, GivesTheLastStates)
{
    const Simple layer;
    const std::vector<double> zeroes(6);
    for (const int length : {1, 3, 4})
        expect_close(SimpleCase(layer, length).run_one(), layer.run(length, false, zeroes));
    expect_close(SimpleCase(layer, 2).constant(layer.bias).run_one(), layer.run(2, true, zeroes));
}

TEST(Rnn, InitialStateIsOfTheWholeBatchOrOfEachEntry)
{
    const Simple layer;
    const Array one = make_array({2}, 8), each = make_array({3, 2}, 9);
    const double a = one.values[0], b = one.values[1];
    expect_close(SimpleCase(layer, 4).constant(layer.bias).constant(one).run_one(),
                 layer.run(4, true, {a, b, a, b, a, b}));
    expect_close(SimpleCase(layer, 4).constant(layer.bias).constant(each).run_one(),
                 layer.run(4, true, each.values));
    SimpleCase state_only(layer, 4);
    state_only.constant(one).attr("has_init_state", 1);
    expect_close(state_only.run_one(), layer.run(4, false, {a, b, a, b, a, b}));
}

TEST(Rnn, RefusesSizesThatDoNotFit)
{
    const Simple layer;
    SimpleCase(layer, 0).expect_failure(TENGINE_ERANGE, "output_len is 0");
    SimpleCase(layer, 5).expect_failure(TENGINE_ERANGE, "output_len is 5");
    SimpleCase(layer, 1).attr("hidden_size", 3).expect_failure(TENGINE_EINVAL, "kernel has 14");
    SimpleCase(layer, 1).attr("hidden_size", -1).expect_failure(TENGINE_ERANGE, "is -1");
    SimpleCase(layer, 1).constant(make_array({3})).expect_failure(TENGINE_EINVAL, "bias has 3");
}

}  // namespace
}  // namespace tengine::test
