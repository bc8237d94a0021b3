// SPDX-License-Identifier: Apache-2.0
// Recurrent layers, whose states are variables, against their equations in double.
#include <cmath>
#include <cstring>
#include <random>

#include "serializer/tflite/state_fixture.h"

namespace tengine::test {
namespace {

constexpr int kLstm = 16, kRnn = 24, kSvdf = 27, kSequenceRnn = 35, kSequenceLstm = 44,
              kTwoWayRnn = 46, kTwoWayLstm = 52;
constexpr int kReluAct = 1, kTanhAct = 4;

using TfliteRecurrentTest = TfliteStateTest;
using Doubles = std::vector<double>;
using Option = TfliteOperator::Option;

struct Numbers
{
    std::mt19937 engine{7};
    Doubles make(size_t number, double most = 1)
    {
        std::uniform_real_distribution<float> range(-1, 1);
        Doubles values(number);
        for (double& value : values)
            value = range(engine) * static_cast<float>(most);
        return values;
    }
};

std::string bytes(const Doubles& values)
{
    return bytes_of<float>({values.begin(), values.end()});
}

double sigmoid(double x)
{
    return 1 / (1 + std::exp(-x));
}

double activate(int act, double x)
{
    return act == kTanhAct ? std::tanh(x) : act == kReluAct ? std::max(x, 0.0) : x;
}

// rows x columns
struct Matrix
{
    Doubles values;
    size_t columns = 0;
    double row_times(size_t row, const double* by) const
    {
        double sum = 0;
        for (size_t k = 0; k < columns; ++k)
            sum += values[row * columns + k] * by[k];
        return sum;
    }
};

struct LstmForm
{
    const char* name;
    bool is_coupled = false, has_peepholes = false, has_projection = false, has_norms = false;
    double cell_clip = 0, projection_clip = 0;
    int act = kTanhAct;
    bool is_time_major = false, is_one_step = false;
};

constexpr size_t kSteps = 5, kBatch = 2, kTaken = 3, kUnits = 4, kProjected = 2;

// One direction in double. Gates are i f c o.
struct LstmWeights
{
    LstmWeights(Numbers& numbers, const LstmForm& how)
        : form(how), results(how.has_projection ? kProjected : kUnits)
    {
        for (int gate = 0; gate < 4; ++gate) {
            inputs[gate] = {numbers.make(kUnits * kTaken), kTaken};
            steps[gate] = {numbers.make(kUnits * results), results};
            peepholes[gate] = numbers.make(kUnits);
            biases[gate] = numbers.make(kUnits, 2);
            norms[gate] = numbers.make(kUnits, 2);
        }
        projection = {numbers.make(results * kUnits), kUnits};
        projection_bias = numbers.make(results);
    }

    Doubles sum(int gate, const double* x, const double* hidden, const double* cell) const
    {
        Doubles sums(kUnits);
        for (size_t i = 0; i < kUnits; ++i) {
            sums[i] = inputs[gate].row_times(i, x) + steps[gate].row_times(i, hidden);
            if (form.has_peepholes && gate != 2) sums[i] += peepholes[gate][i] * cell[i];
        }
        if (form.has_norms) {
            double mean = 0, square = 0;
            for (const double value : sums)
                mean += value / kUnits;
            for (const double value : sums)
                square += (value - mean) * (value - mean) / kUnits;
            for (size_t i = 0; i < kUnits; ++i)
                sums[i] = (sums[i] - mean) / std::sqrt(square + 1e-8) * norms[gate][i];
        }
        for (size_t i = 0; i < kUnits; ++i)
            sums[i] += biases[gate][i];
        return sums;
    }

    void step(const double* x, double* hidden, double* cell) const
    {
        const Doubles forget = sum(1, x, hidden, cell), value = sum(2, x, hidden, cell);
        const Doubles taken = form.is_coupled ? forget : sum(0, x, hidden, cell);
        for (size_t i = 0; i < kUnits; ++i) {
            const double kept = sigmoid(forget[i]);
            const double added = form.is_coupled ? 1 - kept : sigmoid(taken[i]);
            cell[i] = kept * cell[i] + added * activate(form.act, value[i]);
            if (form.cell_clip > 0) cell[i] = std::clamp(cell[i], -form.cell_clip, form.cell_clip);
        }
        const Doubles output = sum(3, x, hidden, cell);
        Doubles next(kUnits);
        for (size_t i = 0; i < kUnits; ++i)
            next[i] = sigmoid(output[i]) * activate(form.act, cell[i]);
        for (size_t i = 0; i < results; ++i) {
            hidden[i] = next[i];
            if (!form.has_projection) continue;
            hidden[i] = projection.row_times(i, next.data()) + projection_bias[i];
            if (form.projection_clip > 0)
                hidden[i] = std::clamp(hidden[i], -form.projection_clip, form.projection_clip);
        }
    }

