// SPDX-License-Identifier: Apache-2.0
#include "optimizer/pass/contraction_order.h"

#include <limits>

namespace tengine {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr size_t kMostSearched = 8;  // operands for an exhaustive search

int count_labels(Labels labels)
{
    return __builtin_popcountll(labels);
}

// The terms that remain, by their number.
struct Terms
{
    const Contraction& of;
    Vector<Labels> labels;
    Vector<int> numbers;
    int next;  // the number of the next product

    explicit Terms(const Contraction& contraction)
        : of(contraction), labels(contraction.terms), next(static_cast<int>(labels.size()))
    {
        for (int i = 0; i < next; ++i)
            numbers.push_back(i);
    }

    double work(Labels a, Labels b) const
    {
        double product = 1;
        for (size_t i = 0; i < of.sizes.size(); ++i)
            if ((a | b) >> i & 1) product *= of.sizes[i];
        return product;
    }
    Labels wanted_without(size_t a, size_t b) const
    {
        Labels wanted = of.output;
        for (size_t i = 0; i < labels.size(); ++i)
            if (i != a && i != b) wanted |= labels[i];
        return wanted;
    }
    void join(size_t a, size_t b, Vector<std::pair<int, int>>* out_pairs)
    {
        const Labels kept = keep_labels(labels[a], labels[b], wanted_without(a, b));
        out_pairs->emplace_back(numbers[a], numbers[b]);
        labels[a] = kept;
        numbers[a] = next++;
        labels.erase(labels.begin() + static_cast<ptrdiff_t>(b));
        numbers.erase(numbers.begin() + static_cast<ptrdiff_t>(b));
    }
};

// Joins the two whose product is the cheapest.
bool join_cheapest(Terms& terms, Vector<std::pair<int, int>>* out_pairs)
{
    double least = kNever;
    size_t first = 0, second = 0;
    for (size_t a = 0; a < terms.labels.size(); ++a)
        for (size_t b = a + 1; b < terms.labels.size(); ++b) {
            const Labels kept =
                keep_labels(terms.labels[a], terms.labels[b], terms.wanted_without(a, b));
            const double work = terms.work(terms.labels[a], terms.labels[b]);
            if (count_labels(kept) > terms.of.most_kept || work >= least) continue;
            least = work;
            first = a;
            second = b;
        }
    if (least == kNever) return false;
    terms.join(first, second, out_pairs);
    return true;
}

// The cheapest tree over every set of terms, from the small ones to all; a set is a number whose
// bits are the terms.
class OrderSearch
{
  public:
    explicit OrderSearch(const Terms& terms)
        : terms_(terms),
          labels_(size_t{1} << terms.labels.size(), 0),
          work_(labels_.size(), kNever),
          first_(labels_.size(), 0)
    {
        for (size_t set = 1; set < labels_.size(); ++set) {
            labels_[set] = find_labels(set);
            if ((set & (set - 1)) == 0)
                work_[set] = 0;
            else if (count_labels(labels_[set]) <= terms.of.most_kept)
                divide(set);
        }
    }
    bool is_possible() const { return work_.back() < kNever; }

    // Appends the pairs of `set` and returns the number of its product.
    int list(size_t set, int* next, Vector<std::pair<int, int>>* out_pairs) const
    {
        if (first_[set] == 0) return terms_.numbers[static_cast<size_t>(__builtin_ctzll(set))];
        const int a = list(first_[set], next, out_pairs);
        const int b = list(set ^ first_[set], next, out_pairs);
        out_pairs->emplace_back(a, b);
        return (*next)++;
    }

  private:
    Labels find_labels(size_t set) const
    {
        Labels inside = 0, wanted = terms_.of.output;
        for (size_t i = 0; i < terms_.labels.size(); ++i)
            (set >> i & 1 ? inside : wanted) |= terms_.labels[i];
        // The labels that only a single term has were summed before, so it keeps the others.
        return inside & wanted;
    }
    void divide(size_t set)
    {
        for (size_t part = (set - 1) & set; part > (set ^ part); part = (part - 1) & set) {
            const size_t rest = set ^ part;
            const double work =
                work_[part] + work_[rest] + terms_.work(labels_[part], labels_[rest]);
            if (work >= work_[set]) continue;
            work_[set] = work;
            // The term that comes first in the equation stays first.
            first_[set] = part & set & (~set + 1) ? part : rest;
        }
    }

    const Terms& terms_;
    Vector<Labels> labels_;
    Vector<double> work_;
    Vector<size_t> first_;  // the subset that has the first term of a set; 0: a single term
};

}  // namespace

bool find_contraction_order(const Contraction& contraction, Vector<std::pair<int, int>>* out_pairs)
{
    Terms terms(contraction);
    while (terms.labels.size() > kMostSearched)
        if (!join_cheapest(terms, out_pairs)) return false;
    const OrderSearch search(terms);
    if (!search.is_possible()) return false;
    int next = terms.next;
    search.list((size_t{1} << terms.labels.size()) - 1, &next, out_pairs);
    return true;
}

}  // namespace tengine
