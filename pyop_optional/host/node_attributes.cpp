// SPDX-License-Identifier: Apache-2.0
#include "pyop_optional/host/node_attributes.h"

#include <cstring>
#include <type_traits>

#include "intarsia/tensor.h"
#include "pyop_optional/host/buffer.h"

namespace intarsia::pyop {
namespace {

using definitions::AttributeValue;
using definitions::TensorValue;

class Writer {
 public:
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void put(T value) { append(&value, sizeof(value)); }
  void put(const std::string& text) {
    put(static_cast<uint32_t>(text.size()));
    append(text.data(), text.size());
  }
  template <class T>
  void put(const std::vector<T>& list) {
    put(static_cast<uint32_t>(list.size()));
    for (const T& value : list) put(value);
  }
  void put(const TensorValue& tensor) {
    put(tensor.type);
    put(tensor.extents);
    put(static_cast<uint64_t>(tensor.size));
    append(tensor.data.get(), tensor.size);
    if (tensor.type != DataType::kString) return;
    put(tensor.characters != nullptr ? *tensor.characters : std::string());
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void append(const void* data, size_t count) {
    const auto* begin = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), begin, begin + count);
  }
  std::vector<std::byte> bytes_;
};

/// Reads what Writer has put; a read beyond the end gives zeros and makes `good` false.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void get(T& value) {
    if (const std::byte* from = advance(sizeof(value))) std::memcpy(&value, from, sizeof(value));
  }
  void get(std::string& text) {
    uint32_t length = 0;
    get(length);
    if (const std::byte* from = advance(length)) {
      text.assign(reinterpret_cast<const char*>(from), length);
    }
  }
  template <class T>
  void get(std::vector<T>& list) {
    uint32_t count = 0;
    get(count);
    // Every element takes at least a byte, so a damaged count cannot make the list grow far.
    for (uint32_t i = 0; i < count && good_; ++i) get(list.emplace_back());
  }
  void get(TensorValue& tensor) {
    uint64_t size = 0;
    get(tensor.type);
    get(tensor.extents);
    get(size);
    const std::byte* from = advance(size);
    if (from == nullptr) return;
    tensor.size = static_cast<size_t>(size);
    tensor.data = std::shared_ptr<const std::byte>(std::shared_ptr<void>(), from);
    good_ = good_ && is_consistent(tensor);
    if (tensor.type != DataType::kString) return;
    // StringRefs are read as such, so they get an address that suits them.
    auto copy = std::make_shared<std::vector<StringRef>>(tensor.size / sizeof(StringRef));
    if (good_ && tensor.size != 0) std::memcpy(copy->data(), from, tensor.size);
    tensor.data = {copy, reinterpret_cast<const std::byte*>(copy->data())};
    std::string characters;
    get(characters);
    tensor.characters = std::make_shared<const std::string>(std::move(characters));
  }
  bool good() const { return good_; }
  bool at_end() const { return rest_.empty(); }

 private:
  const std::byte* advance(uint64_t count) {
    good_ = good_ && count <= rest_.size();
    if (!good_) return nullptr;
    const std::byte* from = rest_.data();
    rest_ = rest_.subspan(static_cast<size_t>(count));
    return from;
  }
  static bool is_consistent(const TensorValue& tensor) {
    if (tensor.extents.size() > kMaxRank) return false;
    const auto item = static_cast<uint64_t>(element_bits(tensor.type)) / 8;
    uint64_t bytes = item;
    for (int64_t extent : tensor.extents) {
      if (extent < 0 || extent > INT32_MAX || bytes > uint64_t{1} << 32) return false;
      bytes *= static_cast<uint64_t>(extent);
    }
    return item != 0 && bytes == tensor.size;
  }

  std::span<const std::byte> rest_;
  bool good_ = true;
};