    LstmForm form;
    size_t results;
    Matrix inputs[4], steps[4], projection;
    Doubles peepholes[4], biases[4], norms[4], projection_bias;
};

// Appends a constant; the operator reads it, or nothing.
void add_operand(TfliteModel& model, const std::vector<int32_t>& shape, const Doubles& values,
                 bool is_there = true)
{
    model.operators[0].inputs.push_back(is_there ? static_cast<int32_t>(model.tensors.size()) : -1);
    if (is_there)
        model.tensors.push_back(
            {"c" + std::to_string(model.tensors.size()), shape, kTfliteFloat, bytes(values)});
}

void add_state(TfliteModel& model, size_t size)
{
    TfliteTensor state = {"state" + std::to_string(model.tensors.size()),
                          {int32_t(kBatch), static_cast<int32_t>(size)}};
    state.is_variable = true;
    model.operators[0].inputs.push_back(static_cast<int32_t>(model.tensors.size()));
    model.tensors.push_back(state);
}

void add_lstm_weights(TfliteModel& model, const LstmWeights& weights)
{
    const LstmForm& form = weights.form;
    const int32_t units = kUnits, taken = kTaken, results = static_cast<int32_t>(weights.results);
    const auto is_there = [&](int gate) { return gate != 0 || !form.is_coupled; };
    for (int gate = 0; gate < 4; ++gate)
        add_operand(model, {units, taken}, weights.inputs[gate].values, is_there(gate));
    for (int gate = 0; gate < 4; ++gate)
        add_operand(model, {units, results}, weights.steps[gate].values, is_there(gate));
    for (const int gate : {0, 1, 3})
        add_operand(model, {units}, weights.peepholes[gate], form.has_peepholes && is_there(gate));
    for (int gate = 0; gate < 4; ++gate)
        add_operand(model, {units}, weights.biases[gate], is_there(gate));
    add_operand(model, {results, units}, weights.projection.values, form.has_projection);
    add_operand(model, {results}, weights.projection_bias, form.has_projection);
}

int32_t word_of(double value)
{
    const auto single = static_cast<float>(value);
    int32_t word = 0;
    std::memcpy(&word, &single, sizeof word);
    return word;
}

std::vector<int32_t> shape_of(const LstmForm& form, size_t last)
{
    const int32_t steps = kSteps, batch = kBatch, size = static_cast<int32_t>(last);
    if (form.is_one_step) return {batch, size};
    return form.is_time_major ? std::vector<int32_t>{steps, batch, size}
                              : std::vector<int32_t>{batch, steps, size};
}

TfliteModel begin_layer(const LstmForm& form, int code)
{
    TfliteModel model;
    model.tensors = {{"x", shape_of(form, kTaken)}};
    model.operators = {{code, {0}, {}}};
    model.inputs = {0};
    return model;
}

void add_output(TfliteModel& model, const LstmForm& form, size_t results)
{
    const auto index = static_cast<int32_t>(model.tensors.size());
    model.tensors.push_back({"y" + std::to_string(index), shape_of(form, results)});
    model.operators[0].outputs.push_back(index);
    model.outputs.push_back(index);
}

// Where a step of a sequence has its `size` values.
size_t place_of(const LstmForm& form, size_t step, size_t batch, size_t size)
{
    if (form.is_one_step) return batch * size;
    return (form.is_time_major ? step * kBatch + batch : batch * kSteps + step) * size;
}

// The values of all steps. `advance`: computes one from its input, and changes the states.
template <class Advance>
void walk(const LstmForm& form, bool is_reverse, size_t results, const std::vector<float>& x,
          std::vector<float>* out_y, size_t stride, size_t offset, Advance advance)
{
    const size_t steps = form.is_one_step ? 1 : kSteps;
    for (size_t batch = 0; batch < kBatch; ++batch)
        for (size_t i = 0; i < steps; ++i) {
            const size_t step = is_reverse ? steps - 1 - i : i;
            const float* from = x.data() + place_of(form, step, batch, kTaken);
            const Doubles input(from, from + kTaken);
            const double* made = advance(batch, input.data());
            for (size_t k = 0; k < results; ++k)
                (*out_y)[place_of(form, step, batch, stride) + offset + k] =
                    static_cast<float>(made[k]);
        }
}

struct LstmStates
{
    explicit LstmStates(size_t results) : hidden(kBatch * results), cell(kBatch * kUnits) {}
    Doubles hidden, cell;
};

void run_lstm(const LstmWeights& weights, bool is_reverse, const std::vector<float>& x,
              LstmStates* states, std::vector<float>* out_y, size_t stride, size_t offset)
{
    walk(weights.form, is_reverse, weights.results, x, out_y, stride, offset,
         [&](size_t batch, const double* input) {
             double* hidden = states->hidden.data() + batch * weights.results;
             weights.step(input, hidden, states->cell.data() + batch * kUnits);
             return hidden;
         });
}

// fp32 sums of a few products of numbers up to 2.
void expect_near(const std::vector<float>& actual, const std::vector<float>& expected)
{
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i)
        EXPECT_NEAR(actual[i], expected[i], 1e-5 * std::max(1.0f, std::abs(expected[i]))) << i;
}

std::vector<float> make_input(Numbers& numbers, const LstmForm& form)
{
    const Doubles values = numbers.make((form.is_one_step ? 1 : kSteps) * kBatch * kTaken, 2);
    return {values.begin(), values.end()};
}

LstmForm form_of(const char* name)
{
    LstmForm form;
    form.name = name;
    return form;
}

std::vector<LstmForm> list_forms()
{
    std::vector<LstmForm> forms(12, form_of("plain"));
    forms[1].is_coupled = true;
    forms[2].has_peepholes = true;
    forms[3].cell_clip = 0.4;
    forms[4].is_time_major = true;
    forms[5].is_coupled = forms[5].has_peepholes = true;
    forms[5].cell_clip = 0.3;
    forms[6].has_projection = true;
    forms[7].has_projection = forms[7].has_peepholes = forms[7].is_time_major = true;
    forms[7].cell_clip = 0.4;
    forms[7].projection_clip = 0.2;
    forms[8].has_norms = true;
    forms[9].has_norms = forms[9].is_coupled = forms[9].has_projection = true;
    forms[10].act = kReluAct;
    forms[11].cell_clip = 10;
    return forms;
}

std::vector<Option> lstm_options(const LstmForm& form, int time_major_field)
{
    std::vector<Option> options = {{0, 1, form.act, {}},
                                   {1, 4, word_of(form.cell_clip), {}},
                                   {2, 4, word_of(form.projection_clip), {}}};
    if (!form.is_one_step) options.push_back({time_major_field, 1, form.is_time_major, {}});
    return options;
}

class LstmTest : public TfliteStateTest
{
  protected:
    void expect_runs(const LstmForm& form)
    {
        Numbers numbers;
        const LstmWeights weights(numbers, form);
        TfliteModel model = begin_layer(form, form.is_one_step ? kLstm : kSequenceLstm);
        add_lstm_weights(model, weights);
        add_state(model, weights.results);
        add_state(model, kUnits);
        for (int gate = 0; form.has_norms && gate < 4; ++gate)
            add_operand(model, {int32_t(kUnits)}, weights.norms[gate],
                        gate != 0 || !form.is_coupled);
        model.operators[0].options = lstm_options(form, 3);
        add_output(model, form, weights.results);
        ASSERT_TRUE(begin(model)) << get_tengine_error();
        LstmStates states(weights.results);
        for (int run = 0; run < 3; ++run) {
            const std::vector<float> x = make_input(numbers, form);
            std::vector<float> y(x.size() / kTaken * weights.results);
            run_lstm(weights, false, x, &states, &y, weights.results, 0);
            expect_near(step(x), y);
        }
    }
};

TEST_F(LstmTest, SequencesAndSteps)
{
    const std::vector<LstmForm> forms = list_forms();
    for (size_t i = 0; i < forms.size(); ++i)
        for (const bool is_one_step : {false, true}) {
            SCOPED_TRACE(i);
            LstmForm form = forms[i];
            form.is_one_step = is_one_step;
            expect_runs(form);
        }
}

TEST_F(LstmTest, TwoDirections)
{
    for (const LstmForm& form : list_forms())
        for (const bool merges : {false, true}) {
            if (form.has_norms) continue;  // such a layer has none
            Numbers numbers;
            const LstmWeights first(numbers, form), second(numbers, form);
            const size_t results = first.results, stride = merges ? 2 * results : results;
            TfliteModel model = begin_layer(form, kTwoWayLstm);
            add_lstm_weights(model, first);
            add_lstm_weights(model, second);
            for (int i = 0; i < 2; ++i) {
                add_state(model, results);
                add_state(model, kUnits);
            }
            for (int i = 0; i < 9; ++i)
                model.operators[0].inputs.push_back(-1);
            model.operators[0].options = lstm_options(form, 4);
            model.operators[0].options.push_back({3, 1, merges, {}});
            add_output(model, form, stride);
            if (!merges) add_output(model, form, stride);
            ASSERT_TRUE(begin(model)) << get_tengine_error();
            LstmStates forward(results), backward(results);
            for (int run = 0; run < 2; ++run) {
                const std::vector<float> x = make_input(numbers, form);
                std::vector<float> y(x.size() / kTaken * stride), back(y.size());
                run_lstm(first, false, x, &forward, &y, stride, 0);
                run_lstm(second, true, x, &backward, merges ? &y : &back, stride,
                         merges ? results : 0);
                expect_near(step(x), y);
                if (!merges) expect_near(values_of_output(1), back);
            }
        }
}

TEST_F(LstmTest, WrongOperands)
{
    const LstmForm form = form_of("plain");
    Numbers numbers;
    const LstmWeights weights(numbers, form);
    TfliteModel model = begin_layer(form, kSequenceLstm);
    add_lstm_weights(model, weights);
    add_state(model, kUnits);
    add_state(model, kUnits);
    model.operators[0].options = lstm_options(form, 3);
    add_output(model, form, kUnits);
    TfliteModel wrong = model;
    wrong.tensors[0].shape = {2, 3};
    expect_refusal(wrong, TENGINE_EINVAL, "its input has rank 2, expected 3");
    wrong = model;
    wrong.operators[0].inputs[2] = -1;
    expect_refusal(wrong, TENGINE_EGRAPH, "the weights of gate 1 are absent");
    wrong = model;
    wrong.operators[0].inputs.resize(18);
    expect_refusal(wrong, TENGINE_EGRAPH, "its states are absent");
    wrong = model;
    wrong.tensors[static_cast<size_t>(wrong.operators[0].inputs[18])].shape = {3, kUnits};
    expect_refusal(wrong, TENGINE_EINVAL, "for a batch of 3 and 2, its input has 2");
}

// ---- other layers ----

struct RnnWeights
{
    RnnWeights(Numbers& numbers, int function)
        : inputs{numbers.make(kUnits * kTaken), kTaken},
          steps{numbers.make(kUnits * kUnits), kUnits},
          bias(numbers.make(kUnits)),
          act(function)
    {
    }
    void step(const double* x, double* hidden) const
    {
        Doubles next(kUnits);
        for (size_t i = 0; i < kUnits; ++i)
            next[i] = activate(act, inputs.row_times(i, x) + steps.row_times(i, hidden) + bias[i]);
        std::copy(next.begin(), next.end(), hidden);
    }
    Matrix inputs, steps;
    Doubles bias;
    int act;
};

void add_rnn_weights(TfliteModel& model, const RnnWeights& weights)
{
    add_operand(model, {int32_t(kUnits), int32_t(kTaken)}, weights.inputs.values);
    add_operand(model, {int32_t(kUnits), int32_t(kUnits)}, weights.steps.values);
    add_operand(model, {int32_t(kUnits)}, weights.bias);
    add_state(model, kUnits);
}

void run_rnn(const LstmForm& form, const RnnWeights& weights, bool is_reverse,
             const std::vector<float>& x, Doubles* state, std::vector<float>* out_y, size_t stride,
             size_t offset)
{
    walk(form, is_reverse, kUnits, x, out_y, stride, offset,
         [&](size_t batch, const double* input) {
             double* hidden = state->data() + batch * kUnits;
             weights.step(input, hidden);
             return hidden;
         });
}

TEST_F(TfliteRecurrentTest, Rnn)
{
    for (const bool is_one_step : {false, true})
        for (const int act : {0, kReluAct, kTanhAct}) {
            LstmForm form = form_of("rnn");
            form.is_one_step = is_one_step;
            Numbers numbers;
            const RnnWeights weights(numbers, act);
            TfliteModel model = begin_layer(form, is_one_step ? kRnn : kSequenceRnn);
            add_rnn_weights(model, weights);
            model.operators[0].options = {{is_one_step ? 0 : 1, 1, act, {}}};
            add_output(model, form, kUnits);
            ASSERT_TRUE(begin(model)) << get_tengine_error();
            Doubles state(kBatch * kUnits);
            for (int run = 0; run < 3; ++run) {
                const std::vector<float> x = make_input(numbers, form);
                std::vector<float> y(x.size() / kTaken * kUnits);
                run_rnn(form, weights, false, x, &state, &y, kUnits, 0);
                expect_near(step(x), y);
            }
        }
}

TEST_F(TfliteRecurrentTest, RnnOfTwoDirections)
{
    for (const bool merges : {false, true}) {
        const LstmForm form = form_of("rnn");
        Numbers numbers;
        const RnnWeights first(numbers, kTanhAct), second(numbers, kTanhAct);
        const size_t stride = merges ? 2 * kUnits : kUnits;
        TfliteModel model = begin_layer(form, kTwoWayRnn);
        add_rnn_weights(model, first);
        add_rnn_weights(model, second);
        model.operators[0].options = {{1, 1, kTanhAct, {}}, {2, 1, merges, {}}};
        add_output(model, form, stride);
        if (!merges) add_output(model, form, stride);
        ASSERT_TRUE(begin(model)) << get_tengine_error();
        Doubles forward(kBatch * kUnits), backward(kBatch * kUnits);
        for (int run = 0; run < 2; ++run) {
            const std::vector<float> x = make_input(numbers, form);
            std::vector<float> y(x.size() / kTaken * stride), back(y.size());
            run_rnn(form, first, false, x, &forward, &y, stride, 0);
            run_rnn(form, second, true, x, &backward, merges ? &y : &back, stride,
                    merges ? kUnits : 0);
            expect_near(step(x), y);
            if (!merges) expect_near(values_of_output(1), back);
        }
    }
}

TEST_F(TfliteRecurrentTest, Svdf)
{
    constexpr size_t kRank = 2, kFilters = kUnits * kRank, kAges = 3;
    LstmForm form = form_of("svdf");
    form.is_one_step = true;
    Numbers numbers;
    const Matrix features = {numbers.make(kFilters * kTaken), kTaken};
    const Matrix times = {numbers.make(kFilters * kAges), kAges};
    const Doubles bias = numbers.make(kUnits);
    TfliteModel model = begin_layer(form, kSvdf);
    add_operand(model, {int32_t(kFilters), int32_t(kTaken)}, features.values);
    add_operand(model, {int32_t(kFilters), int32_t(kAges)}, times.values);
    add_operand(model, {int32_t(kUnits)}, bias);
    add_state(model, kFilters * kAges);
    model.operators[0].options = {{0, 4, int32_t(kRank), {}}, {1, 1, kReluAct, {}}};
    add_output(model, form, kUnits);
    ASSERT_TRUE(begin(model)) << get_tengine_error();
    std::vector<Doubles> last(kBatch * kFilters, Doubles(kAges));
    for (int run = 0; run < 5; ++run) {
        const std::vector<float> x = make_input(numbers, form);
        std::vector<float> y(kBatch * kUnits);
        for (size_t batch = 0; batch < kBatch; ++batch)
            for (size_t unit = 0; unit < kUnits; ++unit) {
                const Doubles input(x.begin() + static_cast<int64_t>(batch * kTaken),
                                    x.begin() + static_cast<int64_t>((batch + 1) * kTaken));
                double sum = bias[unit];
                for (size_t filter = unit * kRank; filter < (unit + 1) * kRank; ++filter) {
                    Doubles& kept = last[batch * kFilters + filter];
                    kept.erase(kept.begin());
                    kept.push_back(features.row_times(filter, input.data()));
                    sum += times.row_times(filter, kept.data());
                }
                y[batch * kUnits + unit] = static_cast<float>(std::max(sum, 0.0));
            }
        expect_near(step(x), y);
    }
}

}  // namespace
}  // namespace tengine::test
