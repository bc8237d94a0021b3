// SPDX-License-Identifier: Apache-2.0
// Calls of DelegateModel::Replace that would break the model are refused, with a message.
#include <utility>

#include "delegate_fixture.h"

namespace tengine {
namespace {

// A Replace that breaks a rule has no effect, and the message names the rule.
class BadReplace : public DelegateTest
{
  protected:
    using Move = std::function<KernelIter(DelegateModel*)>;

    void expect(const Move& move, const std::string& sentence)
    {
        test().build = [&](DelegateModel* model) {
            const auto before = model->EndKernelIterator() - model->BeginKernelIterator();
            EXPECT_EQ(move(model), model->BeginKernelIterator());
            EXPECT_EQ(model->EndKernelIterator() - model->BeginKernelIterator(), before);
            return delegate::kSuccess;
        };
        ASSERT_TRUE(build({"Relu", "Add", "Mul"}));
        EXPECT_EQ(places(), Names(3, "CPU: Build: Replace: " + sentence));
        EXPECT_TRUE(computes());
    }

    // Makes a kernel with the inputs of one entry and the outputs of another.
    delegate::kernel::Kernel* make(const std::vector<MSTensor>& inputs,
                                   const std::vector<MSTensor>& outputs)
    {
        struct Other : delegate::kernel::Kernel
        {
            using Kernel::Kernel;
            int Prepare() override { return 0; }
            int Execute() override { return 0; }
            int ReSize() override { return 0; }
        };
        return new Other(inputs, outputs, nullptr, nullptr);
    }
};

TEST_F(BadReplace, OfNoEntries)
{
    expect(
        [&](DelegateModel* model) {
            const KernelIter begin = model->BeginKernelIterator();
            return model->Replace(begin + 2, begin + 1, make({}, {}));
        },
        "entries 2 to 1 are not some of the model's 3");
    expect(
        [&](DelegateModel* model) {
            const KernelIter begin = model->BeginKernelIterator();
            return model->Replace(begin, begin, make({}, {}));
        },
        "entries 0 to 0 are not some of the model's 3");
    expect(
        [&](DelegateModel* model) {
            return model->Replace(model->BeginKernelIterator(), model->EndKernelIterator() + 1,
                                  make({}, {}));
        },
        "entries 0 to 4 are not some of the model's 3");
}

TEST_F(BadReplace, ByNothing)
{
    expect(
        [&](DelegateModel* model) {
            const KernelIter begin = model->BeginKernelIterator();
            return model->Replace(begin, begin + 1, nullptr);
        },
        "the kernel is nullptr");
    expect(
        [&](DelegateModel* model) {
            const KernelIter begin = model->BeginKernelIterator();
            return model->Replace(begin, begin + 1, *begin);
        },
        "kernel 'n0' is in the model already");
}

TEST_F(BadReplace, OfEntriesThatWereMoved)
{
    delegate::kernel::Kernel* stranger = nullptr;
    expect(
        [&](DelegateModel* model) {
            const KernelIter begin = model->BeginKernelIterator();
            std::swap(begin[0], begin[1]);
            const KernelIter result = model->Replace(begin, begin + 2, make({}, {}));
            std::swap(begin[0], begin[1]);
            return result;
        },
        "entry 1, 'n0', is not where it was");
    expect(
        [&](DelegateModel* model) {
            const KernelIter begin = model->BeginKernelIterator();
            stranger = make({}, {});
            std::swap(begin[0], stranger);
            const KernelIter result = model->Replace(begin, begin + 1, make({}, {}));
            std::swap(begin[0], stranger);
            delete stranger;
            return result;
        },
        "entry 0 is not one of the model's");
}

TEST_F(BadReplace, ThatWouldMakeACycle)
{
    expect(
        [&](DelegateModel* model) {
            const KernelIter begin = model->BeginKernelIterator();
            return model->Replace(begin, begin + 1, make(begin[2]->outputs(), begin[0]->outputs()));
        },
        "the kernel reads 'y', which is computed after it: a cycle");
    expect(
        [&](DelegateModel* model) {
            const KernelIter begin = model->BeginKernelIterator();
            return model->Replace(begin, begin + 2, make(begin[0]->outputs(), begin[1]->outputs()));
        },
        "the kernel reads 'n0', which it computes");
}

TEST_F(BadReplace, ThatLeavesReadersWithoutATensor)
{
    expect(
        [&](DelegateModel* model) {
            const KernelIter begin = model->BeginKernelIterator();
            return model->Replace(begin, begin + 2, make(begin[0]->inputs(), {}));
        },
        "the kernel does not write 'n1', which others read");
    expect(
        [&](DelegateModel* model) {
            const KernelIter begin = model->BeginKernelIterator();
            return model->Replace(begin, begin + 1, make({}, begin[1]->outputs()));
        },
        "the kernel writes 'n1', which none of its nodes does");
    expect(
        [&](DelegateModel* model) {
            const KernelIter begin = model->BeginKernelIterator();
            return model->Replace(begin, begin + 1, make({MSTensor()}, begin[0]->outputs()));
        },
        "the kernel reads an empty MSTensor, not a tensor of the model");
    expect(
        [&](DelegateModel* model) {
            const KernelIter begin = model->BeginKernelIterator();
            return model->Replace(begin, begin + 1, make({}, {MSTensor()}));
        },
        "the kernel writes an empty MSTensor, not a tensor of the model");
}

}  // namespace
}  // namespace tengine
