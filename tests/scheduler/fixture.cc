// SPDX-License-Identifier: Apache-2.0
#include "scheduler/fixture.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "base/log.h"
#include "graph/graph.h"
#include "graph/option.h"

namespace tengine::test {
namespace {

std::mutex log_mutex;
std::vector<std::string> log_lines;

void keep_line(const char* line)
{
    const std::lock_guard<std::mutex> lock(log_mutex);
    log_lines.emplace_back(line);
}

}  // namespace

testing::AssertionResult says(const std::string& part)
{
    const std::string sentence = tengine_error_message();
    if (sentence.find(part) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "'" << part << "' is not in '" << sentence << "'";
}

LogCapture::LogCapture()
{
    log_lines.clear();
    set_log_sink(keep_line);
}

LogCapture::~LogCapture()
{
    set_log_sink(nullptr);
}

int LogCapture::count(const std::string& part) const
{
    const std::lock_guard<std::mutex> lock(log_mutex);
    return static_cast<int>(std::count_if(
        log_lines.begin(), log_lines.end(),
        [&](const std::string& line) { return line.find(part) != std::string::npos; }));
}

Session::Session(std::initializer_list<TestDevice*> devices)
    : context_(create_ir_context("test"), destroy_ir_context)
{
    for (TestDevice* device : devices)
        EXPECT_EQ(add_ir_context_device(context_.get(), device->get(), nullptr, 0), TENGINE_OK);
    builder_ = std::make_unique<IrBuilder>(context_.get());
}

void Session::set(const char* key, const char* value)
{
    EXPECT_EQ(set_ir_context_option(context_.get(), key, value), TENGINE_OK)
        << tengine_error_message();
}

void Session::set_default(const char* key, const char* value)
{
    struct device* device = find_default_device();
    if (!find_ir_context_device(context_.get(), device)) {
        EXPECT_EQ(add_ir_context_device(context_.get(), device, nullptr, 0), TENGINE_OK);
    }
    EXPECT_EQ(set_ir_context_device_option(context_.get(), device, key, value), TENGINE_OK)
        << tengine_error_message();
}

void Session::feed(const std::string& name, Floats data)
{
    Floats& kept = fed_[name];
    kept = std::move(data);
    set_ir_tensor_data(at(name), kept.data(), false);
}

Floats Session::read(const std::string& name)
{
    const tensor* wanted = at(name);
    if (!wanted->data) {
        ADD_FAILURE() << name << " has no data";
        return {};
    }
    return Floats(wanted->f32, wanted->f32 + wanted->elem_num);
}

void add_three_steps(Session& session)
{
    IrBuilder& builder = session.builder();
    builder.input("x", {4});
    builder.add("Relu", {"x"}, {"r"});
    builder.add("Exp", {"r"}, {"e"});
    builder.add("Neg", {"e"}, {"y"});
    builder.outputs({"y", "r"});
}

float three_steps_of(float x)
{
    return -std::exp(x > 0 ? x : 0);
}

}  // namespace tengine::test
