// SPDX-License-Identifier: Apache-2.0
#include "pyop_optional/module/plan_session.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "converter/graph/describe_text.h"
#include "converter/graph/error.h"
#include "converter/graph/string_walk.h"
#include "converter/onnx/file.h"
#include "converter/plugin/plugin.h"
#include "core/runtime/session_state.h"
#include "core/threads/fork_count.h"
#include "intarsia/pyop.h"
#include "intarsia/small_types.h"

namespace intarsia::python {
namespace {

std::string text_of(const flatbuffers::String* string) {
  return string != nullptr ? string->str() : std::string();
}

PortInfo info_of(const PlanView& plan, const plan::Port& port) {
  const plan::Tensor& tensor = plan.tensors[plan.slots[port.slot()].tensor()];
  const int32_t* extents = plan.extents + tensor.extents();
  PortInfo info{text_of(port.name()), static_cast<DataType>(tensor.type()), {}, {}, {}};
  for (uint32_t axis = 0; axis < tensor.rank(); ++axis) {
    const bool varies = port.symbols() != nullptr && port.symbols()->size() != 0;
    info.extents.push_back(extents[axis]);
    info.symbols.push_back(varies ? port.symbols()->Get(axis) : kFixed);
  }
  if (port.holds() != nullptr) info.holds.assign(port.holds()->begin(), port.holds()->end());
  return info;
}

std::vector<PortInfo> infos_of(const PlanView& plan,
                               const flatbuffers::Vector<flatbuffers::Offset<plan::Port>>* ports) {
  std::vector<PortInfo> infos;
  for (uint32_t i = 0; ports != nullptr && i < ports->size(); ++i) {
    infos.push_back(info_of(plan, *ports->Get(i)));
  }
  return infos;
}

bool is_packed(DataType type) {
  return element_bits(type) < 8;
}

/// Bytes of a tensor in numpy's form.
size_t outer_bytes(const TensorView& tensor) {
  return static_cast<size_t>(is_packed(tensor.type) ? tensor.count() : tensor.bytes());
}

void copy_in(std::span<const std::byte> bytes, const TensorView& tensor) {
  if (bytes.empty()) return;
  const int bits = element_bits(tensor.type);
  auto* target = tensor.as<uint8_t>();
  const auto* source = reinterpret_cast<const uint8_t*>(bytes.data());
  if (tensor.type == DataType::kBool) {  // a numpy view may hold bytes other than 0 and 1
    for (size_t i = 0; i < bytes.size(); ++i) target[i] = source[i] != 0 ? 1 : 0;
  } else if (bits < 8) {
    std::memset(target, 0, static_cast<size_t>(tensor.bytes()));
    for (size_t i = 0; i < bytes.size(); ++i) {
      set_packed_code(tensor.as<std::byte>(), static_cast<int64_t>(i), bits, source[i]);
    }
  } else {
    std::memcpy(target, source, bytes.size());
  }
}

void copy_out(const TensorView& tensor, std::span<std::byte> bytes) {
  const size_t count = outer_bytes(tensor);
  if (count == 0) return;
  const int bits = element_bits(tensor.type);
  if (bits >= 8) {
    std::memcpy(bytes.data(), tensor.data, count);
    return;
  }
  const bool is_signed = tensor.type == DataType::kInt4 || tensor.type == DataType::kInt2;
  for (size_t i = 0; i < count; ++i) {
    const uint8_t code = packed_code(tensor.as<std::byte>(), static_cast<int64_t>(i), bits);
    bytes[i] = static_cast<std::byte>(decode_integer(code, bits, is_signed));
  }
}

/// Types that hold characters cross as a tensor's bytes, in which strings refer to the characters
/// behind them.
bool may_have_characters(DataType type) {
  return type == DataType::kString || holds_elements(type);
}

Status copy_strings_in(Session& session, int entry, std::span<const std::byte> bytes,
                       const TensorView& tensor) {
  const auto size = static_cast<size_t>(tensor.bytes());
  const std::span<const std::byte> text = bytes.subspan(size);
  const StringPool given({reinterpret_cast<const char*>(text.data()), text.size()}, {});
  const std::span<std::byte> elements(tensor.as<std::byte>(), size);
  if (size != 0) std::memcpy(elements.data(), bytes.data(), size);
  Status status;
  converter::for_each_string(tensor.type, elements, [&](StringRef& string) {
    string.offset |= StringPool::kConstant;
    const std::string_view characters = given[string];
    string = {};
    if (!status.ok() || characters.empty()) return;
    Result<StringRef> added = session.add_string(characters, entry);
    status = added.status();
    if (added.ok()) string = *added;
  });
  return status;
}

AlignedBytes copy_strings_out(const Session& session, const TensorView& tensor) {
  const auto size = static_cast<size_t>(tensor.bytes());
  AlignedBytes elements(size);
  if (size != 0) std::memcpy(elements.data(), tensor.data, size);
  std::string characters;
  converter::for_each_string(tensor.type, elements.span(), [&](StringRef& string) {
    const std::string_view text = session.string(string);
    string = {static_cast<uint32_t>(characters.size()), static_cast<uint32_t>(text.size())};
    characters += text;
  });
  if (characters.empty()) return elements;
  AlignedBytes block(size + characters.size());
  if (size != 0) std::memcpy(block.data(), elements.data(), size);
  std::memcpy(block.data() + size, characters.data(), characters.size());
  return block;
}

/// Binds inputs and targets of a run and lets go of them when it ends, however it ends.
class BoundPorts {
 public:
  BoundPorts(Session& session, int entry) : session_(session), entry_(entry) {}
  /// REQUIRES: each target holds its output at the planned extents. A target whose memory does not
  /// suit the kernels (packed elements, a misaligned address) is not bound; `deliver` copies then.
  void bind(std::span<const OutputData> outputs) {
    outputs_ = static_cast<int>(outputs.size());
    for (int i = 0; i < outputs_; ++i) {
      const OutputData& output = outputs[static_cast<size_t>(i)];
      if (!output.has_target || is_packed(session_.output_port(i, entry_)->tensor.type)) continue;
      static_cast<void>(
          session_.bind_output(i, output.target.data(), output.target.size(), entry_));
    }
  }
  Status bind_input(int index, std::span<const std::byte> bytes) {
    inputs_ = index + 1;
    return session_.bind_input(index, bytes.data(), bytes.size(), entry_);
  }
  ~BoundPorts() {
    for (int i = 0; i < outputs_; ++i) {
      static_cast<void>(session_.bind_output(i, nullptr, 0, entry_));
    }
    for (int i = 0; i < inputs_; ++i) {
      static_cast<void>(session_.bind_input(i, nullptr, 0, entry_));
    }
  }
  BoundPorts(const BoundPorts&) = delete;
  BoundPorts& operator=(const BoundPorts&) = delete;

