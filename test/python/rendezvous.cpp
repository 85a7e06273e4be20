// SPDX-License-Identifier: Apache-2.0
//
// The extension module of the package once more, from the same sources, with one kernel of its own:
// an Abs of doubles in which runs wait for one another.
//
//     x = [parties, milliseconds]
//     y = [the most runs that were inside at the same time, the address of y]
//
// A run stays until `parties` runs are inside (or fails after 30 seconds), then sleeps. If the
// interpreter's lock were held during a run, two parties would never meet. With 0 parties it calls
// the Python function given to `set_visitor`, as an operator written in Python would. With fewer
// than 0 milliseconds it does not sleep, and the address is that of x.
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "intarsia/kernel_set.h"
#include "pyop_optional/module/bindings.h"

namespace intarsia::python {
namespace {

class Room {
 public:
  /// The number of runs inside at its peak, or 0 if too few came.
  int meet(int parties, std::chrono::milliseconds stay) {
    std::unique_lock lock(mutex_);
    ++inside_;
    peak_ = std::max(peak_, inside_);
    changed_.notify_all();
    const auto met = [&] { return peak_ >= parties; };
    const bool came = changed_.wait_for(lock, std::chrono::seconds(30), met);
    lock.unlock();
    std::this_thread::sleep_for(stay);
    lock.lock();
    const int peak = peak_;
    if (--inside_ == 0) peak_ = 0;
    return came ? peak : 0;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int inside_ = 0, peak_ = 0;
};

Room room;
PyObject* visitor = nullptr;

bool call_visitor() {
  const nanobind::gil_scoped_acquire acquire;
  PyObject* result = PyObject_CallNoArgs(visitor);
  if (result == nullptr) PyErr_Clear();
  Py_XDECREF(result);
  return result != nullptr;
}

struct Rendezvous {
  static constexpr KernelId id{"Abs", "", {DataType::kDouble}};
  static Status check(const KernelContext& context) {
    const bool fits = context.input(0).type == DataType::kDouble && context.input(0).count() == 2 &&
                      context.output(0).type == DataType::kDouble && context.output(0).count() == 2;
    return fits ? Status() : context.fail(Code::kWrongExtent, "elements of the rendezvous");
  }
  static Status run(const KernelContext& context) {
    const auto* x = context.input(0).as<const double>();
    if (x[0] == 0 && !call_visitor()) return context.fail(Code::kOperatorFailed, "the visitor");
    const int peak =
        room.meet(static_cast<int>(x[0]), std::chrono::milliseconds(static_cast<int64_t>(x[1])));
    if (peak == 0) return context.fail(Code::kOperatorFailed, "the other run did not come");
    auto* y = context.output(0).as<double>();
    y[0] = peak;
    y[1] = static_cast<double>(reinterpret_cast<uintptr_t>(x[1] < 0 ? x : y));
    return {};
  }
};

}  // namespace

Operators load_operators(const OperatorRequest&) {
  return {kernel_set<Rendezvous>(), {}, nullptr};
}

}  // namespace intarsia::python

NB_MODULE(_native, module) {
  module.attr("version") = "test";
  module.def("set_visitor", [](nanobind::callable function) {
    Py_XDECREF(intarsia::python::visitor);
    intarsia::python::visitor = function.inc_ref().ptr();
  });
  intarsia::python::bind_session(module);
}
