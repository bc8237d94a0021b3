// SPDX-License-Identifier: Apache-2.0
// An object of ONNX Runtime, which is released with its owner.
#pragma once

namespace tengine::ort_host {

template <typename Object>
class Owned
{
  public:
    // `release`: the table's function for this type, which also accepts NULL.
    explicit Owned(void (*release)(Object*)) : release_(release) {}
    ~Owned() { release_(object_); }
    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;

    // Returns the place where a function of the table stores the object; call it once.
    Object** out() { return &object_; }
    Object* get() const { return object_; }

  private:
    void (*release_)(Object*);
    Object* object_ = nullptr;
};

}  // namespace tengine::ort_host