 private:
  Session& session_;
  int entry_, outputs_ = 0, inputs_ = 0;
};

void deliver(const Session& session, const TensorView& tensor, OutputData& output) {
  if (!output.wanted) return;
  output.extents.assign(tensor.dims().begin(), tensor.dims().end());
  if (may_have_characters(tensor.type)) {
    output.own.emplace(copy_strings_out(session, tensor));
    return;
  }
  const size_t bytes = outer_bytes(tensor);
  if (output.has_target) {
    if (tensor.data != output.target.data()) copy_out(tensor, output.target);
    return;
  }
  copy_out(tensor, output.own.emplace(bytes).span());
}

}  // namespace

AlignedBytes copy_of(std::span<const std::byte> bytes) {
  AlignedBytes memory(bytes.size());
  if (!bytes.empty()) std::memcpy(memory.data(), bytes.data(), bytes.size());
  return memory;
}

AlignedBytes read_plan(const std::string& path) {
  try {
    return copy_of(converter::MappedFile::open(path)->bytes());
  } catch (const converter::Error& error) {
    throw Failure(Code::kOk, error.what());
  } catch (const std::bad_alloc&) {
    throw Failure(Code::kOk, "cannot read " + path + ": not enough memory");
  }
}

/// What the session's observer calls, while it is asked to; one slot per node, so that measuring
/// allocates nothing.
struct PlanSession::Profile {
  using Clock = std::chrono::steady_clock;

  Observer observer{this, nullptr, nullptr};
  std::vector<NodeTime> times;
  std::vector<Clock::time_point> started;

