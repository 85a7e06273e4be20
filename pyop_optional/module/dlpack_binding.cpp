// SPDX-License-Identifier: Apache-2.0
//
// Tensors of other packages through DLPack: their memory as a buffer, without a copy. numpy reads
// DLPack too, but knows neither bfloat16 nor float8, and older versions no memory that is
// read-only.
#include <algorithm>
#include <array>
#include <memory>

#include "pyop_optional/module/bindings.h"

namespace py = nanobind;

namespace intarsia::python {
namespace {

// The structures of DLPack, a binary interface that is documented as stable: versions 0 and 1.
struct DlTensor {
  void* data;
  int32_t device_type, device;
  int32_t rank;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};
struct DlManaged {
  DlTensor tensor;
  void* context;
  void (*deleter)(DlManaged*);
};
struct DlVersioned {
  uint32_t major, minor;
  void* context;
  void (*deleter)(DlVersioned*);
  uint64_t flags;
  DlTensor tensor;
};
constexpr uint64_t kReadOnly = 1;

/// Devices whose memory the processor reads: its own, and host memory that is pinned for CUDA or
/// ROCm.
constexpr std::array kHostDevices{1, 3, 11};

struct DlType {
  uint8_t code, bits;
  DataType type;
  const char* format;  ///< Of the carrying numpy type, for the buffer protocol.
};
constexpr DlType kTypes[] = {
    {0, 8, DataType::kInt8, "b"},
    {0, 16, DataType::kInt16, "h"},
    {0, 32, DataType::kInt32, "i"},
    {0, 64, DataType::kInt64, "q"},
    {1, 8, DataType::kUint8, "B"},
    {1, 16, DataType::kUint16, "H"},
    {1, 32, DataType::kUint32, "I"},
    {1, 64, DataType::kUint64, "Q"},
    {2, 16, DataType::kFloat16, "e"},
    {2, 32, DataType::kFloat, "f"},
    {2, 64, DataType::kDouble, "d"},
    {4, 16, DataType::kBfloat16, "H"},
    {5, 64, DataType::kComplex64, "Zf"},
    {5, 128, DataType::kComplex128, "Zd"},
    {6, 8, DataType::kBool, "?"},
    {10, 8, DataType::kFloat8E4M3FN, "B"},
    {11, 8, DataType::kFloat8E4M3FNUZ, "B"},
    {12, 8, DataType::kFloat8E5M2, "B"},
    {13, 8, DataType::kFloat8E5M2FNUZ, "B"},
    {14, 8, DataType::kFloat8E8M0, "B"},
};

/// Which contiguity a request for a buffer asks for, in the letters of PyBuffer_IsContiguous; 'S'
/// for none.
char order_of(int flags) {
  const auto asks = [flags](int wanted) { return (flags & wanted) == wanted; };
  if (!asks(PyBUF_STRIDES) || asks(PyBUF_C_CONTIGUOUS)) return 'C';
  if (asks(PyBUF_F_CONTIGUOUS)) return 'F';
  return asks(PyBUF_ANY_CONTIGUOUS) ? 'A' : 'S';
}

/// What a capsule has handed over, until the last view of it is gone.
class DlpackTensor {
 public:
  explicit DlpackTensor(py::handle capsule) {
    if (auto* managed = take<DlManaged>(capsule, "dltensor", "used_dltensor")) {
      tensor_ = &managed->tensor;
    } else if (auto* versioned =
                   take<DlVersioned>(capsule, "dltensor_versioned", "used_dltensor_versioned")) {
      if (versioned->major > 1) throw py::buffer_error("DLPack of a version later than 1");
      tensor_ = &versioned->tensor;
      read_only_ = (versioned->flags & kReadOnly) != 0;
    } else {
      throw py::type_error("__dlpack__ gave no capsule of DLPack, or one that was taken already");
    }
    check();
    measure();
  }
  int type() const { return static_cast<int>(type_->type); }

