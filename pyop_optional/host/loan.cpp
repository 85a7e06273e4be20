// SPDX-License-Identifier: Apache-2.0
#include "pyop_optional/host/loan.h"

#include "pyop_optional/host/buffer.h"
#include "pyop_optional/host/instance.h"
#include "pyop_optional/host/strings.h"

namespace intarsia::pyop {
namespace {

// Views of an array know the array, but nothing knows its views, and arrays are none of the
// collector's objects; so the search goes down from these. An array's state, once set, is memory of
// its own. It is Python because all of it is calls of Python's own functions, on a path for
// operators that are wrong.
constexpr const char* kDetach = R"python(
def detach(lent):
    import gc, sys
    numpy = sys.modules.get("numpy")
    array = numpy.ndarray if numpy is not None else ()
    own_views = [each if type(each) is memoryview else each.base for each in lent]
    own = {id(each) for each in (*lent, *own_views)}
    buffers = {id(each.obj) for each in own_views}
    arrays, views = [], []

    def is_array(found):
        return issubclass(type(found), array)

    def shows_lent(found):
        return any(is_array(each) and numpy.may_share_memory(found, each) for each in lent)

    def examine(found):
        if id(found) in own:
            return
        if type(found) is memoryview:
            try:
                source = found.obj
            except ValueError:  # it is released
                return
            if id(source) in buffers or is_array(source) and shows_lent(source):
                views.append(found)
        elif is_array(found) and shows_lent(found):
            arrays.append(found)

    level = gc.get_objects()
    seen = {id(each) for each in level}
    for each in level:
        examine(each)
    for frame in sys._current_frames().values():
        while frame is not None:  # a running function's variables are none of the collector's
            level.append(frame.f_locals)
            frame = frame.f_back
    while level:
        below = gc.get_referents(*level)
        for each in filter(is_array, level):
            below.append(array.base.__get__(each))
            if array.dtype.__get__(each) == object:
                below.extend(array.flat.__get__(each))
        level = []
        for each in below:
            if id(each) not in seen:
                seen.add(id(each))
                examine(each)
                level.append(each)
    for each in arrays:
        copy = numpy.array(each, order="C", subok=False)
        array.__setstate__(each, copy.__reduce__()[2])
    count = 0
    while count != len(views):
        count, left = len(views), []
        for each in views:
            try:
                each.release()
            except BufferError:  # another view was made of this one
                left.append(each)
        views = left
)python";

/// Calls `detach` with what shows the memory of `buffers`.
void detach(const Tools& tools, const std::vector<Ref>& buffers) {
  const Ref code = checked(Py_CompileString(kDetach, "<intarsia>", Py_file_input), kMemory);
  const Ref names = checked(PyDict_New(), kMemory);
  checked(PyDict_SetItemString(names.get(), "__builtins__", PyEval_GetBuiltins()), kMemory);
  const Ref done = checked(PyEval_EvalCode(code.get(), names.get(), names.get()), kMemory);
  const Ref lent = checked(PyList_New(0), kMemory);
  for (const Ref& buffer : buffers) {
    checked(PyList_Append(lent.get(), tools.shown(buffer.get()).get()), kMemory);
  }
  PyObject* function = PyDict_GetItemString(names.get(), "detach");
  checked(PyObject_CallFunctionObjArgs(function, lent.get(), nullptr), kMemory);
}

}  // namespace

Loan::Loan(const Tools& tools, std::span<const TensorView> inputs, const Characters& characters,
           bool copies)
    : tools_(tools), copies_(copies) {
  arguments_ = checked(PyTuple_New(static_cast<Py_ssize_t>(inputs.size())), kMemory);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorView& input = inputs[i];
    Ref argument = Ref::share(Py_None);
    if (input.present() && input.type == DataType::kString) {
      argument = python_strings(tools, input, characters);
    } else if (input.present()) {
      PyObject* type = tools.buffer_type.get();
      const std::span bytes(input.as<const std::byte>(), static_cast<size_t>(input.bytes()));
      buffers_.push_back(copies ? copy_buffer(type, input.type, input.dims(), bytes, false)
                                : borrow_buffer(type, input.type, input.dims(), input.data));
      argument = tools.shown(buffers_.back().get());
    }
    checked(PyTuple_SetItem(arguments_.get(), static_cast<Py_ssize_t>(i), argument.release()),
            kMemory);
  }
}

bool Loan::is_kept() const {
  for (const Ref& buffer : buffers_) {
    if (is_exported(buffer.get())) return true;
  }
  return false;
}

bool Loan::end() {
  arguments_ = Ref();
  // A cycle of references that is garbage already keeps nothing.
  if (is_kept()) PyGC_Collect();
  if (is_kept()) {
    kept_ = true;
    try {
      if (!copies_) detach(tools_, buffers_);
    } catch (const Failure&) {
      // Python has no memory left, or its modules are broken; the caller tells of what is kept.
    }
  }
  lost_ = lost_ || (is_kept() && !copies_);
  for (const Ref& buffer : buffers_) close_buffer(buffer.get());
  buffers_.clear();
  return kept_;
}

}  // namespace intarsia::pyop
