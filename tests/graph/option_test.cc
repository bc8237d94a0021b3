// SPDX-License-Identifier: Apache-2.0
// The table of options: the values of each, its default, and options of devices.
#include "graph/option.h"

#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tengine/device.h"

namespace {

using testing::HasSubstr;

class Option : public testing::Test
{
  protected:
    Option() : context_(create_ir_context("c"), destroy_ir_context) {}

    int set(const char* key, const char* value)
    {
        return set_ir_context_option(context_.get(), key, value);
    }
    std::string get(const char* key) { return get_ir_context_option(context_.get(), key); }
    double number(const char* key) { return get_ir_context_number(context_.get(), key); }

    std::unique_ptr<ir_context_t, void (*)(ir_context_t*)> context_;
};

TEST_F(Option, EveryRowIsCompleteAndItsDefaultIsAccepted)
{
    ASSERT_GT(get_ir_option_count(), 0);
    std::set<std::string> keys;
    for (int i = 0; i < get_ir_option_count(); ++i) {
        const ir_option_t* option = get_ir_option(i);
        EXPECT_TRUE(keys.insert(option->key).second) << option->key;
        EXPECT_EQ(find_ir_option(option->key), option);
        EXPECT_GT(std::strlen(option->help), 10u) << option->key;
        EXPECT_EQ(get(option->key), option->initial);
        EXPECT_EQ(set(option->key, option->initial), TENGINE_OK) << tengine_error_message();
        EXPECT_EQ(get(option->key), option->initial);
    }
    EXPECT_EQ(get_ir_option(-1), nullptr);
    EXPECT_EQ(get_ir_option(get_ir_option_count()), nullptr);
}

TEST_F(Option, DefaultsAreThoseOfAProgramThatSetsNone)
{
    const ir_context_t* contexts[] = {nullptr, context_.get()};
    for (const ir_context_t* context : contexts) {
        EXPECT_EQ(get_ir_context_number(context, "split.prune"), 1);
        EXPECT_STREQ(get_ir_context_option(context, "split.report"), "line");
        EXPECT_EQ(get_ir_context_number(context, "split.bandwidth"), 0);
        EXPECT_EQ(get_ir_context_number(context, "split.fail_on_fallback"), 0);
        EXPECT_EQ(get_ir_context_number(context, "split.max_fallback_macs"), 100);
        EXPECT_STREQ(get_ir_context_option(context, "scheduler"), "");
        EXPECT_EQ(get_ir_context_number(context, "pipeline.frames"), 2);
        EXPECT_EQ(get_ir_context_number(context, "run.watchdog_ms"), 0);
        EXPECT_EQ(get_ir_context_number(context, "run.profile"), 0);
    }
}

TEST_F(Option, UnknownKeysAreAnsweredWithThoseThereAre)
{
    for (const char* key : {"split", "split.prune ", "Split.prune", "", "split.prune=0"}) {
        EXPECT_EQ(set(key, "0"), TENGINE_ENOENT) << key;
        EXPECT_THAT(tengine_error_message(),
                    HasSubstr("split.prune, split.min_nodes, split.min_macs, split.report, "))
            << key;
        EXPECT_EQ(get_ir_context_option(context_.get(), key), nullptr);
        EXPECT_EQ(number(key), 0);
    }
    EXPECT_EQ(set(nullptr, "0"), TENGINE_EINVAL);
    EXPECT_EQ(find_ir_option(nullptr), nullptr);
    EXPECT_EQ(set(std::string(100000, 'k').c_str(), "0"), TENGINE_ENOENT);
    EXPECT_THAT(tengine_error_message(), HasSubstr("run.profile"));
}

TEST_F(Option, ValuesAreCopiedAndReplaced)
{
    std::string value = "none";
    ASSERT_EQ(set("split.report", value.c_str()), TENGINE_OK);
    value = "line";
    EXPECT_EQ(get("split.report"), "none");
    ASSERT_EQ(set("split.report", "full"), TENGINE_OK);
    ASSERT_EQ(set("split.report", get_ir_context_option(context_.get(), "split.report")),
              TENGINE_OK);
    EXPECT_EQ(get("split.report"), "full");
    EXPECT_EQ(get_vector_num(context_->key_values), 1);
}

TEST_F(Option, ChoicesAreWholeWords)
{
    for (const char* value :
         {"", " ", "f", "ful", "fulll", "FULL", " full", "full ", "line full", "none line full"}) {
        EXPECT_EQ(set("split.report", value), TENGINE_EINVAL) << "'" << value << "'";
        EXPECT_THAT(tengine_error_message(), HasSubstr("split.report"));
        EXPECT_THAT(tengine_error_message(), HasSubstr("none line full"));
        EXPECT_EQ(get("split.report"), "line");
    }
    EXPECT_EQ(set("split.report", nullptr), TENGINE_EINVAL);
    for (const char* value : {"2", "0.5", "00", "01", "-1", "true"})
        EXPECT_EQ(set("split.prune", value), TENGINE_EINVAL) << value;
    EXPECT_EQ(set("split.prune", "0"), TENGINE_OK);
    EXPECT_EQ(number("split.prune"), 0);
}

TEST_F(Option, AnyTextIsKeptAsItIs)
{
    for (const std::string& text : {std::string("pipeline"), std::string(" a=b\n"),
                                    std::string(100000, 'x'), std::string()}) {
        ASSERT_EQ(set("scheduler", text.c_str()), TENGINE_OK);
        EXPECT_EQ(get("scheduler"), text);
    }
}

TEST_F(Option, NumbersAreDecimalToTheLastCharacter)
{
    const std::vector<std::pair<const char*, double>> good = {{"0", 0},
                                                              {"-0", 0},
                                                              {"+12", 12},
                                                              {"12.5", 12.5},
                                                              {"97.2", 97.2},
                                                              {".5", 0.5},
                                                              {"3.", 3},
                                                              {"1e2", 100},
                                                              {"2.5E-1", 0.25},
                                                              {"1e+1", 10},
                                                              {"0.1", 0.1},
                                                              {"0e9", 0},
                                                              {"1.5e-99999999999999999999", 0}};
    for (const auto& [text, value] : good) {
        EXPECT_EQ(set("split.max_fallback_macs", text), TENGINE_OK) << tengine_error_message();
        EXPECT_EQ(number("split.max_fallback_macs"), value) << text;
        EXPECT_EQ(get("split.max_fallback_macs"), text);
    }
    for (const char* text : {"",    " ",     ".",       "-",    "+",
                             "e",   "e5",    "1e",      "1e+",  "1e5.",
                             " 1",  "1 ",    "1,5",     "0x10", "nan",
                             "inf", "-inf",  "1e99999", "1%",   "--1",
                             "1-",  "1.2.3", "one",     "1e 5", "1e99999999999999999"}) {
        EXPECT_EQ(set("split.max_fallback_macs", text), TENGINE_EINVAL) << "'" << text << "'";
        EXPECT_THAT(tengine_error_message(), HasSubstr("0 to 100"));
    }
    EXPECT_EQ(set("split.max_fallback_macs", std::string(100000, '9').c_str()), TENGINE_EINVAL);
    EXPECT_EQ(get("split.max_fallback_macs"), "1.5e-99999999999999999999");
}

TEST_F(Option, NumbersHaveARange)
{
    for (const char* text : {"-0.001", "100.0001", "1e300", "-1e300"}) {
        EXPECT_EQ(set("split.max_fallback_macs", text), TENGINE_ERANGE) << text;
        EXPECT_THAT(tengine_error_message(), HasSubstr(text));
        EXPECT_THAT(tengine_error_message(), HasSubstr("0 to 100"));
    }
    EXPECT_EQ(set("pipeline.frames", "0"), TENGINE_ERANGE);
    EXPECT_EQ(set("pipeline.frames", "65"), TENGINE_ERANGE);
    EXPECT_EQ(set("pipeline.frames", "64"), TENGINE_OK);
    EXPECT_EQ(set("run.watchdog_ms", "86400000"), TENGINE_OK);
    EXPECT_EQ(set("run.watchdog_ms", "86400001"), TENGINE_ERANGE);
    EXPECT_THAT(tengine_error_message(), HasSubstr("0 to 86400000"));
    EXPECT_EQ(number("run.watchdog_ms"), 86400000);
}

TEST_F(Option, WhatIsCountedIsWhole)
{
    EXPECT_EQ(set("pipeline.frames", "2.5"), TENGINE_EINVAL);
    EXPECT_THAT(tengine_error_message(), HasSubstr("expected a whole number from 1 to 64"));
    EXPECT_EQ(set("pipeline.frames", "3.0"), TENGINE_OK);
    EXPECT_EQ(number("pipeline.frames"), 3);
}

class DeviceOption : public Option
{
  protected:
    DeviceOption()
    {
        init_ir_device(&first_, "A");
        init_ir_device(&dotted_, "A.b");
        init_ir_device(&absent_, "C");
        graph_.attribute = &attribute_;
        attribute_.context = context_.get();
        EXPECT_EQ(add_ir_context_device(context_.get(), &first_, nullptr, 0), TENGINE_OK);
        EXPECT_EQ(add_ir_context_device(context_.get(), &dotted_, nullptr, 0), TENGINE_OK);
    }