  /// As Py_bf_getbuffer, but for `obj`: false with a BufferError pending.
  bool show(Py_buffer& view, int flags) {
    view.buf = static_cast<std::byte*>(tensor_->data) + tensor_->byte_offset;
    view.itemsize = type_->bits / 8;
    view.readonly = read_only_ ? 1 : 0;
    view.ndim = tensor_->rank;
    view.format = (flags & PyBUF_FORMAT) != 0 ? const_cast<char*>(type_->format) : nullptr;
    view.shape = shape_.data();
    view.strides = strides_.data();
    view.suboffsets = nullptr;
    view.internal = nullptr;
    view.len = view.itemsize;
    for (const Py_ssize_t extent : shape_) view.len *= extent;
    if ((flags & PyBUF_WRITABLE) != 0 && read_only_) {
      PyErr_SetString(PyExc_BufferError, "the tensor is read-only");
      return false;
    }
    const char order = order_of(flags);
    if (order != 'S' && PyBuffer_IsContiguous(&view, order) == 0) {
      PyErr_SetString(PyExc_BufferError, "the tensor's elements are not contiguous");
      return false;
    }
    if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES) view.strides = nullptr;
    if ((flags & PyBUF_ND) == 0) view.shape = nullptr;
    return true;
  }

 private:
  /// The capsule's structure, which is ours from then on; null if the capsule is another.
  template <class T>
  T* take(py::handle capsule, const char* name, const char* used) {
    if (PyCapsule_IsValid(capsule.ptr(), name) == 0) return nullptr;
    auto* taken = static_cast<T*>(PyCapsule_GetPointer(capsule.ptr(), name));
    if (PyCapsule_SetName(capsule.ptr(), used) != 0) throw py::python_error();
    owner_ = std::shared_ptr<T>(taken, [](T* managed) {
      if (managed->deleter != nullptr) managed->deleter(managed);
    });
    return taken;
  }

  void check() {
    const DlTensor& tensor = *tensor_;
    if (std::ranges::find(kHostDevices, tensor.device_type) == kHostDevices.end()) {
      throw py::buffer_error("the tensor does not lie in the processor's memory");
    }
    for (const DlType& type : kTypes) {
      if (type.code == tensor.code && type.bits == tensor.bits && tensor.lanes == 1) type_ = &type;
    }
    if (type_ == nullptr) {
      const std::string words = "elements of DLPack type " + std::to_string(tensor.code) +
                                " with " + std::to_string(tensor.bits) + " bits have no numpy type";
      throw py::buffer_error(words.c_str());
    }
  }

  void measure() {
    const Py_ssize_t size = type_->bits / 8;
    shape_.assign(tensor_->shape, tensor_->shape + tensor_->rank);
    strides_.assign(shape_.size(), size);
    for (size_t i = shape_.size(); i-- > 0;) {
      if (tensor_->strides != nullptr) {
        strides_[i] = static_cast<Py_ssize_t>(tensor_->strides[i]) * size;
      } else if (i + 1 < shape_.size()) {
        strides_[i] = strides_[i + 1] * shape_[i + 1];
      }
    }
  }

  const DlTensor* tensor_ = nullptr;
  const DlType* type_ = nullptr;
  bool read_only_ = false;
  std::vector<Py_ssize_t> shape_, strides_;
  std::shared_ptr<void> owner_;
};

int show(PyObject* self, Py_buffer* view, int flags) {
  const bool shown = py::inst_ptr<DlpackTensor>(self)->show(*view, flags);
  view->obj = shown ? Py_NewRef(self) : nullptr;
  return shown ? 0 : -1;
}

}  // namespace

void bind_dlpack(py::module_& module) {
  static PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(&show)}, {0, nullptr}};
  py::class_<DlpackTensor>(module, "DlpackTensor", py::type_slots(slots))
      .def(py::init<py::handle>())
      .def_prop_ro("type", &DlpackTensor::type);
}

}  // namespace intarsia::python
