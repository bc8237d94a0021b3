// SPDX-License-Identifier: Apache-2.0
#include "placement.h"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>

#include "graph_build.h"
#include "log.h"
#include "tengine/inspect.h"

namespace tengine::provider {
namespace {

// The result of the library's preparation for a node of the host.
enum class Fate
{
    kRefused,
    kTaken,
    kAbsorbed  // merged into other nodes, folded, or a conversion that was removed
};

class Placer
{
  public:
    Placer(const GraphView& view, const Settings& settings)
        : view_(view),
          settings_(settings),
          chosen_(view.nodes.size(), true),
          reasons_(view.nodes.size()),
          fates_(view.nodes.size(), Fate::kRefused)
    {
    }

    Placement place()
    {
        if (view_.is_nested) {
            refuse_all("it is in the body of a node, which stays the host's");
        } else {
            for (size_t i = 0; i < view_.nodes.size(); ++i)
                refuse(i, judge_node(view_, view_.nodes[i]));
            refuse_unranked();
            place_chosen();
        }
        Placement placement;
        do {
            placement = group();
        } while (refuse_lost(placement));
        placement.reasons = std::move(reasons_);
        return placement;
    }

  private:
    void refuse(size_t node, const std::string& reason)
    {
        if (reason.empty()) return;
        chosen_[node] = false;
        reasons_[node] = reason;
    }

    void refuse_all(const std::string& reason)
    {
        for (size_t i = 0; i < chosen_.size(); ++i)
            if (chosen_[i]) refuse(i, reason);
    }

    // Refuses nodes whose inputs would have no rank, as an input of a graph must have. Each refusal
    // turns results of a node into inputs.
    void refuse_unranked()
    {
        std::vector<bool> is_written(view_.values.size());
        for (size_t i = 0; i < view_.nodes.size(); ++i) {
            const ViewedNode& node = view_.nodes[i];
            for (const int value : node.inputs) {
                if (value == kAbsent || is_written[static_cast<size_t>(value)]) continue;
                const Value& read = view_.values[static_cast<size_t>(value)];
                if (!read.has_rank && chosen_[i])
                    refuse(i, "the host does not know the rank of '" + read.name + "'");
            }
            for (const int value : node.outputs)
                if (value != kAbsent) is_written[static_cast<size_t>(value)] = chosen_[i];
        }
    }

    bool has_chosen() const
    {
        return std::find(chosen_.begin(), chosen_.end(), true) != chosen_.end();
    }

    // "" on success, else the reason why the library cannot prepare the chosen nodes.
    std::string try_placing(const std::vector<bool>& chosen, BuiltGraph* out_built) const
    {
        const QuietScope quiet;
        try {
            *out_built = build_graph(view_, chosen, settings_, true);
        } catch (const Failure& failure) {
            return failure.what();
        }
        const int status = tengine_graph_place(out_built->graph.get(), settings_.options);
        return status == 0 ? "" : get_tengine_error();
    }

    // Refuses single nodes that the library accepts but cannot prepare, so that the others stay.
    void refuse_unpreparable()
    {
        for (size_t i = 0; i < chosen_.size(); ++i) {
            if (!chosen_[i]) continue;
            std::vector<bool> alone(chosen_.size());
            alone[i] = true;
            BuiltGraph built;
            refuse(i, try_placing(alone, &built));
        }
        refuse_unranked();
    }

    void place_chosen()
    {
        if (!has_chosen()) return;
        BuiltGraph built;
        if (!try_placing(chosen_, &built).empty()) {
            refuse_unpreparable();
            if (!has_chosen()) return;
            const std::string reason = try_placing(chosen_, &built);
            if (!reason.empty()) return refuse_all(reason);
        }
        // The default device takes the nodes that the others refuse.
        if (settings_.has_device(default_device())) {
            for (size_t i = 0; i < chosen_.size(); ++i)
                fates_[i] = chosen_[i] ? Fate::kTaken : Fate::kRefused;
        } else {
            read_fates(built);
            settle_absorbed();
        }
    }

