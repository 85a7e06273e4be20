// SPDX-License-Identifier: Apache-2.0
//
// Operators of ai.onnx.ml that look labels up: their lists of keys become hash tables, constants of
// the plan. Source: onnx/docs/Operators-ml.md (CategoryMapper, LabelEncoder, OneHotEncoder).
#include <numeric>

#include "converter/onnx/lookup_steps.h"

namespace intarsia::converter::version_steps {
namespace {

std::string name_of(DataType type) {
  return std::string(data_type_name(type));
}

/// The slots of `count` keys, of which a quarter is taken. Of equal keys the last one counts.
template <class Key>
Constant slots_of(int64_t count, const Key& key) {
  std::vector<int32_t> slots(static_cast<size_t>(4 * count + 1), -1);
  for (int64_t i = 0; i < count; ++i) {
    const auto wanted = key(i);
    visit_slots(key_hash(wanted), static_cast<int64_t>(slots.size()), [&](int64_t slot) {
      int32_t& taken = slots[static_cast<size_t>(slot)];
      if (taken >= 0 && !equal_keys(key(taken), wanted)) return false;
      taken = static_cast<int32_t>(i);
      return true;
    });
  }
  return Constant::of<int32_t>({static_cast<int64_t>(slots.size())}, slots);
}

template <class T>
Constant slots_of(const Constant& keys) {
  return slots_of(keys.count(),
                  [&keys](int64_t i) { return keys.as<T>()[static_cast<size_t>(i)]; });
}

Constant slots_for_keys(const Node& node, const Constant& keys) {
  if (keys.count() > INT32_MAX / 8) fail(node, "has too many keys");
  switch (keys.type) {
    case DataType::kString:
      return slots_of(keys.count(), [&keys](int64_t i) { return keys.string(i); });
    case DataType::kFloat:
      return slots_of<float>(keys);
    case DataType::kDouble:
      return slots_of<double>(keys);
    case DataType::kInt16:
      return slots_of<int16_t>(keys);
    case DataType::kInt32:
      return slots_of<int32_t>(keys);
    case DataType::kInt64:
      return slots_of<int64_t>(keys);
    default:
      fail(node, "has keys of type " + name_of(keys.type),
           "keys may be strings, floats, doubles, or integers of 16, 32 or 64 bits");
  }
}

/// The elements of both, which have one type.
Constant joined(const Constant& a, const Constant& b) {
  const std::vector<int64_t> extents = {a.count() + b.count()};
  if (a.type == DataType::kString) {
    std::vector<std::string> list;
    for (const Constant* each : {&a, &b}) {
      for (int64_t i = 0; i < each->count(); ++i) list.emplace_back(each->string(i));
    }
    return Constant::strings(extents, list);
  }
  std::vector<std::byte> bytes(a.bytes().begin(), a.bytes().end());
  bytes.insert(bytes.end(), b.bytes().begin(), b.bytes().end());
  return Constant::own(a.type, extents, std::move(bytes));
}

/// Lets the node give, for each element of X, the value of the key that is equal to it.
void map_values(Node& node, Constant keys, const Constant& values, const Constant& otherwise) {
  if (keys.count() != values.count()) {
    fail(node,
         "has " + std::to_string(keys.count()) + " keys and " + std::to_string(values.count()) +
             " values",
         "each key needs one value");
  }
  Value* index = look_up(node, node.input(0), std::move(keys));
  Value* list = constant(node, "values", joined(values, otherwise));
  Value* result = emit(node, "Gather", {list, index});
  node.tensors.clear();
  become_results(node, {result});
}

/// Strings to integers, or integers to strings, as X demands.
void map_between(Node& node, const std::vector<std::string>& strings,
                 const std::vector<int64_t>& integers) {
  const DataType type = known_type(node, 0, "X");
  const Constant text = strings_of(strings), numbers = Constant::ints(integers);
  if (type == DataType::kString) {
    map_values(node, text, numbers, Constant::ints({node.integer("default_int64", -1)}));
  } else if (type == DataType::kInt64) {
    map_values(node, numbers, text, strings_of({node.text("default_string", "_Unused")}));
  } else {
    fail(node, "has an X of type " + name_of(type), "X has to hold strings or int64");
  }
}

/// What one of the attributes `what`_strings, _int64s, _floats and _tensor lists.
Constant list_of(const Node& node, const std::string& what) {
  std::vector<Constant> given;
  if (const auto list = texts(node, what + "_strings"); !list.empty()) {
    given.push_back(strings_of(list));
  }
  if (const auto list = node.integers(what + "_int64s"); !list.empty()) {
    given.push_back(Constant::ints(list));
  }
  if (const auto list = node.reals(what + "_floats"); !list.empty()) {
    given.push_back(Constant::of<float>({static_cast<int64_t>(list.size())}, list));
  }
  if (const auto tensor = node.tensors.find(what + "_tensor"); tensor != node.tensors.end()) {
    given.push_back(tensor->second);
    given.back().extents = {tensor->second.count()};
  }
  if (given.size() != 1) {
    fail(node, "gives its " + what + " by " + std::to_string(given.size()) + " attributes",
         "exactly one of '" + what + "_strings', '" + what + "_int64s', '" + what +
             "_floats' and '" + what + "_tensor' has to list them");
  }
  return given[0];
}

/// The value of what is no key.
Constant default_of(const Node& node, DataType type) {
  if (const auto tensor = node.tensors.find("default_tensor"); tensor != node.tensors.end()) {
    if (tensor->second.type != type || tensor->second.count() != 1) {
      fail(node, "attribute 'default_tensor' is not one element of type " + name_of(type),
           "it has to have the type of the values");
    }
    return tensor->second;
  }
  switch (type) {
    case DataType::kString:
      return strings_of({node.text("default_string", "_Unused")});
    case DataType::kInt64:
      return Constant::ints({node.integer("default_int64", -1)});
    case DataType::kFloat:
      return Constant::scalar(node.real("default_float", -0.0F));
    case DataType::kDouble:
      return Constant::scalar(-0.0);
    case DataType::kInt16:
    case DataType::kInt32:
      return Constant::scalar_of(type, -1);
    default:
      fail(node, "has values of type " + name_of(type),
           "values may be strings, floats, doubles, or integers of 16, 32 or 64 bits");
  }
}

}  // namespace

void fail(const Node& node, std::string message, std::string hint) {
  throw Error(node.problem(std::move(message), std::move(hint)));
}

std::vector<std::string> texts(const Node& node, const std::string& name) {
  const auto* value = node.attribute(name);
  if (value == nullptr) return {};
  const auto* list = std::get_if<std::vector<std::string>>(value);
  if (list == nullptr) fail(node, "attribute '" + name + "' is not a list of strings");
  return *list;
}

Constant strings_of(const std::vector<std::string>& list) {
  return Constant::strings({static_cast<int64_t>(list.size())}, list);
}

Value* look_up(Node& node, Value* x, Constant keys, bool strict) {
  if (x->type != DataType::kUndefined && x->type != keys.type) {
    fail(node, "has keys of type " + name_of(keys.type) + " and an X of type " + name_of(x->type),
         "both have to be of one type; put a Cast in front of the node");
  }
  Value* slots = constant(node, "slots", slots_for_keys(node, keys));
  Value* list = constant(node, "keys", std::move(keys));
  return emit_own(node, "Lookup", {x, list, slots}, {{"strict", int64_t{strict ? 1 : 0}}});
}

void label_encoder(Node& node) {
  require_input(node, 0, "X");
  if (node.attribute("classes_strings") != nullptr) {  // version 1
    const std::vector<std::string> classes = texts(node, "classes_strings");
    std::vector<int64_t> numbers(classes.size());
    std::iota(numbers.begin(), numbers.end(), 0);
    map_between(node, classes, numbers);
    return;
  }
  const Constant values = list_of(node, "values");
  map_values(node, list_of(node, "keys"), values, default_of(node, values.type));
}

void category_mapper(Node& node) {
  map_between(node, texts(node, "cats_strings"), node.integers("cats_int64s"));
}

/// What is none of the categories has an index beyond them, where OneHot sets nothing.
void one_hot_encoder(Node& node) {
  require_input(node, 0, "X");
  const std::vector<std::string> strings = texts(node, "cats_strings");
  const std::vector<int64_t> integers = node.integers("cats_int64s");
  if (strings.empty() == integers.empty()) {
    fail(node, "gives its categories by both or neither of 'cats_strings' and 'cats_int64s'",
         "exactly one of them has to list the categories");
  }
  Constant categories = strings.empty() ? Constant::ints(integers) : strings_of(strings);
  const int64_t count = categories.count();
  Value* x = node.input(0);
  if (strings.empty()) {
    const DataType type = known_type(node, 0, "X");
    if (type == DataType::kFloat || type == DataType::kDouble) {
      // A NaN is no category, but would be cast to 0.
      Value* none = constant(node, "none", Constant::scalar_of(type, -0x1p63));
      x = emit(node, "Where", {emit(node, "IsNaN", {x}), none, x});
      x->type = type;
    }
    x = as_type(node, x, DataType::kInt64);
    x->type = DataType::kInt64;
  }
  Value* index = look_up(node, x, std::move(categories), node.integer("zeros", 1) == 0);
  Value* depth = constant(node, "depth", Constant::ints({count}));
  Value* marks = floats(node, "marks", {0, 1}, {2});
  become_results(node, {emit(node, "OneHot", {index, depth, marks}, {{"axis", int64_t{-1}}})});
}

}  // namespace intarsia::converter::version_steps
