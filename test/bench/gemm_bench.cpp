// SPDX-License-Identifier: Apache-2.0
//
// Speed of the f32 GEMM family as a fraction of the peak that a loop of multiply-adds in registers
// reaches in the same process, interleaved with what is measured: only ratios mean something.
//
//   gemm_bench [portable|avx2|avx512|neon] [name]     lines whose name contains `name`; default:
//   all
//
// Rounds: each figure is the best of several runs; the peak is taken before and after each line.
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "kernels_cpu/gemm/conv.h"
#include "kernels_cpu/gemm/depthwise.h"
#include "kernels_cpu/gemm/gemm.h"
#include "kernels_cpu/gemm/microkernel.h"
#include "kernels_cpu/gemm/pack.h"

namespace {

using namespace intarsia;       // NOLINT: a program of its own
using namespace intarsia::cpu;  // NOLINT

// Processor time of this thread: what other programs take does not count.
double now() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

std::vector<float> random_floats(int64_t count) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<float> value(-1, 1);
  std::vector<float> v(static_cast<size_t>(count) + kPanel);
  for (float& x : v) x = value(engine);
  return v;
}

// A whole cache line for the first element: packed weights lie so in a plan.
float* aligned(std::vector<float>& v) {
  const auto address = reinterpret_cast<uintptr_t>(v.data());
  return v.data() + (64 - address % 64) % 64 / sizeof(float);
}

template <class Run>
double best_seconds(Run run, double budget = 0.06) {
  double best = 1e9;
  const double start = now();
  int rounds = 0;
  do {
    const double t0 = now();
    run();
    best = std::min(best, now() - t0);
    ++rounds;
  } while (now() - start < budget || rounds < 5);
  return best;
}

