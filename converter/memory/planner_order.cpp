// SPDX-License-Identifier: Apache-2.0
//
// Operator order for a low memory peak: beam search over sets of executed nodes. The live bytes
// depend only on the set, so equal sets are merged, and a beam that never overflows is the exact
// dynamic program. A ready node that raises neither the peak nor the live bytes is run at once: no
// schedule gets worse when it moves forward. Both directions of time are searched, since reversing
// an order keeps its peak. Reference: Ahn et al., "Ordering Chaos" (SERENITY), MLSys 2020.
#include <algorithm>
#include <iterator>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>

#include "converter/memory/planner.h"

namespace intarsia::converter {
namespace {

using Lists = std::vector<std::vector<int32_t>>;

void sort_unique(std::vector<int32_t>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

// The problem in one direction of time.
struct Graph {
  Lists next;                    // nodes that wait for a node
  std::vector<int32_t> waits;    // per node: how many it waits for
  Lists touches;                 // per node: buffers it reads or writes
  std::vector<int32_t> users;    // per buffer: nodes that touch it
  std::vector<int64_t> size;     // per buffer
  std::vector<char> live_first;  // per buffer: live before the first node
  std::vector<char> live_last;   // per buffer: live after the last node
  std::vector<int64_t> workspace;

  int32_t nodes() const { return static_cast<int32_t>(waits.size()); }
};

Graph make_graph(const OrderProblem& problem) {
  const size_t n = problem.nodes.size();
  Graph graph;
  graph.touches.resize(n);
  graph.users.assign(problem.buffers.size(), 0);
  for (const OrderBuffer& buffer : problem.buffers) {
    graph.size.push_back(buffer.size);
    graph.live_first.push_back(buffer.live_at_start);
    graph.live_last.push_back(buffer.live_at_end);
  }
  // Read after write, write after read and write after write keep their given order.
  std::vector<int32_t> writer(problem.buffers.size(), -1);
  Lists readers(problem.buffers.size());
  Lists waits(n);
  for (size_t v = 0; v < n; ++v) {
    const OrderNode& node = problem.nodes[v];
    const int32_t id = static_cast<int32_t>(v);
    waits[v] = node.after;
    for (int32_t buffer : node.inputs) {
      if (writer[buffer] >= 0) waits[v].push_back(writer[buffer]);
      readers[buffer].push_back(id);
    }
    for (int32_t buffer : node.outputs) {
      if (writer[buffer] >= 0) waits[v].push_back(writer[buffer]);
      for (int32_t reader : readers[buffer]) {
        if (reader != id) waits[v].push_back(reader);
      }
      readers[buffer].clear();
      writer[buffer] = id;
    }
    sort_unique(waits[v]);
    std::erase(waits[v], id);
    graph.touches[v] = node.inputs;
    graph.touches[v].insert(graph.touches[v].end(), node.outputs.begin(), node.outputs.end());
    sort_unique(graph.touches[v]);
    for (int32_t buffer : graph.touches[v]) ++graph.users[buffer];
    graph.workspace.push_back(node.workspace);
  }
  graph.next.resize(n);
  for (size_t v = 0; v < n; ++v) {
    graph.waits.push_back(static_cast<int32_t>(waits[v].size()));
    for (int32_t before : waits[v]) graph.next[before].push_back(static_cast<int32_t>(v));
  }
  return graph;
}

Graph reversed(const Graph& graph) {
  Graph back = graph;
  std::swap(back.live_first, back.live_last);
  for (int32_t v = 0; v < graph.nodes(); ++v) {
    back.next[v].clear();
    back.waits[v] = static_cast<int32_t>(graph.next[v].size());
  }
  for (int32_t v = 0; v < graph.nodes(); ++v) {
    for (int32_t later : graph.next[v]) back.next[later].push_back(v);
  }
  return back;
}

// A set of executed nodes and what it keeps in memory.
struct State {
  int64_t live = 0;
  int64_t peak = 0;
  uint64_t hash = 0;             // of the set
  int32_t done = 0;              // nodes executed
  int32_t tail = -1;             // the last node executed, in the log
  std::vector<int32_t> waits;    // per node: predecessors not executed
  std::vector<int32_t> pending;  // per buffer: users not executed
  std::vector<int32_t> ready;    // nodes that may run, ascending
};

uint64_t hash_of(int32_t node) {
  uint64_t z = (static_cast<uint64_t>(node) + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

State initial_state(const Graph& graph) {
  State state;
  state.waits = graph.waits;
  state.pending = graph.users;
  for (int32_t v = 0; v < graph.nodes(); ++v) {
    if (graph.waits[v] == 0) state.ready.push_back(v);
  }
  for (size_t b = 0; b < graph.size.size(); ++b) {
    if (graph.live_first[b] && (graph.users[b] > 0 || graph.live_last[b])) {
      state.live += graph.size[b];
    }
  }
  state.peak = state.live;
  return state;
}

// Bytes live while the node runs, and after it.
std::pair<int64_t, int64_t> cost_of(const Graph& graph, const State& state, int32_t node) {
  int64_t during = state.live;
  int64_t freed = 0;
  for (int32_t b : graph.touches[node]) {
    if (state.pending[b] == graph.users[b] && !graph.live_first[b]) during += graph.size[b];
    if (state.pending[b] == 1 && !graph.live_last[b]) freed += graph.size[b];
  }
  return {during + graph.workspace[node], during - freed};
}

void execute(const Graph& graph, State& state, int32_t node) {
  const auto [during, after] = cost_of(graph, state, node);
  state.peak = std::max(state.peak, during);
  state.live = after;
  state.hash ^= hash_of(node);
  ++state.done;
  for (int32_t b : graph.touches[node]) --state.pending[b];
  state.ready.erase(std::lower_bound(state.ready.begin(), state.ready.end(), node));
  for (int32_t later : graph.next[node]) {
    if (--state.waits[later] == 0) {
      state.ready.insert(std::lower_bound(state.ready.begin(), state.ready.end(), later), later);
    }
  }
}

bool better(const State& a, const State& b) {
  if (a.live != b.live) return a.live < b.live;
  if (a.peak != b.peak) return a.peak < b.peak;
  return a.hash < b.hash;
}

// States of one size of sets; sorting moves addresses, not states.
using Layer = std::vector<std::unique_ptr<State>>;

struct Beam {
  const Graph& graph;
  size_t width;
  int64_t& steps;
  int64_t limit;                                 // peaks of this size and above are of no interest
  bool complete = true;                          // no state was dropped for lack of room
  std::vector<int32_t> best;                     // empty when nothing below the limit was found
  std::vector<std::pair<int32_t, int32_t>> log;  // (previous entry, node)
  Layer spare = {};                              // states whose memory others take over

  void run();
  void extend(std::unique_ptr<State> extended, int32_t node, std::vector<Layer>& layers);
  void trim(Layer& layer);
  std::unique_ptr<State> copy_of(const State& state);
  void drop(Layer& layer, size_t from);
};

std::unique_ptr<State> Beam::copy_of(const State& state) {
  if (spare.empty()) return std::make_unique<State>(state);
  std::unique_ptr<State> copy = std::move(spare.back());
  spare.pop_back();
  *copy = state;
  return copy;
}

void Beam::drop(Layer& layer, size_t from) {
  std::move(layer.begin() + static_cast<ptrdiff_t>(from), layer.end(), std::back_inserter(spare));
  layer.resize(from);
}

// Executes the node and all that may follow at once; files the result by its number of nodes.
void Beam::extend(std::unique_ptr<State> extended, int32_t node, std::vector<Layer>& layers) {
  State& state = *extended;
  while (node >= 0) {
    execute(graph, state, node);
    if (state.peak >= limit) {
      spare.push_back(std::move(extended));
      return;
    }
    log.emplace_back(state.tail, node);
    state.tail = static_cast<int32_t>(log.size()) - 1;
    node = -1;
    for (int32_t v : state.ready) {
      steps -= static_cast<int64_t>(graph.touches[v].size()) + 1;
      const auto [during, after] = cost_of(graph, state, v);
      if (during <= state.peak && after <= state.live) {
        node = v;
        break;
      }
    }
  }
  Layer& layer = layers[state.done];
  layer.push_back(std::move(extended));
  if (layer.size() >= 4 * width + 16) trim(layer);
}

// Merges equal sets, then keeps the best `width` states.
void Beam::trim(Layer& layer) {
  std::sort(layer.begin(), layer.end(), [](const auto& a, const auto& b) {
    return a->hash != b->hash ? a->hash < b->hash : a->peak < b->peak;
  });
  size_t kept = 0;
  for (size_t i = 0; i < layer.size(); ++i) {
    if (kept == 0 || layer[i]->hash != layer[kept - 1]->hash) std::swap(layer[kept++], layer[i]);
  }
  drop(layer, kept);
  std::sort(layer.begin(), layer.end(),
            [](const auto& a, const auto& b) { return better(*a, *b); });
  if (layer.size() > width) {
    drop(layer, width);
    complete = false;
  }
}

void Beam::run() {
  const int32_t n = graph.nodes();
  std::vector<Layer> layers(static_cast<size_t>(n) + 1);
  layers[0].push_back(std::make_unique<State>(initial_state(graph)));
  const int64_t copy = static_cast<int64_t>(graph.waits.size() + graph.users.size()) / 8 + 1;
  std::vector<std::tuple<int64_t, int64_t, int32_t>> choices;  // bytes after and during, node
  for (int32_t done = 0; done < n; ++done) {
    trim(layers[done]);
    for (const auto& state : layers[done]) {
      choices.clear();
      for (int32_t v : state->ready) {
        steps -= static_cast<int64_t>(graph.touches[v].size()) + 1;
        const auto [during, after] = cost_of(graph, *state, v);
        if (during < limit) choices.push_back({after, during, v});
      }
      std::sort(choices.begin(), choices.end());
      if (choices.size() > width) {
        choices.resize(width);
        complete = false;
      }
      for (const auto& [after, during, v] : choices) {
        steps -= copy;
        if (steps < 0) {
          complete = false;
          return;
        }
        extend(copy_of(*state), v, layers);
      }
    }
    drop(layers[done], 0);
  }
  trim(layers[n]);
  if (layers[n].empty()) return;
  const State& winner =
      **std::min_element(layers[n].begin(), layers[n].end(),
                         [](const auto& a, const auto& b) { return a->peak < b->peak; });
  for (int32_t entry = winner.tail; entry >= 0; entry = log[entry].first) {
    best.push_back(log[entry].second);
  }
  std::reverse(best.begin(), best.end());
}

int64_t peak_of(const Graph& graph, const std::vector<int32_t>& order) {
  State state = initial_state(graph);
  for (int32_t v : order) {
    const auto [during, after] = cost_of(graph, state, v);
    state.peak = std::max(state.peak, during);
    state.live = after;
    for (int32_t b : graph.touches[v]) --state.pending[b];
  }
  return state.peak;
}

}  // namespace

int64_t peak_of_order(const OrderProblem& problem, const std::vector<int32_t>& order) {
  return peak_of(make_graph(problem), order);
}

std::vector<int32_t> order_for_memory(const OrderProblem& problem) {
  const Graph forward = make_graph(problem);
  const Graph backward = reversed(forward);
  std::vector<int32_t> order(problem.nodes.size());
  std::iota(order.begin(), order.end(), 0);
  int64_t peak = peak_of(forward, order);

  // No order is below what one node needs for itself, or below what is live at either end.
  int64_t bound = std::max(initial_state(forward).live, initial_state(backward).live);
  for (int32_t v = 0; v < forward.nodes(); ++v) {
    int64_t need = forward.workspace[v];
    for (int32_t b : forward.touches[v]) need += forward.size[b];
    bound = std::max(bound, need);
  }
  // Wider beams until the steps, or about 100 MB for one layer of states, are used up.
  const size_t max_width = 4'000'000 / (forward.waits.size() + forward.users.size() + 1000);
  int64_t steps = problem.max_steps;
  for (size_t width = 1; width <= max_width && steps > 0 && peak > bound; width *= 4) {
    for (const Graph* graph : {&forward, &backward}) {
      Beam beam{*graph, width, steps, peak, true, {}, {}};
      beam.run();
      if (!beam.best.empty()) {
        order = std::move(beam.best);
        if (graph == &backward) std::reverse(order.begin(), order.end());
        peak = peak_of(forward, order);
      }
      if (beam.complete) return order;
    }
  }
  return order;
}

}  // namespace intarsia::converter
