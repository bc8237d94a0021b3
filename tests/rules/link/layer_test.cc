// SPDX-License-Identifier: Apache-2.0
// The order of the rooms holds for the linker as well, which also sees calls through the public
// headers: the symbols that an object file of a room needs are defined in the room itself or below
// it, by the table of include_rules.cc. Devices, and clients of the C API, may call whatever the
// public headers declare.
#include <fstream>
#include <gtest/gtest.h>
#include <map>

#include "rules/include_rules.h"
#include "rules/link/symbols.h"
#include "rules/source_tree.h"

namespace tengine::rules {
namespace {

using Rooms = std::map<std::string, Symbols>;  // by folder below source/: "graph", "device/cpu"

// Generated lists of the parts in the rooms: constants that rooms read and that name parts.
constexpr char kRegistry[] = "registry";

bool may_use(const std::string& room, const std::string& other)
{
    return other == kRegistry ||
           judge_include("source/" + room + "/a.c", other + "/b.h", false) == "";
}

// Symbols of other libraries have no definition here.
bool is_allowed(const Rooms& rooms, const std::string& room, const std::string& name)
{
    bool is_ours = false;
    for (const auto& [other, symbols] : rooms) {
        if (symbols.defined.count(name) == 0) continue;
        if (other == room || may_use(room, other)) return true;
        is_ours = true;
    }
    return !is_ours;
}

// Returns "graph/node.c.o needs get_op_type", for all rooms.
std::vector<std::string> find_upward_calls(const Rooms& rooms)
{
    const std::set<std::string> contract = public_functions();
    std::vector<std::string> calls;
    for (const auto& [room, symbols] : rooms) {
        if (room == kRegistry) continue;
        for (const auto& [name, object] : symbols.needed) {
            const bool is_client =
                starts_with(room, "device/") || room == "adapter" || room == "calibration";
            const bool is_contract = is_client && contract.count(name) != 0;
            if (!is_contract && !is_allowed(rooms, room, name))
                calls.push_back(object + " needs " + name);
        }
    }
    return calls;
}

// Lines "<room> <object file>".
std::map<std::string, std::vector<std::string>> read_object_list()
{
    std::map<std::string, std::vector<std::string>> objects;
    std::ifstream list(TENGINE_OBJECT_LIST);
    for (std::string room, object; list >> room && std::getline(list >> std::ws, object);)
        objects[room].push_back(object);
    return objects;
}

TEST(Layers, HoldInTheObjectFiles)
{
    Rooms rooms;
    for (const auto& [room, objects] : read_object_list())
        rooms[room] = symbols_of("", objects);
    for (const char* room :
         {"base", "graph", "operator", "module", "optimizer", "scheduler", "api", "device/cpu"}) {
        ASSERT_EQ(rooms.count(room), 1u) << room;
        EXPECT_GT(rooms[room].defined.size(), 5u) << room;
    }
    EXPECT_EQ(find_upward_calls(rooms), std::vector<std::string>());
}

std::vector<std::string> calls_with(const char* room, const char* needed)
{
    Rooms rooms;
    rooms["base"] = read_symbols("log.o: write_log T 0 4\n");
    rooms["operator"] = read_symbols("node.o: get_ir_node_op T 0 4\nnode.o: shared W 0 4\n");
    rooms["optimizer"] = read_symbols("fuser.o: quantize_ir_graph T 0 4\nfuser.o: hidden T 0 4\n");
    rooms[kRegistry] = read_symbols("all.o: tengine_operator_tables R 0 8\nall.o: hidden U  \n");
    rooms[room].needed[needed] = "x.o";
    return find_upward_calls(rooms);
}

TEST(Layers, JudgeCases)
{
    const std::vector<std::string> none;
    EXPECT_EQ(calls_with("graph", "write_log"), none);
    EXPECT_EQ(calls_with("graph", "memcpy"), none);
    EXPECT_EQ(calls_with("graph", "get_ir_node_op"),
              std::vector<std::string>{"x.o needs get_ir_node_op"});
    EXPECT_EQ(calls_with("operator", "shared"), none);
    EXPECT_EQ(calls_with("module", "tengine_operator_tables"), none);
    EXPECT_EQ(calls_with("device/cpu", "quantize_ir_graph"), none);
    EXPECT_EQ(calls_with("device/cpu", "hidden"), std::vector<std::string>{"x.o needs hidden"});
    EXPECT_EQ(calls_with("serializer/onnx", "quantize_ir_graph"),
              std::vector<std::string>{"x.o needs quantize_ir_graph"});
    EXPECT_EQ(calls_with("device/tpu", "get_ir_node_op"), none);
}

}  // namespace
}  // namespace tengine::rules