  static void before(void* self, const KernelContext& context) {
    auto& profile = *static_cast<Profile*>(self);
    profile.started[static_cast<size_t>(context.node())] = Clock::now();
  }
  static void after(void* self, const KernelContext& context) {
    auto& profile = *static_cast<Profile*>(self);
    const auto node = static_cast<size_t>(context.node());
    using std::chrono::nanoseconds;
    const auto passed = Clock::now() - profile.started[node];
    profile.times[node].nanoseconds += std::chrono::duration_cast<nanoseconds>(passed).count();
    ++profile.times[node].runs;
  }
};

/// Holds the session for one thread.
class PlanSession::Exclusive {
 public:
  explicit Exclusive(PlanSession& session) : session_(session) {
    if (session_.owner_.load() == std::this_thread::get_id()) {
      throw Failure(Code::kBusy,
                    "this thread is running the session already; an operator must not call the "
                    "session that runs it");
    }
    const uint32_t here = 1 + fork_count();
    uint32_t found = 0;
    while (!session_.holder_.compare_exchange_strong(found, here)) {
      if (found != here) {
        throw Failure(Code::kBusy,
                      "this process was forked while another thread ran the session, which that "
                      "run never leaves here; open a session of its own in the new process");
      }
      session_.holder_.wait(found);
      found = 0;
    }
    session_.owner_.store(std::this_thread::get_id());
  }
  ~Exclusive() {
    session_.owner_.store(std::thread::id());
    session_.holder_.store(0);
    session_.holder_.notify_one();
  }
  Exclusive(const Exclusive&) = delete;
  Exclusive& operator=(const Exclusive&) = delete;

 private:
  PlanSession& session_;
};

intarsia::internal::PyHostCalls* python_calls(std::span<const Service> services) {
  for (const Service& service : services) {
    if (service.key == kPyHostKey) {
      return static_cast<intarsia::internal::PyHostCalls*>(service.pointer);
    }
  }
  return nullptr;
}

void* take_exception(std::span<const Service> services) {
  auto* calls = python_calls(services);
  return calls != nullptr ? calls->take_exception(*calls) : nullptr;
}

PlanSession::~PlanSession() {
  session_.close();
  if (python() != nullptr) python()->logger = {};
  if (python() != nullptr && python()->memory_kept) {
    static_cast<void>(new AlignedBytes(std::move(arena_)));
  }
}

void PlanSession::fail() const {
  const Diagnostic& diagnostic = session_.diagnostic();
  throw Failure(diagnostic.code, converter::describe_text(diagnostic, plan_.span()),
                take_exception());
}

void PlanSession::require(Status status) const {
  if (!status.ok()) fail();
}

PlanSession::PlanSession(AlignedBytes bytes, const std::string& name, int threads,
                         const OperatorRequest& request)
    : name_(name),
      warning_(request.warning),
      operators_(load_operators(request)),
      plan_(std::move(bytes)),
      profile_(std::make_unique<Profile>()) {
  Diagnostic diagnostic;
  const auto refuse = [&] {
    std::string text = name + ": " + converter::describe_text(diagnostic, plan_.span());
    if (diagnostic.code == Code::kMissingKernel) {
      text += std::string("; ") + converter::kWhereOperatorsComeFrom;
    }
    throw Failure(diagnostic.code, text, take_exception());
  };
  static_cast<void>(take_exception());  // from now on they are kept
  if (python() != nullptr && warning_ != nullptr) {
    python()->logger = {[](void* self, const PyWarning& warning) {
                          const auto& session = *static_cast<const PlanSession*>(self);
                          session.warning_(session.name_ + ": node " +
                                           std::to_string(warning.node) + ": " +
                                           std::string(warning.text));
                        },
                        this};
  }
  const Result<PlanInfo> info = plan_info(plan_.span(), &diagnostic);
  if (!info.ok()) refuse();
  try {
    arena_ = AlignedBytes(info.value().arena_bytes);
  } catch (const std::bad_alloc&) {
    throw Failure(Code::kOk, name + ": cannot allocate the arena of " +
                                 std::to_string(info.value().arena_bytes) + " bytes");
  }
  SessionOptions options;
  options.services = operators_.services;
  options.observer = &profile_->observer;
  profile_->times.resize(info.value().node_count);
  profile_->started.resize(info.value().node_count);
  if (threads > 1) {
    team_ = std::make_unique<ThreadTeam>(threads);
    options.parallel = &team_->parallel();
  }
  auto session =
      Session::open(plan_.span(), arena_.span(), operators_.kernels, options, &diagnostic);
  if (!session.ok()) refuse();
  session_ = std::move(session.value());

  PlanHeader header;
  if (!read_header(plan_.span(), header, diagnostic)) refuse();
  const PlanView plan = view_of(plan_.span(), header);
  for (const plan::Entry* entry : *plan.root->entries()) {
    entries_.push_back({text_of(entry->name()), infos_of(plan, entry->inputs()),
                        infos_of(plan, entry->outputs())});
  }
  for (size_t i = 0; i < entries_.size(); ++i) {
    const uint32_t before = plan.root->entries()->Get(static_cast<uint32_t>(i))->continues();
    if (before == kNone) continue;
    entries_[before].continued = true;
    entries_[i].continues = static_cast<int>(before);
  }
  if (plan.root->symbols() != nullptr) {
    for (const plan::Symbol* symbol : *plan.root->symbols()) {
      symbols_.push_back({text_of(symbol->name()), symbol->minimum(), symbol->maximum()});
    }
  }
  states_ = infos_of(plan, plan.root->state_ports());
}

void PlanSession::run(int entry, std::span<const InputData> inputs, std::span<OutputData> outputs) {
  const auto& infos = entries_[static_cast<size_t>(entry)].outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorView planned{nullptr, infos[i].extents.data(), infos[i].type,
                             static_cast<uint8_t>(infos[i].extents.size())};
    if (outputs[i].has_target && outputs[i].target.size() < outer_bytes(planned)) {
      throw Failure(Code::kInvalidArgument, "bytes of the target of output " + std::to_string(i));
    }
  }
  const Exclusive exclusive(*this);
  BoundPorts ports(session_, entry);
  const bool binds = !entries_[static_cast<size_t>(entry)].continued;
  if (binds) ports.bind(outputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto index = static_cast<int>(i);
    require(session_.resize_input(index, inputs[i].extents, entry));
    const TensorView tensor = session_.input_port(index, entry).value().tensor;
    const bool strings = may_have_characters(tensor.type);
    const size_t bytes = inputs[i].bytes.size(), expected = outer_bytes(tensor);
    if (strings ? bytes < expected : bytes != expected) {
      throw Failure(Code::kInvalidArgument, "bytes of input " + std::to_string(i));
    }
    if (binds && inputs[i].bound && may_bind(entry, index, inputs[i].bytes)) {
      require(ports.bind_input(index, inputs[i].bytes));
    } else if (strings) {
      require(copy_strings_in(session_, entry, inputs[i].bytes, tensor));
    } else {
      copy_in(inputs[i].bytes, tensor);
    }
  }
  require(session_.run(entry));
  for (size_t i = 0; i < outputs.size(); ++i) {
    deliver(session_, session_.output_port(static_cast<int>(i), entry).value().tensor, outputs[i]);
  }
}

