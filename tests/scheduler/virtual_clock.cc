// SPDX-License-Identifier: Apache-2.0
#include "scheduler/virtual_clock.h"

#include <algorithm>
#include <chrono>

namespace tengine::test {

// A device counts as idle until the end after this real time without an event.
constexpr std::chrono::milliseconds kQuiet{100};

int64_t VirtualClock::begin(int device, int64_t duration)
{
    const std::lock_guard<std::mutex> lock(mutex_);
    Device& spans = devices_[static_cast<size_t>(device)];
    const int64_t begin = spans.empty() ? now_ : std::max(now_, spans.back().end);
    spans.push_back({begin, begin + duration});
    ++event_num_;
    changed_.notify_all();
    return begin + duration;
}

bool VirtualClock::is_everybody_busy() const
{
    return std::all_of(devices_.begin(), devices_.end(), [this](const Device& spans) {
        return !spans.empty() && spans.back().end > now_;
    });
}

int64_t VirtualClock::find_next_end() const
{
    int64_t next = INT64_MAX;
    for (const Device& spans : devices_)
        for (const Span& span : spans)
            if (span.end > now_) next = std::min(next, span.end);
    return next;
}

void VirtualClock::sleep_until(int64_t time)
{
    std::unique_lock<std::mutex> lock(mutex_);
    ++event_num_;
    changed_.notify_all();
    while (now_ < time) {
        const int64_t seen = event_num_;
        const auto has_news = [&] { return event_num_ != seen || now_ >= time; };
        if (!is_everybody_busy() && changed_.wait_for(lock, kQuiet, has_news)) continue;
        now_ = find_next_end();
        ++event_num_;
        changed_.notify_all();
    }
}

int64_t VirtualClock::now()
{
    const std::lock_guard<std::mutex> lock(mutex_);
    return now_;
}

int64_t VirtualClock::count_overlap(int one, int other)
{
    const std::lock_guard<std::mutex> lock(mutex_);
    int64_t overlap = 0;
    for (const Span& a : devices_[static_cast<size_t>(one)])
        for (const Span& b : devices_[static_cast<size_t>(other)])
            overlap += std::max<int64_t>(0, std::min(a.end, b.end) - std::max(a.begin, b.begin));
    return overlap;
}

}  // namespace tengine::test
