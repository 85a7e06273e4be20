// SPDX-License-Identifier: Apache-2.0
//
// Tensors of other packages through DLPack: their memory as a buffer, without a copy. numpy reads
// DLPack too, but knows neither bfloat16 nor float8, and older versions no memory that is
// read-only.
#include <algorithm>
#include <array>
#include <memory>

#include "pyop_optional/module/bindings.h"

namespace py = pybind11;

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
  }
  int type() const { return static_cast<int>(type_->type); }

  py::buffer_info buffer() const {
    const auto size = static_cast<py::ssize_t>(type_->bits / 8);
    std::vector<py::ssize_t> shape(tensor_->shape, tensor_->shape + tensor_->rank);
    std::vector<py::ssize_t> strides(shape.size(), size);
    for (size_t i = shape.size(); i-- > 0;) {
      if (tensor_->strides != nullptr) {
        strides[i] = static_cast<py::ssize_t>(tensor_->strides[i]) * size;
      } else if (i + 1 < shape.size()) {
        strides[i] = strides[i + 1] * shape[i + 1];
      }
    }
    return {static_cast<std::byte*>(tensor_->data) + tensor_->byte_offset,
            size,
            type_->format,
            tensor_->rank,
            shape,
            strides,
            read_only_};
  }

 private:
  /// The capsule's structure, which is ours from then on; null if the capsule is another.
  template <class T>
  T* take(py::handle capsule, const char* name, const char* used) {
    if (PyCapsule_IsValid(capsule.ptr(), name) == 0) return nullptr;
    auto* taken = static_cast<T*>(PyCapsule_GetPointer(capsule.ptr(), name));
    if (PyCapsule_SetName(capsule.ptr(), used) != 0) throw py::error_already_set();
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
      throw py::buffer_error("elements of DLPack type " + std::to_string(tensor.code) + " with " +
                             std::to_string(tensor.bits) + " bits have no numpy type");
    }
  }

  const DlTensor* tensor_ = nullptr;
  const DlType* type_ = nullptr;
  bool read_only_ = false;
  std::shared_ptr<void> owner_;
};

}  // namespace

void bind_dlpack(py::module_& module) {
  py::class_<DlpackTensor>(module, "DlpackTensor", py::buffer_protocol())
      .def(py::init<py::handle>())
      .def_property_readonly("type", &DlpackTensor::type)
      .def_buffer([](DlpackTensor& tensor) { return tensor.buffer(); });
}

}  // namespace intarsia::python
