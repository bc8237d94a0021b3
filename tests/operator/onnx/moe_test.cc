// SPDX-License-Identifier: Apache-2.0
// MoE of ONNX Runtime against its definition, written out for one token after the other.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "node_case.h"

namespace tengine::test {
namespace {

using Dims = std::vector<int>;
using Floats = std::vector<float>;

constexpr int kTokens = 5, kExperts = 4, kHidden = 3, kInner = 2;

struct Case
{
    std::string activation;
    int chosen = 1;
    bool normalizes = false;
    int fusion = 0;
    bool has_bias = true, has_third = false;

    int rows() const { return fusion != 0 ? 2 * kInner : kInner; }
};

double sigmoid(double x)
{
    return 1 / (1 + std::exp(-x));
}

// With alpha 1.5, beta 0.5 and the limit 1.25.
double swiglu(double gate, double linear)
{
    gate = std::min(gate, 1.25);
    return gate * sigmoid(1.5 * gate) * (std::clamp(linear, -1.25, 1.25) + 0.5);
}

double activate(const std::string& name, double x)
{
    if (name == "relu") return std::max(x, 0.0);
    if (name == "silu") return x * sigmoid(x);
    if (name == "gelu")
        return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * std::pow(x, 3))));
    return x;
}

size_t at(int index)
{
    return static_cast<size_t>(index);
}

class Network
{
  public:
    explicit Network(const Case& c)
        : case_(c),
          input_(make_pattern(at(kTokens * kHidden), 1)),
          router_(make_pattern(at(kTokens * kExperts), 2)),
          first_(make_pattern(at(kExperts * c.rows() * kHidden), 3)),
          first_bias_(make_pattern(at(kExperts * c.rows()), 4)),
          second_(make_pattern(at(kExperts * kHidden * kInner), 5)),
          second_bias_(make_pattern(at(kExperts * kHidden), 6)),
          third_(make_pattern(at(kExperts * kInner * kHidden), 7)),
          third_bias_(make_pattern(at(kExperts * kInner), 8))
    {
    }

    NodeCase make(const Dims& dims) const
    {
        NodeCase made("com.microsoft.MoE");
        made.values(dims, input_).values({kTokens, kExperts}, router_);
        made.values({kExperts, case_.rows(), kHidden}, first_);
        add_bias(made, {kExperts, case_.rows()}, first_bias_);
        made.values({kExperts, kHidden, kInner}, second_);
        add_bias(made, {kExperts, kHidden}, second_bias_);
        if (case_.has_third) {
            made.values({kExperts, kInner, kHidden}, third_);
            add_bias(made, {kExperts, kInner}, third_bias_);
        }
        made.text("activation_type", case_.activation).number("k", case_.chosen);
        made.number("normalize_routing_weights", case_.normalizes);
        made.number("swiglu_fusion", case_.fusion);
        if (case_.activation == "swiglu")
            made.real("activation_alpha", 1.5f)
                .real("activation_beta", 0.5f)
                .real("swiglu_limit", 1.25f);
        return made;
    }

    Floats run() const
    {
        Floats results;
        for (int token = 0; token < kTokens; ++token) {
            double sums[kHidden] = {};
            double total = 0;
            const std::vector<int> chosen = choose(token);
            for (int expert = 0; expert < kExperts; ++expert)
                if (!case_.normalizes ||
                    std::find(chosen.begin(), chosen.end(), expert) != chosen.end())
                    total += std::exp(double{router_[at(token * kExperts + expert)]});
            for (const int expert : chosen)
                for (int row = 0; row < kHidden; ++row)
                    sums[row] += std::exp(double{router_[at(token * kExperts + expert)]}) / total *
                                 second(token, expert, row);
            results.insert(results.end(), sums, sums + kHidden);
        }
        return results;
    }

  private:
    void add_bias(NodeCase& made, const Dims& dims, const Floats& values) const
    {
        case_.has_bias ? made.values(dims, values) : made.absent();
    }
    std::vector<int> choose(int token) const
    {
        std::vector<int> order(kExperts);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
            return router_[at(token * kExperts + a)] > router_[at(token * kExperts + b)];
        });
        order.resize(at(case_.chosen));
        return order;
    }
    double product(const Floats& weights, const Floats& bias, int row, int token) const
    {
        double sum = case_.has_bias ? bias[at(row)] : 0;
        for (int i = 0; i < kHidden; ++i)
            sum += double{weights[at(row * kHidden + i)]} * double{input_[at(token * kHidden + i)]};
        return sum;
    }
    double inner(int token, int expert, int i) const
    {
        const int begin = expert * case_.rows();
        const auto row = [&](int index) {
            return product(first_, first_bias_, begin + index, token);
        };
        if (case_.fusion == 1) return swiglu(row(2 * i), row(2 * i + 1));
        if (case_.fusion == 2) return swiglu(row(i), row(kInner + i));
        const double third =
            case_.has_third ? product(third_, third_bias_, expert * kInner + i, token) : 1;
        return case_.activation == "swiglu" ? swiglu(row(i), third)
                                            : activate(case_.activation, row(i)) * third;
    }
    double second(int token, int expert, int row) const
    {
        const int at_row = expert * kHidden + row;
        double sum = case_.has_bias ? second_bias_[at(at_row)] : 0;
        for (int i = 0; i < kInner; ++i)
            sum += double{second_[at(at_row * kInner + i)]} * inner(token, expert, i);
        return sum;
    }

    const Case& case_;
    const Floats input_, router_, first_, first_bias_, second_, second_bias_, third_, third_bias_;
};

TEST(MixtureOfExperts, IsItsDefinition)
{
    const Case cases[] = {{"relu"},
                          {"relu", 2, false, 0, false},
                          {"gelu", 2},
                          {"silu", 3, true},
                          {"silu", 2, true, 0, true, true},
                          {"identity", 4},
                          {"swiglu", 2, true, 1},
                          {"swiglu", 1, false, 2, false},
                          {"swiglu", 2, false, 0, true, true}};
    for (const Case& c : cases) {
        SCOPED_TRACE(c.activation + std::to_string(c.chosen) + std::to_string(c.fusion));
        const Network network(c);
        network.make({kTokens, kHidden}).expect(network.run(), 2e-5f);
        NodeCase sequence = network.make({1, kTokens, kHidden});
        EXPECT_EQ(dims_of(sequence.evaluate()), (Dims{1, kTokens, kHidden}));
        sequence.expect(network.run(), 2e-5f);
    }
}

TEST(MixtureOfExperts, RefusesWhatDoesNotFit)
{
    const Case relu = {"relu"}, gated = {"swiglu"}, twice = {"swiglu", 1, false, 1, true, true};
    const Case many = {"relu", kExperts + 1};
    Network(relu).make({kHidden, kTokens}).expect_failure(TENGINE_EINVAL, "expected experts");
    Network(relu)
        .make({kTokens, kHidden})
        .number("use_sparse_mixer", 1)
        .expect_failure(TENGINE_ENOTSUP,
                        "use_sparse_mixer is 1, expected 0: its router is not supported");
    Network(gated)
        .make({kTokens, kHidden})
        .expect_failure(TENGINE_EINVAL, "swiglu needs fc3_experts_weights");
    Network(twice)
        .make({kTokens, kHidden})
        .expect_failure(TENGINE_EINVAL, "fc3_experts_weights exists, but swiglu_fusion is 1");
    Network(many)
        .make({kTokens, kHidden})
        .expect_failure(TENGINE_EINVAL, "k is 5, there are 4 experts");
}

}  // namespace
}  // namespace tengine::test