/// Stores a value of an operator that is declared in C++ (PythonAttributes::put).
void put(void* self, std::string_view name, const internal::PythonValue& value, bool element) {
  AttributeValue& stored = (*static_cast<definitions::AttributeMap*>(self))[std::string(name)];
  const auto store = [&stored, element](auto held) {
    using List = std::vector<decltype(held)>;
    if (!element) {
      stored = std::move(held);
    } else if (auto* list = std::get_if<List>(&stored)) {
      list->push_back(std::move(held));
    } else {
      stored = List{std::move(held)};
    }
  };
  switch (value.kind) {
    case internal::PythonValue::kEmptyList:
      stored = std::vector<int64_t>();
      break;
    case internal::PythonValue::kInteger:
      store(value.integer);
      break;
    case internal::PythonValue::kReal:
      store(value.real);
      break;
    case internal::PythonValue::kText:
      store(std::string(value.text));
      break;
    case internal::PythonValue::kTensor:
      const TensorView& tensor = value.tensor;
      stored = TensorValue{
          tensor.type,
          {tensor.dims().begin(), tensor.dims().end()},
          std::shared_ptr<const std::byte>(std::shared_ptr<void>(), tensor.as<const std::byte>()),
          static_cast<size_t>(tensor.bytes())};
      break;
  }
}

/// Makes the variant hold its alternative `index` and reads that.
template <size_t I = 0>
bool get_alternative(Reader& reader, size_t index, AttributeValue& value) {
  if constexpr (I < std::variant_size_v<AttributeValue>) {
    if (I == index) {
      reader.get(value.emplace<I>());
      return true;
    }
    return get_alternative<I + 1>(reader, index, value);
  }
  return false;
}

}  // namespace

std::string problem_of(const std::string& name, const AttributeValue& value) {
  const auto* tensor = std::get_if<TensorValue>(&value);
  if (tensor == nullptr || is_for_python(tensor->type)) return "";
  std::string types;
  for (uint8_t number = 1; number <= kLastDataType; ++number) {
    const auto type = static_cast<DataType>(number);
    if (is_for_python(type)) types += std::string(types.empty() ? "" : ", ") + dtype_name(type);
  }
  return "attribute \"" + name + "\" is a tensor of " + dtype_name(tensor->type) +
         ", for which Python has no elements; it has them for " + types;
}

std::string NodeAttributes::function() const {
  return module + ":" + (class_name.empty() ? "" : class_name + ".") + method;
}

NodeAttributes NodeAttributes::of(const KernelContext& context,
                                  const internal::PythonCallee& callee) {
  NodeAttributes result;
  result.convention = Convention::kForward;
  const size_t colon = std::min(callee.function.find(':'), callee.function.size());
  const size_t dot = callee.function.rfind('.');
  const bool has_class = dot != std::string_view::npos && dot > colon;
  result.module = callee.function.substr(0, colon);
  if (has_class) result.class_name = callee.function.substr(colon + 1, dot - colon - 1);
  result.method =
      callee.function.substr(has_class ? dot + 1 : std::min(colon + 1, callee.function.size()));
  result.inputs.resize(static_cast<size_t>(callee.inputs));
  result.outputs.resize(static_cast<size_t>(callee.outputs));
  const internal::PythonAttributes target{&result.values, &put};
  callee.attributes(context, target);
  return result;
}

std::vector<std::byte> NodeAttributes::encode() const {
  Writer writer;
  writer.put(convention);
  writer.put(module);
  writer.put(class_name);
  writer.put(method);
  writer.put(inputs);
  writer.put(outputs);
  writer.put(static_cast<uint32_t>(values.size()));
  for (const auto& [name, value] : values) {
    writer.put(name);
    writer.put(static_cast<uint8_t>(value.index()));
    std::visit([&writer](const auto& held) { writer.put(held); }, value);
  }
  return writer.take();
}

std::optional<NodeAttributes> NodeAttributes::decode(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  NodeAttributes result;
  uint32_t count = 0;
  reader.get(result.convention);
  reader.get(result.module);
  reader.get(result.class_name);
  reader.get(result.method);
  reader.get(result.inputs);
  reader.get(result.outputs);
  reader.get(count);
  for (uint32_t i = 0; i < count && reader.good(); ++i) {
    std::string name;
    uint8_t index = 0;
    reader.get(name);
    reader.get(index);
    AttributeValue value;
    if (!get_alternative(reader, index, value)) return std::nullopt;
    result.values.insert_or_assign(std::move(name), std::move(value));
  }
  if (!reader.good() || !reader.at_end() || result.convention > Convention::kFunction) {
    return std::nullopt;
  }
  // The context is one of the outputs.
  if (result.convention == Convention::kFunction && result.outputs.empty()) return std::nullopt;
  return result;
}

}  // namespace intarsia::pyop