    // Stores the fates of the nodes of a placed graph, and the reasons for those refused. Several
    // nodes of the library may stand for one: a device has it if it has one of them.
    void read_fates(const BuiltGraph& built)
    {
        std::unordered_map<std::string, size_t> index;
        for (size_t i = 0; i < built.node_names.size(); ++i) {
            if (built.node_names[i].empty()) continue;
            index.emplace(built.node_names[i], i);
            fates_[i] = Fate::kAbsorbed;
        }
        const graph_t graph = built.graph.get();
        const int number = tengine_graph_get_execution_node_number(graph);
        for (int i = 0; i < number; ++i) {
            tengine_execution_node node;
            if (tengine_graph_get_execution_node(graph, i, &node) < 0 || !node.source) continue;
            const size_t place = index.at(get_node_name(node.source));
            if (settings_.has_device(node.device)) {
                fates_[place] = Fate::kTaken;
            } else if (fates_[place] == Fate::kAbsorbed) {
                fates_[place] = Fate::kRefused;
                reasons_[place] = read_refusals(graph, i, node);
            }
        }
    }

    // A part becomes a graph of its own, without the host's nodes, by which a device or the library
    // may know an operator that the part has in several nodes. Refuses the nodes that the devices
    // do not take there, and returns whether there are any.
    bool refuse_lost(const Placement& placement)
    {
        if (is_whole(placement) || settings_.has_device(default_device())) return false;
        bool is_lost = false;
        for (int part = 0; part < placement.part_num; ++part) {
            std::vector<bool> own;
            for (const int other : placement.parts)
                own.push_back(other == part);
            is_lost = refuse_lost_of(own) || is_lost;
        }
        return is_lost;
    }

    // Whether the graph that was placed is a part.
    bool is_whole(const Placement& placement) const
    {
        for (size_t i = 0; i < chosen_.size(); ++i)
            if (chosen_[i] != (placement.parts[i] != kNoPart)) return false;
        return placement.part_num == 1;
    }

    bool refuse_lost_of(const std::vector<bool>& own)
    {
        BuiltGraph built;
        const std::string failure = try_placing(own, &built);
        if (failure.empty()) read_fates(built);
        bool is_lost = false;
        for (size_t i = 0; i < own.size(); ++i) {
            if (!own[i]) continue;
            if (!failure.empty()) {
                fates_[i] = Fate::kRefused;
                reasons_[i] = failure;
            }
            is_lost = is_lost || fates_[i] == Fate::kRefused;
            if (fates_[i] == Fate::kAbsorbed) fates_[i] = Fate::kTaken;
        }
        return is_lost;
    }

    static std::string read_refusals(graph_t graph, int index, const tengine_execution_node& node)
    {
        std::string text;
        for (int i = 0; i < node.refusal_number; ++i) {
            tengine_refusal refusal;
            if (tengine_graph_get_refusal(graph, index, i, &refusal) < 0) continue;
            text += (text.empty() ? "" : "; ") + std::string(refusal.message);
        }
        return text.empty() ? "no device took it" : text;
    }

    // Assigns the nodes that were merged into others: with the readers if all of these are taken,
    // else with the node that it reads. Each assignment depends on assigned nodes only.
    void settle_absorbed()
    {
        std::vector<std::vector<size_t>> readers(view_.values.size());
        std::vector<int> writer(view_.values.size(), -1);
        for (size_t i = 0; i < view_.nodes.size(); ++i) {
            for (const int value : view_.nodes[i].inputs)
                if (value != kAbsent) readers[static_cast<size_t>(value)].push_back(i);
            for (const int value : view_.nodes[i].outputs)
                if (value != kAbsent) writer[static_cast<size_t>(value)] = static_cast<int>(i);
        }
        std::vector<bool> is_open(fates_.size());
        for (size_t i = fates_.size(); i-- > 0;) {
            if (fates_[i] != Fate::kAbsorbed) continue;
            is_open[i] = !are_readers_taken(i, readers);
            fates_[i] = is_open[i] ? Fate::kRefused : Fate::kTaken;
        }
        for (size_t i = 0; i < fates_.size(); ++i) {
            if (!is_open[i]) continue;
            if (is_writer_taken(i, writer)) fates_[i] = Fate::kTaken;
        }
        for (size_t i = 0; i < fates_.size(); ++i)
            if (is_open[i] && fates_[i] == Fate::kRefused)
                reasons_[i] = "it is part of what the host computes";
    }

    bool are_readers_taken(size_t node, const std::vector<std::vector<size_t>>& readers) const
    {
        bool is_read = false;
        for (const int value : view_.nodes[node].outputs) {
            if (value == kAbsent) continue;
            for (const size_t reader : readers[static_cast<size_t>(value)]) {
                if (fates_[reader] != Fate::kTaken) return false;
                is_read = true;
            }
        }
        return is_read;
    }

