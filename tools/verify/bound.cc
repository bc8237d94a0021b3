// SPDX-License-Identifier: Apache-2.0
#include "verify/bound.h"

#include <algorithm>
#include <cmath>

#include "tengine/inspect.h"
#include "text.h"

namespace tengine::tools {
double unit_of(int data_type)
{
    switch (data_type) {
        case TENGINE_DT_FP32:
            return std::ldexp(1, -24);
        case TENGINE_DT_FP16:
            return std::ldexp(1, -11);
        case TENGINE_DT_BF16:
            return std::ldexp(1, -8);
        case TENGINE_DT_FP64:
            return std::ldexp(1, -53);
        default:
            return 0;
    }
}

namespace {

// Below this the distance of neighbours does not become smaller; bf16 and fp32 may lack subnormal
// numbers.
double smallest_of(int data_type)
{
    switch (data_type) {
        case TENGINE_DT_FP16:
            return std::ldexp(1, -24);
        case TENGINE_DT_FP64:
            return std::ldexp(1, -1022);
        default:
            return std::ldexp(1, -126);
    }
}

// Accumulators are in fp32 at least, except those of fp16, for which some machines have no other,
// and those of a few tensors, which are added one after the other.
double sum_unit_of(const std::string& op, int data_type)
{
    const bool is_wide = data_type == TENGINE_DT_BF16 && op != "Sum" && op != "Mean";
    return is_wide ? unit_of(TENGINE_DT_FP32) : unit_of(data_type);
}

// Rounding errors of n additions: n units at worst. They are independent, so that an error above
// six times their deviation is not expected.
double count_units(int64_t terms)
{
    const auto number = static_cast<double>(std::max<int64_t>(terms, 1));
    return std::min(number, 6 * std::sqrt(number));
}

// Functions consist of about ten operations.
constexpr double kFunctionUnits = 16;
// The operations around sums: a division, a root, an exponential.
constexpr double kNormUnits = 32;
// The units of F(6x6), see the option CPU.winograd in docs/options.md: 12 times 4.
constexpr double kWinogradUnits = 48;

struct Scale
{
    double largest = 0;
    double deviation = 0;  // root of the mean square
};

Scale measure(const Tensor& wanted)
{
    Scale scale;
    double squares = 0;
    size_t number = 0;
    for (size_t i = 0; i < wanted.element_number(); ++i) {
        const double value = std::fabs(get_element(wanted, i));
        if (!std::isfinite(value)) continue;
        scale.largest = std::max(scale.largest, value);
        squares += value * value;
        ++number;
    }
    if (number > 0) scale.deviation = std::sqrt(squares / static_cast<double>(number));
    return scale;
}

bool may_be_winograd(const Case& of)
{
    if (of.op != "Conv" || of.inputs[1].dims.size() != 4) return false;
    return of.inputs[1].dims[2] == 3 && of.inputs[1].dims[3] == 3;
}

// The bound of one element.
class Bound
{
  public:
    Bound(const Case& of, Rule rule, int type, int64_t terms, const Expected& expected,
          size_t output)
        : rule_(rule),
          unit_(unit_of(type)),
          smallest_(smallest_of(type)),
          wanted_(&expected.outputs[output])
    {
        const Scale scale = measure(*wanted_);
        if (rule == Rule::kSum) {
            // One more for a bias.
            factor_ = count_units(terms + 1) * sum_unit_of(of.op, type);
            addend_ = &expected.magnitudes[output];
            if (may_be_winograd(of) && type == TENGINE_DT_FP32)
                constant_ = kWinogradUnits * unit_ * std::sqrt(static_cast<double>(terms)) *
                            scale.deviation;
        } else if (rule == Rule::kFunction) {
            factor_ = kFunctionUnits * sum_unit_of(of.op, type);
            addend_ = &expected.conditions[output];
        } else if (rule == Rule::kNorm) {
            constant_ = (kNormUnits + count_units(terms)) * unit_ * scale.largest;
        }
    }

    double at(size_t index) const
    {
        if (rule_ == Rule::kExact) return 0;
        const double size = std::fabs(get_element(*wanted_, index));
        const double own = rule_ == Rule::kFunction ? kFunctionUnits : 1;
        // A thousandth more for terms of higher order.
        const double rounding = 1.001 * own * unit_ * size;
        const double addend = addend_ ? factor_ * std::fabs(get_element(*addend_, index)) : 0;
        return rounding + addend + constant_ + smallest_;
    }

