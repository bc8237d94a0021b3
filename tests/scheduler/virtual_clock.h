// SPDX-License-Identifier: Apache-2.0
// A clock for devices that only sleep. It stops while any thread has work, and jumps to the next
// end of a sleep when all devices sleep, or when no events occur. So the parallel work of devices
// can be measured independently of this machine.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

namespace tengine::test {

class VirtualClock
{
  public:
    explicit VirtualClock(int device_num) : devices_(static_cast<size_t>(device_num)) {}

    // Makes the device busy for `duration` after its earlier work. Returns the end.
    int64_t begin(int device, int64_t duration);
    // Sleeps until this time.
    void sleep_until(int64_t time);

    int64_t now();
    // Returns the time in which both were busy.
    int64_t count_overlap(int one, int other);

  private:
    struct Span
    {
        int64_t begin, end;
    };
    using Device = std::vector<Span>;

    bool is_everybody_busy() const;
    int64_t find_next_end() const;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Device> devices_;
    int64_t now_ = 0;
    int64_t event_num_ = 0;  // begins and sleeps so far
};

}  // namespace tengine::test