// Multiply-adds of independent chains in registers, without loads; returns operations.
#if defined(__x86_64__)
#define INTARSIA_FMA8(width, instruction)                                                          \
  __asm__ volatile(instruction                                                                     \
                   " %%" width "0, %%" width "1, %%" width "2\n\t" instruction " %%" width         \
                   "0, %%" width "1, %%" width "3\n\t" instruction " %%" width "0, %%" width       \
                   "1, %%" width "4\n\t" instruction " %%" width "0, %%" width "1, %%" width       \
                   "5\n\t" instruction " %%" width "0, %%" width "1, %%" width "6\n\t" instruction \
                   " %%" width "0, %%" width "1, %%" width "7\n\t" instruction " %%" width         \
                   "0, %%" width "1, %%" width "8\n\t" instruction " %%" width "0, %%" width       \
                   "1, %%" width "9\n\t" instruction " %%" width "0, %%" width "1, %%" width       \
                   "10\n\t" instruction " %%" width "0, %%" width "1, %%" width "11"               \
                   :                                                                               \
                   :                                                                               \
                   : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",       \
                     "xmm9", "xmm10", "xmm11")

double peak_operations(Isa isa) {
  constexpr int kLoops = 20000;
  if (isa == Isa::kAvx512) {
    for (int i = 0; i < kLoops; ++i) INTARSIA_FMA8("zmm", "vfmadd231ps");
    return kLoops * 10.0 * 16 * 2;
  }
  if (isa == Isa::kAvx2) {
    for (int i = 0; i < kLoops; ++i) INTARSIA_FMA8("ymm", "vfmadd231ps");
    return kLoops * 10.0 * 8 * 2;
  }
  // Without fused instructions: as many multiplications and additions as could pair up.
  for (int i = 0; i < kLoops; ++i) {
    __asm__ volatile(
        "mulps %%xmm0, %%xmm2\n\taddps %%xmm0, %%xmm3\n\tmulps %%xmm0, %%xmm4\n\t"
        "addps %%xmm0, %%xmm5\n\tmulps %%xmm0, %%xmm6\n\taddps %%xmm0, %%xmm7\n\t"
        "mulps %%xmm0, %%xmm8\n\taddps %%xmm0, %%xmm9\n\tmulps %%xmm0, %%xmm10\n\t"
        "addps %%xmm0, %%xmm11\n\tmulps %%xmm0, %%xmm12\n\taddps %%xmm0, %%xmm13"
        :
        :
        : "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
          "xmm13");
  }
  return kLoops * 12.0 * 4;
}
#else
double peak_operations(Isa) {
  return 0;
}
#endif

class Bench {
 public:
  Bench(Isa isa, const char* filter) : isa_(isa), filter_(filter) {}

  Isa isa() const { return isa_; }

  bool wants(const std::string& name) const { return name.find(filter_) != std::string::npos; }

  // Times `run`, which does `macs` multiply-adds.
  template <class Run>
  void line(const std::string& name, double macs, Run run) {
    if (!wants(name)) return;
    double peak = peak_now();
    const double seconds = best_seconds(run);
    peak = std::max(peak, peak_now());
    const double rate = 2 * macs / seconds;
    std::printf("%-44s %9.1f us %8.1f GFLOP/s %6.1f %% of peak (%.1f)\n", name.c_str(),
                seconds * 1e6, rate * 1e-9, peak > 0 ? 100 * rate / peak : 0, peak * 1e-9);
    std::fflush(stdout);
  }

  double peak_now() const {
    double operations = 0;
    const double seconds = best_seconds([&] { operations = peak_operations(isa_); }, 0.01);
    return operations / seconds;
  }

 private:
  Isa isa_;
  const char* filter_;
};

// Every row count of every family, operands in the first cache level.
void bench_tiles(Bench& bench) {
  const TileKernels kernels = tile_kernels(bench.isa());
  for (int f = 0; f < kernels.family_count; ++f) {
    const TileFamily& family = kernels.families[f];
    for (int rows = 1; rows <= family.max_rows; ++rows) {
      constexpr int64_t kK = 128;
      const int64_t n = family.panels * kPanel;
      auto a = random_floats(rows * (kK + 16));
      auto b = random_floats(kK * n);
      std::vector<float> c(static_cast<size_t>(rows * n + kPanel));
      const float* pointers[kMaxTileRows];
      for (int r = 0; r < rows; ++r) pointers[r] = aligned(a) + r * (kK + 16);
      const Epilogue none;
      Tile t{};
      t.epilogue = &none;
      t.rows = pointers;
      t.row_pitch = rows;
      t.taps = 1;
      t.k = kK;
      t.b = aligned(b);
      t.prefetch = t.b;
      t.b_panel_pitch = kK * kPanel;
      t.c = aligned(c);
      t.c_pitch = n;
      t.n = n;
      constexpr int kRepeat = 50;
      bench.line("tile " + std::to_string(rows) + "x" + std::to_string(n),
                 static_cast<double>(kRepeat * rows * n * kK), [&] {
                   for (int i = 0; i < kRepeat; ++i) family.by_rows[rows - 1](t);
                 });
    }
  }
}

void bench_gemm(Bench& bench, GemmShape s) {
  auto a = random_floats(s.m * s.k);
  auto b = random_floats(packed_floats(1, s.k, s.n));
  auto c = random_floats(s.m * s.n);
  GemmArgs args{s, aligned(a), s.k, aligned(b), aligned(c), s.n};
  args.isa = bench.isa();
  const int64_t units = gemm_units(s);
  char name[96];
  std::snprintf(name, sizeof name, "gemm m%d n%d k%d (%d units)", static_cast<int>(s.m),
                static_cast<int>(s.n), static_cast<int>(s.k), static_cast<int>(units));
  bench.line(name, static_cast<double>(s.m) * static_cast<double>(s.n * s.k),
             [&] { gemm_run(args, 0, units); });
}

struct Layer {
  int count;  // How often the network has it.
  int size, in_c, out_c, kernel, stride;
};

ConvShape shape_of(const Layer& l, bool depthwise) {
  ConvShape s;
  s.in_h = s.in_w = l.size;
  s.in_c = s.in_pitch = l.in_c;
  s.out_c = s.out_pitch = l.out_c;
  s.out_h = s.out_w = (l.size - 1) / l.stride + 1;
  s.kernel_h = s.kernel_w = l.kernel;
  s.stride_h = s.stride_w = l.stride;
  s.pad_top = s.pad_left = l.kernel / 2;
  s.groups = depthwise ? l.in_c : 1;
  return s;
}

std::string name_of(const char* network, const Layer& l) {
  char name[96];
  std::snprintf(name, sizeof name, "%s %dx %d^2 %d->%d k%d s%d", network, l.count, l.size, l.in_c,
                l.out_c, l.kernel, l.stride);
  return name;
}

// A layer of a network with weights of its own.
struct ConvLayer {
  ConvShape shape;
  std::vector<float> weights, bias;

  explicit ConvLayer(const Layer& l) : shape(shape_of(l, false)) {
    const ConvShape& s = shape;
    weights = random_floats(packed_floats(1, s.kernel_h * s.kernel_w * s.in_c, s.out_c));
    bias = random_floats(s.out_c);
  }

  double macs() const {
    return static_cast<double>(shape.out_h * shape.out_w * shape.out_c * shape.kernel_h *
                               shape.kernel_w * shape.in_c);
  }

  void run(Isa isa, const float* input, float* output, void* workspace) {
    ConvArgs args{shape, input, aligned(weights), output};
    args.bias = bias.data();
    args.epilogue = bounds_of({Activation::kRelu});
    args.isa = isa;
    conv_run(args, 0, conv_units(shape), workspace);
  }
};

// All layers one after the other, each repetition with weights of its own, as a network runs them:
// large weights come from memory, not from a cache. Input and output are two buffers in turn.
void bench_network(Bench& bench, const char* network, const std::vector<Layer>& layers) {
  if (!bench.wants(network)) return;
  std::vector<std::vector<ConvLayer>> instances;
  int64_t most = 0;
  for (const Layer& l : layers) {
    instances.emplace_back();
    for (int i = 0; i < l.count; ++i) instances.back().emplace_back(l);
    const ConvShape& s = instances.back()[0].shape;
    most = std::max({most, s.in_h * s.in_w * s.in_c, s.out_h * s.out_w * s.out_c,
                     conv_workspace_bytes(s).value() / 4});
  }
  auto one = random_floats(most), two = random_floats(most), workspace = random_floats(most);
  float* input = aligned(one);
  float* output = aligned(two);
  std::vector<double> best(layers.size(), 1e9);
  double best_total = 1e9, peak = 0;
  for (int round = 0; round < 12; ++round) {
    peak = std::max(peak, bench.peak_now());
    const double start = now();
    for (size_t i = 0; i < layers.size(); ++i) {
      const double t0 = now();
      for (ConvLayer& layer : instances[i]) {
        layer.run(bench.isa(), input, output, aligned(workspace));
        std::swap(input, output);
      }
      best[i] = std::min(best[i], (now() - t0) / layers[i].count);
    }
    best_total = std::min(best_total, now() - start);
  }
  double macs = 0;
  for (size_t i = 0; i < layers.size(); ++i) {
    const double layer_macs = instances[i][0].macs();
    macs += layer_macs * layers[i].count;
    std::printf("%-44s %9.1f us %8.1f GFLOP/s %6.1f %% of peak\n",
                name_of(network, layers[i]).c_str(), best[i] * 1e6, 2e-9 * layer_macs / best[i],
                200 * layer_macs / best[i] / peak);
  }
  std::printf("%s: convolutions %.2f ms, %.1f %% of peak (%.1f GFLOP/s)\n", network,
              best_total * 1e3, 200 * macs / best_total / peak, peak * 1e-9);
}

void bench_depthwise(Bench& bench, const Layer& l) {
  const ConvShape s = shape_of(l, true);
  auto input = random_floats(s.in_h * s.in_w * s.in_c);
  auto weights = random_floats(l.kernel * l.kernel * s.in_c);
  auto output = random_floats(s.out_h * s.out_w * s.out_c);
  DepthwiseArgs args{s, aligned(input), aligned(weights), aligned(output)};
  args.kernel =
      s.kernel_w == 3 && s.stride_w == 1   ? depthwise_kernel<DepthwiseWindow<3, 1>>(bench.isa())
      : s.kernel_w == 3 && s.stride_w == 2 ? depthwise_kernel<DepthwiseWindow<3, 2>>(bench.isa())
                                           : depthwise_kernel<DepthwiseWindow<0, 0>>(bench.isa());
  bench.line(name_of("depthwise", l),
             static_cast<double>(s.out_h * s.out_w * s.out_c * l.kernel * l.kernel),
             [&] { depthwise_run(args, 0, depthwise_units(s)); });
}

void bench_activations(Bench& bench) {
  constexpr int64_t kCount = 4096;
  auto x = random_floats(kCount);
  std::vector<float> y(x.size());
  for (int kind = 0; kind <= static_cast<int>(Activation::kSoftplus); ++kind) {
    GemmArgs args{{1, kCount, 0}, nullptr, 0, nullptr, y.data(), kCount};
    args.residual = x.data();
    args.epilogue = epilogue_of({static_cast<Activation>(kind), 0.1f, 0.5f}, bench.isa());
    args.isa = bench.isa();
    bench.line("activation " + std::to_string(kind) + " of 4096", kCount,
               [&] { gemm_run(args, 0, gemm_units(args.shape)); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  Isa isa = vector_isa(detect_isa());
  if (argc > 1) {
    const std::string name = argv[1];
    isa = name == "portable" ? Isa::kPortable
          : name == "avx2"   ? Isa::kAvx2
          : name == "neon"   ? Isa::kNeon
                             : Isa::kAvx512;
  }
  Bench bench(isa, argc > 2 ? argv[2] : "");
  bench_tiles(bench);
  for (const GemmShape& s :
       {GemmShape{1, 1000, 2048}, GemmShape{1, 128, 784}, GemmShape{4, 1024, 1024},
        GemmShape{128, 384, 384}, GemmShape{128, 1536, 384}, GemmShape{128, 384, 1536},
        GemmShape{128, 768, 768}, GemmShape{128, 3072, 768}, GemmShape{128, 768, 3072},
        GemmShape{197, 2304, 768}, GemmShape{128, 128, 64}, GemmShape{128, 64, 128}}) {
    bench_gemm(bench, s);
  }
  bench_network(bench, "resnet50",
                {{1, 224, 3, 64, 7, 2},    {1, 56, 64, 64, 1, 1},    {3, 56, 64, 64, 3, 1},
                 {4, 56, 64, 256, 1, 1},   {2, 56, 256, 64, 1, 1},   {1, 56, 256, 128, 1, 1},
                 {1, 56, 128, 128, 3, 2},  {4, 28, 128, 512, 1, 1},  {1, 56, 256, 512, 1, 2},
                 {3, 28, 512, 128, 1, 1},  {3, 28, 128, 128, 3, 1},  {1, 28, 512, 256, 1, 1},
                 {1, 28, 256, 256, 3, 2},  {6, 14, 256, 1024, 1, 1}, {1, 28, 512, 1024, 1, 2},
                 {5, 14, 1024, 256, 1, 1}, {5, 14, 256, 256, 3, 1},  {1, 14, 1024, 512, 1, 1},
                 {1, 14, 512, 512, 3, 2},  {3, 7, 512, 2048, 1, 1},  {1, 14, 1024, 2048, 1, 2},
                 {2, 7, 2048, 512, 1, 1},  {2, 7, 512, 512, 3, 1}});
  bench_network(bench, "mobilenetv2",
                {{1, 224, 3, 32, 3, 2},  {1, 112, 32, 16, 1, 1}, {1, 112, 16, 96, 1, 1},
                 {1, 56, 96, 24, 1, 1},  {2, 56, 24, 144, 1, 1}, {1, 56, 144, 24, 1, 1},
                 {1, 28, 144, 32, 1, 1}, {3, 28, 32, 192, 1, 1}, {2, 28, 192, 32, 1, 1},
                 {1, 14, 192, 64, 1, 1}, {4, 14, 64, 384, 1, 1}, {3, 14, 384, 64, 1, 1},
                 {1, 14, 384, 96, 1, 1}, {3, 14, 96, 576, 1, 1}, {2, 14, 576, 96, 1, 1},
                 {1, 7, 576, 160, 1, 1}, {3, 7, 160, 960, 1, 1}, {2, 7, 960, 160, 1, 1},
                 {1, 7, 960, 320, 1, 1}, {1, 7, 320, 1280, 1, 1}});
  for (const Layer& l :
       {Layer{1, 112, 32, 32, 3, 1}, Layer{1, 112, 96, 96, 3, 2}, Layer{2, 56, 144, 144, 3, 1},
        Layer{1, 28, 192, 192, 3, 1}, Layer{4, 14, 384, 384, 3, 1}, Layer{3, 7, 960, 960, 3, 1},
        Layer{1, 28, 120, 120, 5, 1}, Layer{1, 56, 96, 96, 7, 1}}) {
    bench_depthwise(bench, l);
  }
  bench_activations(bench);
  return 0;
}