    const struct device* owner(const char* key, std::string* out_key = nullptr)
    {
        const char* rest = "";
        const ir_context_device_t* entry = find_ir_option_device(context_.get(), key, &rest);
        if (out_key) *out_key = rest;
        return entry ? entry->device : nullptr;
    }

    struct device first_ = {}, dotted_ = {}, absent_ = {};
    struct graph graph_ = {};
    ir_attribute_t attribute_ = {};
};

TEST_F(DeviceOption, IsKeptForItsDeviceAlone)
{
    EXPECT_EQ(get_ir_device_option(&graph_, &first_, "k"), nullptr);
    ASSERT_EQ(set_ir_context_device_option(context_.get(), &first_, "k", "1"), TENGINE_OK);
    ASSERT_EQ(set_ir_context_device_option(context_.get(), &first_, "k", "2"), TENGINE_OK);
    EXPECT_STREQ(get_ir_device_option(&graph_, &first_, "k"), "2");
    EXPECT_EQ(get_ir_device_option(&graph_, &dotted_, "k"), nullptr);
    EXPECT_EQ(get_ir_device_option(&graph_, &first_, "K"), nullptr);
    EXPECT_EQ(get_ir_device_option(&graph_, &absent_, "k"), nullptr);
    EXPECT_EQ(set_ir_context_device_option(context_.get(), &absent_, "k", "1"), TENGINE_ENOENT);
    attribute_.context = nullptr;
    EXPECT_EQ(get_ir_device_option(&graph_, &first_, "k"), nullptr);
}

TEST_F(DeviceOption, GoesWithItsDevice)
{
    ASSERT_EQ(set_ir_context_device_option(context_.get(), &first_, "k", "1"), TENGINE_OK);
    ASSERT_EQ(remove_ir_context_device(context_.get(), &first_), TENGINE_OK);
    EXPECT_EQ(get_ir_device_option(&graph_, &first_, "k"), nullptr);
    ASSERT_EQ(add_ir_context_device(context_.get(), &first_, nullptr, 0), TENGINE_OK);
    EXPECT_EQ(get_ir_device_option(&graph_, &first_, "k"), nullptr);
}

TEST_F(DeviceOption, KeysNameTheirDeviceUpToADot)
{
    std::string key;
    EXPECT_EQ(owner("A.k", &key), &first_);
    EXPECT_EQ(key, "k");
    EXPECT_EQ(owner("A.", &key), &first_);
    EXPECT_EQ(key, "");
    EXPECT_EQ(owner("A.b.k", &key), &first_) << "the first dot after a device counts";
    EXPECT_EQ(key, "b.k");
    ASSERT_EQ(remove_ir_context_device(context_.get(), &first_), TENGINE_OK);
    EXPECT_EQ(owner("A.b.k.l", &key), &dotted_);
    EXPECT_EQ(key, "k.l");
    for (const char* none : {"", ".", "A", "a.k", "A.k", "A.bc.k", "C.k", "..A.k"})
        EXPECT_EQ(owner(none), nullptr) << none;
}

}  // namespace