bool PlanSession::may_bind(int entry, int index, std::span<const std::byte> bytes) const {
  const PortInfo& info = entries_[static_cast<size_t>(entry)].inputs[static_cast<size_t>(index)];
  const TensorView planned{nullptr, info.extents.data(), info.type,
                           static_cast<uint8_t>(info.extents.size())};
  const int bits = element_bits(info.type);
  return python() == nullptr && info.type != DataType::kBool && bits >= 8 &&
         !may_have_characters(info.type) && !bytes.empty() &&
         bytes.size() >= outer_bytes(planned) &&
         reinterpret_cast<uintptr_t>(bytes.data()) % (static_cast<size_t>(bits) / 8) == 0;
}

OutputData PlanSession::read_state(int index) {
  const Exclusive exclusive(*this);
  OutputData value;
  deliver(session_, session_.state(index).value().tensor, value);
  return value;
}

void PlanSession::write_state(int index, const InputData& value) {
  const Exclusive exclusive(*this);
  require(session_.resize_state(index, value.extents));
  const TensorView tensor = session_.state(index).value().tensor;
  if (value.bytes.size() != outer_bytes(tensor)) {
    throw Failure(Code::kWrongExtent, "state '" + states_[static_cast<size_t>(index)].name +
                                          "': expected " + std::to_string(outer_bytes(tensor)) +
                                          " bytes, found " + std::to_string(value.bytes.size()));
  }
  copy_in(value.bytes, tensor);
}

void PlanSession::reset_states() {
  const Exclusive exclusive(*this);
  require(session_.reset_states());
}

void PlanSession::start_profile() {
  const Exclusive exclusive(*this);
  std::ranges::fill(profile_->times, NodeTime());
  profile_->observer.before = &Profile::before;
  profile_->observer.after = &Profile::after;
}

std::vector<NodeTime> PlanSession::stop_profile() {
  const Exclusive exclusive(*this);
  profile_->observer.before = profile_->observer.after = nullptr;
  return profile_->times;
}

}  // namespace intarsia::python
