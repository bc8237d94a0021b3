// SPDX-License-Identifier: Apache-2.0
// An object of ONNX Runtime, which goes when this does.
#pragma once

namespace tengine::ort_host {

template <typename Object>
class Owned
{
  public:
    // `release`: the table's function for such objects, which takes NULL as well.
    explicit Owned(void (*release)(Object*)) : release_(release) {}
    ~Owned() { release_(object_); }
    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;

    // The place where a function of the table puts the object; once.
    Object** out() { return &object_; }
    Object* get() const { return object_; }

  private:
    void (*release_)(Object*);
    Object* object_ = nullptr;
};

}  // namespace tengine::ort_host