    bool is_writer_taken(size_t node, const std::vector<int>& writer) const
    {
        for (const int value : view_.nodes[node].inputs) {
            if (value == kAbsent || writer[static_cast<size_t>(value)] < 0) continue;
            return fates_[static_cast<size_t>(writer[static_cast<size_t>(value)])] == Fate::kTaken;
        }
        return false;
    }

    bool is_taken(size_t node) const { return fates_[node] == Fate::kTaken; }

    // Calls work(value) for all values that the node reads, also in its subgraphs.
    template <class Work>
    void for_each_read(size_t node, const Work& work) const
    {
        for (const auto* list : {&view_.nodes[node].inputs, &view_.nodes[node].captured})
            for (const int value : *list)
                if (value != kAbsent) work(static_cast<size_t>(value));
    }

    // The level of a node is the highest level of the nodes that it reads from, plus one if that
    // node is on the other side. Nodes taken on one level have no path through others.
    std::vector<int> find_levels() const
    {
        std::vector<int> levels(view_.nodes.size()), writer(view_.values.size(), -1);
        for (size_t i = 0; i < levels.size(); ++i) {
            for_each_read(i, [&](size_t value) {
                if (writer[value] < 0) return;
                const auto from = static_cast<size_t>(writer[value]);
                levels[i] = std::max(levels[i], levels[from] + (is_taken(from) != is_taken(i)));
            });
            for (const int value : view_.nodes[i].outputs)
                if (value != kAbsent) writer[static_cast<size_t>(value)] = static_cast<int>(i);
        }
        return levels;
    }

    // Raises a node that depends on no node of the host to the level of its reader: the scale of a
    // constant belongs to the node that computes with it.
    void raise_levels(std::vector<int>* levels) const
    {
        constexpr int kUnread = std::numeric_limits<int>::max();
        std::vector<int> taken_limit(view_.values.size(), kUnread), host_limit = taken_limit;
        for (size_t i = levels->size(); i-- > 0;) {
            int limit = kUnread;
            for (const int value : view_.nodes[i].outputs) {
                if (value == kAbsent) continue;
                const auto at = static_cast<size_t>(value);
                limit = std::min({limit, taken_limit[at], host_limit[at] - 1});
            }
            if (is_taken(i) && limit < kUnread - 1) (*levels)[i] = std::max((*levels)[i], limit);
            std::vector<int>& limits = is_taken(i) ? taken_limit : host_limit;
            for_each_read(
                i, [&](size_t value) { limits[value] = std::min(limits[value], (*levels)[i]); });
        }
    }

    // Makes a part of the nodes taken on each level.
    Placement group() const
    {
        Placement placement;
        std::vector<int> levels = find_levels();
        raise_levels(&levels);
        std::map<int, int> parts;  // by level, in their order
        for (size_t i = 0; i < levels.size(); ++i)
            if (is_taken(i)) parts.emplace(levels[i], 0);
        for (auto& [level, part] : parts)
            part = placement.part_num++;
        for (size_t i = 0; i < levels.size(); ++i)
            placement.parts.push_back(is_taken(i) ? parts.at(levels[i]) : kNoPart);
        return placement;
    }

    const GraphView& view_;
    const Settings& settings_;
    std::vector<bool> chosen_;
    std::vector<std::string> reasons_;
    std::vector<Fate> fates_;
};

}  // namespace

Placement place_graph(const GraphView& view, const Settings& settings)
{
    return Placer(view, settings).place();
}

std::string describe_placement(const GraphView& view, const Placement& placement,
                               const Settings& settings)
{
    const auto refused_num = std::count(placement.parts.begin(), placement.parts.end(), kNoPart);
    const size_t taken = view.nodes.size() - static_cast<size_t>(refused_num);
    std::string text = settings.device_list() + ": " + std::to_string(taken) + " of " +
                       std::to_string(view.nodes.size()) + " nodes in " +
                       std::to_string(placement.part_num) +
                       (placement.part_num == 1 ? " part" : " parts");
    std::map<std::string, std::map<std::string, int>> refused;  // by reason: operators
    for (size_t i = 0; i < view.nodes.size(); ++i)
        if (placement.parts[i] == kNoPart) ++refused[placement.reasons[i]][view.nodes[i].op];
    for (const auto& [reason, operators] : refused) {
        text += "; not ";
        for (const auto& [op, number] : operators)
            text += (op == operators.begin()->first ? "" : ", ") + op +
                    (number > 1 ? " x " + std::to_string(number) : "");
        text += ": " + reason;
    }
    return text;
}

}  // namespace tengine::provider