  private:
    Rule rule_;
    double unit_;
    double smallest_;
    const Tensor* wanted_;
    const Tensor* addend_ = nullptr;  // relative to these
    double factor_ = 0;
    double constant_ = 0;
};

std::string place_text(const Tensor& tensor, size_t index)
{
    std::vector<size_t> place(tensor.shape.size());
    for (size_t axis = place.size(); axis-- > 0;) {
        const auto dim = static_cast<size_t>(tensor.shape[axis]);
        place[axis] = index % dim;
        index /= dim;
    }
    std::string text;
    for (const size_t each : place)
        text += (text.empty() ? "" : ",") + std::to_string(each);
    return "[" + text + "]";
}

void note_worst(const Tensor& got, const Tensor& wanted, size_t output, size_t index, double share,
                double bound, Agreement* agreement)
{
    if (share <= agreement->error && !(share > 1 && agreement->agrees)) return;
    agreement->error = std::max(share, agreement->error);
    agreement->agrees = agreement->agrees && share <= 1;
    if (share <= 1) return;
    agreement->detail = "output " + std::to_string(output) + " at " + place_text(got, index) +
                        " is " + number_text(get_element(got, index)) + ", expected " +
                        number_text(get_element(wanted, index)) + " within " + number_text(bound);
}

void compare_elements(const Case& of, Rule rule, int type, int64_t terms, const Expected& expected,
                      const Tensor& got, size_t output, Agreement* agreement)
{
    const Tensor& wanted = expected.outputs[output];
    const Bound bound(of, rule, type, terms, expected, output);
    for (size_t i = 0; i < got.element_number(); ++i) {
        const double ours = get_element(got, i), exact = get_element(wanted, i);
        if (ours == exact || (std::isnan(ours) && std::isnan(exact))) continue;
        const double limit = bound.at(i);
        const double difference = std::fabs(ours - exact);
        const double share =
            !std::isfinite(difference) || limit == 0 ? HUGE_VAL : difference / limit;
        note_worst(got, wanted, output, i, share, limit, agreement);
    }
}

// The number of `number` results that may differ by a step. A requantisation that rounds twice, to
// at least 7 bits below the step first, is off where the exact value is within 2^-8 steps of the
// middle of two; four times the deviation of that number on top.
double count_steps(size_t number)
{
    const double expected = static_cast<double>(number) / 128;
    return 1 + expected + 4 * std::sqrt(expected);
}

void compare_steps(const Tensor& got, const Tensor& wanted, size_t output, Agreement* agreement)
{
    size_t differing = 0;
    for (size_t i = 0; i < got.element_number(); ++i) {
        const double difference = std::fabs(get_element(got, i) - get_element(wanted, i));
        differing += difference != 0;
        if (difference > 1) note_worst(got, wanted, output, i, difference, 1, agreement);
    }
    const double limit = count_steps(got.element_number());
    const double share = static_cast<double>(differing) / limit;
    agreement->error = std::max(agreement->error, share);
    if (share <= 1 || !agreement->agrees) return;
    agreement->agrees = false;
    agreement->detail = "output " + std::to_string(output) + ": " + std::to_string(differing) +
                        " of " + std::to_string(got.element_number()) +
                        " results are a step off, at most " + decimal_text(limit, 1) +
                        " are expected";
}

// Rounding errors have both signs equally often; results that are all too large by a factor, even
// one below their rounding, do not. `deviation` is an upper estimate of that of a single error.
// Equal results, as those of an even background, have one error: they are not independent.
void compare_factor(const std::string& op, int type, int64_t terms, const Tensor& got,
                    const Tensor& wanted, size_t output, Agreement* agreement)
{
    const double unit = unit_of(type), sum_unit = sum_unit_of(op, type);
    const double size = measure(wanted).deviation;
    const double inner = std::sqrt(static_cast<double>(std::max<int64_t>(terms, 1))) * sum_unit;
    double products = 0, squares = 0, variance = 0;
    std::vector<double> results;
    results.reserve(got.element_number());
    for (size_t i = 0; i < got.element_number(); ++i) {
        const double exact = get_element(wanted, i), error = get_element(got, i) - exact;
        if (!std::isfinite(error)) return;
        products += error * exact;
        squares += exact * exact;
        results.push_back(exact);
    }
    std::sort(results.begin(), results.end());
    for (size_t i = 0, end; i < results.size(); i = end) {
        const double exact = results[i];
        for (end = i + 1; end < results.size() && results[end] == exact;)
            ++end;
        const double number = static_cast<double>(end - i);
        const double deviation = number * exact * (unit * std::fabs(exact) + inner * size);
        variance += deviation * deviation;
    }
    if (squares == 0) return;
    const double factor = products / squares;
    const double limit = 5 * std::sqrt(variance) / squares;
    const double share = std::fabs(factor) / limit;
    agreement->error = std::max(agreement->error, share);
    if (share <= 1 || !agreement->agrees) return;
    agreement->agrees = false;
    agreement->detail = "output " + std::to_string(output) + " is " + number_text(1 + factor) +
                        " times the expected one, within " + number_text(limit);
}

bool is_moved_only(int data_type)
{
    return data_type == TENGINE_DT_STRING || is_complex(data_type);
}

std::string moved_text(const Tensor& tensor, size_t index)
{
    return is_complex(tensor.data_type) ? complex_text(get_complex(tensor, index))
                                        : "'" + tensor.texts[index] + "'";
}

// Strings, and the bits of complex numbers.
void compare_moved(const Tensor& got, const Tensor& wanted, size_t output, Agreement* agreement)
{
    const size_t number = got.element_number();
    const size_t size = number > 0 ? got.bytes.size() / number : 0;
    for (size_t i = 0; i < number; ++i) {
        const bool is_same = got.texts.empty() ? std::equal(got.bytes.begin() + i * size,
                                                            got.bytes.begin() + (i + 1) * size,
                                                            wanted.bytes.begin() + i * size)
                                               : got.texts[i] == wanted.texts[i];
        if (is_same) continue;
        *agreement = {false, HUGE_VAL,
                      "output " + std::to_string(output) + " at " + place_text(got, i) + " is " +
                          moved_text(got, i) + ", expected " + moved_text(wanted, i)};
        return;
    }
}

// A Resize without interpolation.
bool moves_pixels(const Case& of)
{
    for (const auto& [key, value] : of.texts)
        if (of.op == "Resize" && key == "mode") return value == "nearest";
    return false;
}

// A Resize of int8 or uint8 that interpolates: a quantised result, which devices may round
// differently.
bool mixes_bytes(const Case& of, const Tensor& output)
{
    return of.op == "Resize" && !moves_pixels(of) && !is_floating(output.data_type);
}

// The reason why the output cannot be compared, "" if it can.
std::string find_mismatch(const Tensor& got, const Tensor& wanted, size_t output)
{
    const std::string name = "output " + std::to_string(output);
    if (got.shape != wanted.shape)
        return name + " is " + shape_text(got.shape) + ", expected " + shape_text(wanted.shape);
    const bool is_same_kind = is_floating(got.data_type) == is_floating(wanted.data_type);
    if (!is_same_kind || (!is_floating(got.data_type) && got.data_type != wanted.data_type))
        return name + " is " + tengine_data_type_get_name(got.data_type) + ", expected " +
               tengine_data_type_get_name(wanted.data_type);
    return "";
}

}  // namespace

int64_t count_terms(const std::string& op, const Tensor& output, int64_t largest_input,
                    int64_t mac_number)
{
    const auto results = static_cast<int64_t>(output.element_number());
    if (results == 0) return 1;
    const int64_t terms = std::max({int64_t{1}, mac_number / results, largest_input / results});
    if (rule_of(op) != Rule::kNorm || output.shape.empty()) return terms;
    return std::max<int64_t>(terms, *std::max_element(output.shape.begin(), output.shape.end()));
}

Agreement compare(const Case& of, int value_type, int64_t terms, const Expected& expected,
                  const std::vector<Tensor>& outputs)
{
    Agreement agreement;
    const Rule rule = moves_pixels(of) ? Rule::kExact : rule_of(of.op);
    for (size_t i = 0; i < outputs.size(); ++i) {
        const Tensor& got = outputs[i];
        const Tensor& wanted = expected.outputs[i];
        const std::string mismatch = find_mismatch(got, wanted, i);
        if (!mismatch.empty()) return {false, HUGE_VAL, mismatch};
        const bool is_float = is_floating(got.data_type);
        if (rule == Rule::kRandom) continue;
        if (is_moved_only(got.data_type)) {
            compare_moved(got, wanted, i, &agreement);
            continue;
        }
        if (!is_float && (rule == Rule::kSteps || mixes_bytes(of, got))) {
            compare_steps(got, wanted, i, &agreement);
            continue;
        }
        const Rule used = is_float ? (rule == Rule::kSteps ? Rule::kNorm : rule) : Rule::kExact;
        const int type = unit_of(got.data_type) > unit_of(value_type) ? got.data_type : value_type;
        compare_elements(of, used, type, terms, expected, got, i, &agreement);
        const bool is_coarse = type == TENGINE_DT_FP16 || type == TENGINE_DT_BF16;
        if (used == Rule::kSum && is_coarse)
            compare_factor(of.op, type, terms, got, wanted, i, &agreement);
    }
    return agreement;
}

}  // namespace tengine::tools
