// SPDX-License-Identifier: Apache-2.0
// Random graphs on devices that misbehave at random: every run has the results of the default
// device alone.
#include <gtest/gtest.h>
#include <memory>
#include <random>

#include "graph/graph.h"
#include "scheduler/fixture.h"
#include "scheduler/watchdog.h"

namespace {

using namespace tengine::test;

constexpr int kRuns = 12;
constexpr int kSize = 5;

class Trial
{
  public:
    explicit Trial(unsigned seed) : random_(seed) {}

    void build(Session& session, unsigned seed)
    {
        std::mt19937 random(seed);  // the same graph for both sessions
        IrBuilder& builder = session.builder();
        std::vector<std::string> values = {"x"};
        builder.input("x", {kSize});
        const int length = 5 + static_cast<int>(random() % 25);
        for (int i = 0; i < length; ++i) {
            static const char* const ops[] = {"Neg", "Abs", "Relu", "Sigmoid", "Add"};
            const std::string op = ops[random() % 5];
            std::vector<std::string> inputs = {values[random() % values.size()]};
            if (op == "Add") inputs.push_back(values[random() % values.size()]);
            values.push_back("t" + std::to_string(i));
            builder.add(op, inputs, {values.back()});
        }
        builder.outputs({values.back(), values[values.size() / 2]});
        outputs_ = {values.back(), values[values.size() / 2]};
    }

    void misbehave(TestDevice& device)
    {
        if (pick(2)) device.use_async();
        if (pick(2)) device.script.max_nodes = 1 + pick(4);
        if (pick(3) == 0) device.script.cannot_compile = pick(2) ? "Neg" : "Relu";
        if (pick(4) == 0) device.script.status = pick(2) ? 3 : -12345;
        if (pick(2))
            device.script.fail_run = 1 + pick(40);
        else if (pick(2))
            device.fail_run = true;
        device.script.hang_ms = pick(3) == 0 ? 20 : 0;
        device.script.hang_run = 1 + pick(20);
    }

    // Returns the results of all runs, `frames` of them in flight at a time; 0: one after the
    // other.
    std::vector<Floats> run(Session& session, int frames)
    {
        std::vector<Floats> results;
        EXPECT_EQ(session.prerun(), TENGINE_OK) << tengine_error_message();
        for (int i = 0; i < kRuns + frames; ++i) {
            if (frames > 0 && i >= frames) {
                EXPECT_EQ(session.wait(), 1) << tengine_error_message();
                read(session, &results);
            }
            if (i >= kRuns) continue;
            session.feed("x", make_input(i));
            EXPECT_EQ(session.run(frames == 0), TENGINE_OK) << tengine_error_message();
            if (frames == 0) read(session, &results);
        }
        return results;
    }

    int pick(int number) { return static_cast<int>(random_() % static_cast<unsigned>(number)); }

  private:
    static Floats make_input(int run)
    {
        Floats input(kSize);
        for (int i = 0; i < kSize; ++i)
            input[static_cast<size_t>(i)] = static_cast<float>((run * 7 + i * 3) % 11 - 5) / 4;
        return input;
    }

    void read(Session& session, std::vector<Floats>* out_results)
    {
        for (const std::string& name : outputs_)
            out_results->push_back(session.read(name));
    }

    std::mt19937 random_;
    std::vector<std::string> outputs_;
};

TEST(RandomFault, ResultsAreAlwaysRight)
{
    const LogCapture log;
    for (unsigned seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(seed);
        Trial trial(seed);
        Session alone({});
        trial.build(alone, seed);
        const std::vector<Floats> expected = trial.run(alone, 0);

        TestDevice a("A", {"Neg", "Abs"}), b("B", {"Relu", "Neg"});
        trial.misbehave(a);
        trial.misbehave(b);
        Session session({&a, &b});
        trial.build(session, seed);
        if (trial.pick(2)) session.set("run.watchdog_ms", "8");
        const int frames = trial.pick(4);
        session.set("scheduler", frames > 0 ? "pipeline" : "sync");
        if (frames > 0) session.set("pipeline.frames", std::to_string(frames).c_str());
        for (int round = 0; round < 2; ++round)
            ASSERT_EQ(trial.run(session, frames), expected) << "round " << round;
    }
    EXPECT_GT(log.count("told to fail; CPU runs the part"), 0);
    EXPECT_GT(log.count("it returned"), 0);
    EXPECT_GT(log.count("no return within 8 ms"), 0);
}

}  // namespace
