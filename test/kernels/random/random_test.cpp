// SPDX-License-Identifier: Apache-2.0
//
// Random numbers: the generator against the vectors of its authors, distributions against what
// they are to be, and that numbers depend on key, execution and position, and on nothing else.
// Seeds are fixed: what passes once passes always.
#include <array>
#include <numeric>
#include <set>

#include "core/operators/random/random.h"
#include "kernels_cpu/random/draw.h"
#include "kernels_cpu/random/philox.h"
#include "test/kernels/common/kernel_harness.h"

namespace intarsia::test {
namespace {

using Normals = ShapedAttributes<NormalAttributes>;
using Uniforms = ShapedAttributes<UniformAttributes>;

template <class A>
A shaped(const Dims& dims, float seed) {
  A attributes;
  attributes.numbers.seed = seed;
  for (int32_t extent : dims) attributes.shape.push(extent);
  return attributes;
}

constexpr int32_t kDraws = 1 << 20;

/// What one node draws in its last execution.
template <class T, class A>
std::vector<double> draw(const char* kernel, const A& attributes, const Dims& dims,
                         int executions = 1, int threads = 1, Isa isa = Isa::kPortable) {
  Node node;
  node.output<T>(dims).attributes(attributes).executions(executions).threads(threads).isa(isa);
  const std::string name = kernel_name(kernel, {data_type_of<T>});
  EXPECT_TRUE(node.run(name).ok()) << name;
  return node.numbers();
}
template <class T = float>
std::vector<double> uniforms(int32_t count, float seed, int executions = 1) {
  return draw<T>("RandomUniform", shaped<Uniforms>({count}, seed), {count}, executions);
}
template <class T = float>
std::vector<double> normals(int32_t count, float seed, int executions = 1) {
  return draw<T>("RandomNormal", shaped<Normals>({count}, seed), {count}, executions);
}

double mean_of(const std::vector<double>& x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}
/// The mean of (x - mean)^power.
double moment(const std::vector<double>& x, double mean, int power) {
  double sum = 0;
  for (double value : x) sum += std::pow(value - mean, power);
  return sum / static_cast<double>(x.size());
}
/// Of x[i] and y[i + lag].
double correlation(const std::vector<double>& x, const std::vector<double>& y, size_t lag = 0) {
  const double a = mean_of(x), b = mean_of(y);
  double sum = 0;
  for (size_t i = 0; i + lag < y.size(); ++i) sum += (x[i] - a) * (y[i + lag] - b);
  return sum / static_cast<double>(x.size()) / std::sqrt(moment(x, a, 2) * moment(y, b, 2));
}
/// How many standard deviations chi-square lies above its mean, where bin(x) is as likely for each
/// of `bins`.
template <class Bin>
double excess(const std::vector<double>& x, int bins, const Bin& bin) {
  std::vector<double> counts(static_cast<size_t>(bins));
  for (double value : x) counts[static_cast<size_t>(std::clamp(bin(value), 0, bins - 1))] += 1;
  const double expected = static_cast<double>(x.size()) / bins;
  double chi = 0;
  for (double count : counts) chi += (count - expected) * (count - expected) / expected;
  return (chi - (bins - 1)) / std::sqrt(2.0 * (bins - 1));
}

// -- The generator

TEST(Philox, GivesWhatItsAuthorsPublished) {  // Random123, kat_vectors
  struct Row {
    std::array<uint32_t, 4> counter;
    uint64_t key;
    std::array<uint32_t, 4> words;
  };
  const Row rows[] = {
      {{0, 0, 0, 0}, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
       0xffffffffffffffff,
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       0x299f31d0a4093822,
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (const Row& row : rows) {
    const cpu::PhiloxCounter made =
        cpu::philox({{row.counter[0], row.counter[1], row.counter[2], row.counter[3]}}, row.key);
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(made.words[i], row.words[i]);
  }
}

TEST(Numbers, AreThoseOfTheirPositionStreamAndExecution) {
  const cpu::RandomState state{0x0123456789abcdef, 0x500000007};
  const cpu::Numbers numbers(state);
  for (const int64_t first :
       {int64_t{0}, int64_t{4}, int64_t{256}, int64_t{0x100000000}, int64_t{0x800000000}}) {
    for (const uint32_t stream : {0u, 1u}) {
      uint32_t words[cpu::kPiece];
      numbers.words(stream, first, 7, words);
      for (uint32_t i = 0; i < 7; ++i) {
        const uint64_t counter = (static_cast<uint64_t>(first) + i) / 4;
        const cpu::PhiloxCounter made =
            cpu::philox({{static_cast<uint32_t>(counter),
                          static_cast<uint32_t>(counter >> 32) + (stream << 31), 7, 5}},
                        state.key);
        EXPECT_EQ(words[i], made.words[i % 4]) << first << " + " << i;
      }
    }
  }
}

TEST(Numbers, OfOneNodeNeverReturn) {
  // 2^128 counters: execution and position never meet again.
  std::set<std::pair<uint32_t, uint32_t>> seen;
  for (uint64_t execution = 0; execution < 64; ++execution) {
    uint32_t words[cpu::kPiece];
    for (int64_t first = 0; first < 16 * cpu::kPiece; first += cpu::kPiece) {
      cpu::Numbers({42, execution}).words(0, first, cpu::kPiece, words);
      for (int i = 0; i < cpu::kPiece; i += 2) seen.insert({words[i], words[i + 1]});
    }
  }
  EXPECT_EQ(seen.size(), 64u * 16 * cpu::kPiece / 2);
}

TEST(Numbers, KeysOfSeedsStreamsAndDistributionsDiffer) {
  std::set<uint64_t> keys;
  size_t count = 0;
  for (const Draws draws : {Draws::kNormal, Draws::kUniform, Draws::kBernoulli, Draws::kDropout}) {
    for (int i = 0; i < 1000; ++i) {
      BernoulliAttributes seed, stream;
      DropoutAttributes integer;
      seed.seed = static_cast<float>(i) / 4;
      stream.stream = i + 1;
      integer.seed = i - 500;
      for (const uint64_t key : {random_key(seed, draws), random_key(stream, draws)}) {
        keys.insert(key);
        ++count;
      }
      if (draws != Draws::kDropout) continue;
      keys.insert(random_key(integer, draws));
      ++count;
    }
  }
  // A seed of float bits 0 is that of integer 0.
  EXPECT_EQ(keys.size(), count - 1);
}

// -- What numbers depend on

template <class T>
class Drawn : public ::testing::Test {};
using Reals = ::testing::Types<float, double, Float16, BFloat16>;
TYPED_TEST_SUITE(Drawn, Reals);

TYPED_TEST(Drawn, TheSameOnEveryInstructionSetAndNumberOfThreads) {
  const Dims dims{37, 1009};
  for (const char* kernel : {"RandomUniform", "RandomNormal"}) {
    const auto once = [&](int threads, Isa isa) {
      return kernel == std::string("RandomUniform")
                 ? draw<TypeParam>(kernel, shaped<Uniforms>(dims, 3), dims, 2, threads, isa)
                 : draw<TypeParam>(kernel, shaped<Normals>(dims, 3), dims, 2, threads, isa);
    };
    const std::vector<double> expected = once(1, Isa::kPortable);
    EXPECT_EQ(once(3, Isa::kPortable), expected) << kernel;
    EXPECT_EQ(once(1, detect_isa()), expected) << kernel;
    EXPECT_EQ(once(2, detect_isa()), expected) << kernel;
  }
}

TYPED_TEST(Drawn, FirstElementsDoNotDependOnExtents) {
  const std::vector<double> many = normals<TypeParam>(5000, 1);
  for (const int32_t count : {0, 1, 2, 3, 5, 255, 256, 257, 300}) {
    const std::vector<double> few = normals<TypeParam>(count, 1);
    // The pair of the last one is drawn in any case.
    EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin())) << count;
  }
}

TYPED_TEST(Drawn, EveryTypeDrawsTheSameNumbersButForRounding) {
  const std::vector<double> exact = uniforms<double>(4096, 9), z = normals<double>(4096, 9);
  const std::vector<double> found = uniforms<TypeParam>(4096, 9), y = normals<TypeParam>(4096, 9);
  const double epsilon = std::max(epsilon_of<TypeParam>(), 0x1p-24);
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_NEAR(found[i], exact[i], 2 * epsilon);
    // A small radius is the root of a logarithm whose argument was rounded.
    ASSERT_NEAR(y[i], z[i], 8 * epsilon * std::max(1.0, std::fabs(z[i])) + 1e-5);
  }
}

TEST(RandomNormalLike, DrawsWhatRandomNormalDraws) {
  const Dims dims{3, 100};
  NormalAttributes like;
  like.seed = 5;
  like.dtype = static_cast<int32_t>(DataType::kFloat);
  Node node;
  node.input<int64_t>(dims, std::vector<int64_t>(300, 7)).output<float>(dims).attributes(like);
  ASSERT_TRUE(node.run("RandomNormalLike<float>").ok());
  EXPECT_EQ(node.numbers(), draw<float>("RandomNormal", shaped<Normals>(dims, 5), dims));
}

// -- Uniform numbers

TEST(RandomUniform, IsUniformAndBelowOne) {
  const std::vector<double> u = uniforms(kDraws, 0);
  EXPECT_GE(*std::min_element(u.begin(), u.end()), 0);
  EXPECT_LT(*std::max_element(u.begin(), u.end()), 1);
  EXPECT_NEAR(mean_of(u), 0.5, 4 * std::sqrt(1.0 / 12 / kDraws));
  EXPECT_NEAR(moment(u, 0.5, 2), 1.0 / 12, 4 * std::sqrt(1.0 / 180 / kDraws));
  for (const int bins : {2, 256, 4096}) {
    EXPECT_LT(std::fabs(excess(u, bins, [&](double x) { return static_cast<int>(x * bins); })), 4)
        << bins;
  }
  // The lowest bits too.
  EXPECT_LT(std::fabs(excess(u, 256, [](double x) { return static_cast<int>(x * 0x1p24) & 255; })),
            4);
  for (const size_t lag : {1, 2, 3, 4, 256, 16384}) {
    EXPECT_LT(std::fabs(correlation(u, u, lag)), 4 / std::sqrt(kDraws)) << lag;
  }
}

TEST(RandomUniform, PairsAreIndependent) {
  const std::vector<double> u = uniforms(kDraws, 11);
  std::vector<double> cells;
  for (size_t i = 0; i + 1 < u.size(); i += 2) {
    cells.push_back(std::floor(u[i] * 32) * 32 + std::floor(u[i + 1] * 32));
  }
  EXPECT_LT(std::fabs(excess(cells, 1024, [](double x) { return static_cast<int>(x); })), 4);
}

TEST(RandomUniform, NodesOfNeighbouringSeedsAndExecutionsAreIndependent) {
  const double limit = 4 / std::sqrt(kDraws);
  const std::vector<double> u = uniforms(kDraws, 1);
  EXPECT_LT(std::fabs(correlation(u, uniforms(kDraws, 2))), limit);
  EXPECT_LT(std::fabs(correlation(u, uniforms(kDraws, std::nextafter(1.0F, 2.0F)))), limit);
  EXPECT_LT(std::fabs(correlation(u, uniforms(kDraws, 1, 2))), limit);
  EXPECT_LT(std::fabs(correlation(u, normals(kDraws, 1))), limit);
  Uniforms first = shaped<Uniforms>({kDraws}, 0), second = first;
  first.numbers.stream = 1;
  second.numbers.stream = 2;
  EXPECT_LT(std::fabs(correlation(draw<float>("RandomUniform", first, {kDraws}),
                                  draw<float>("RandomUniform", second, {kDraws}))),
            limit);
  EXPECT_EQ(u, uniforms(kDraws, 1));
}

TYPED_TEST(Drawn, ANumberBelowHighEvenWhereItRounds) {
  // Few numbers of the type lie between the limits, and most of what is drawn rounds to `high`.
  const double epsilon = epsilon_of<TypeParam>();
  for (const float high : {2.0F, -0.5F, 0.0F, 1e-30F}) {
    Uniforms attributes = shaped<Uniforms>({4096}, 3);
    const float near = high == 0 ? -1.0F : high - std::fabs(high) * static_cast<float>(3 * epsilon);
    attributes.numbers.low = std::min(near, std::nextafter(high, -1e9F));
    attributes.numbers.high = high;
    for (double y : draw<TypeParam>("RandomUniform", attributes, {4096})) {
      ASSERT_LT(y, static_cast<double>(high));
    }
  }
}

TEST(RandomUniform, LimitsAreAnyFloats) {
  Uniforms attributes = shaped<Uniforms>({1000}, 3);
  attributes.numbers.low = -3e38F;
  attributes.numbers.high = 3e38F;
  const std::vector<double> wide = draw<float>("RandomUniform", attributes, {1000});
  for (double y : wide) ASSERT_TRUE(std::isfinite(y));
  EXPECT_GT(*std::max_element(wide.begin(), wide.end()), 2e38);
  EXPECT_LT(*std::min_element(wide.begin(), wide.end()), -2e38);
  attributes.numbers.low = attributes.numbers.high = 2.5F;
  EXPECT_EQ(draw<float>("RandomUniform", attributes, {1000}), std::vector<double>(1000, 2.5));
  attributes.numbers.low = 4;  // the other way round, as NumPy has it
  for (double y : draw<float>("RandomUniform", attributes, {1000})) ASSERT_TRUE(y > 2.5 && y <= 4);
}

// -- Normal numbers

template <class T>
void expect_normal() {
  const std::vector<double> z = normals<T>(kDraws, 4);
  EXPECT_NEAR(mean_of(z), 0, 4 / std::sqrt(kDraws));
  EXPECT_NEAR(moment(z, 0, 2), 1, 4 * std::sqrt(2.0 / kDraws));
  EXPECT_NEAR(moment(z, 0, 3), 0, 4 * std::sqrt(15.0 / kDraws));
  EXPECT_NEAR(moment(z, 0, 4), 3, 4 * std::sqrt(96.0 / kDraws));
  const auto share = [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; };
  for (const int bins : {2, 16, 1024}) {
    const double found =
        excess(z, bins, [&](double x) { return static_cast<int>(share(x) * bins); });
    EXPECT_LT(std::fabs(found), 4) << bins;
  }
  std::vector<double> even, odd;
  for (size_t i = 0; i < z.size(); i += 2) {
    even.push_back(z[i]);
    odd.push_back(z[i + 1]);
  }
  const double limit = 4 / std::sqrt(kDraws / 2);
  EXPECT_LT(std::fabs(correlation(even, odd)), limit);
  for (double& x : even) x *= x;
  for (double& x : odd) x *= x;
  EXPECT_LT(std::fabs(correlation(even, odd)), limit);
  EXPECT_LT(std::fabs(correlation(z, z, 1)), limit);
  EXPECT_GT(*std::max_element(z.begin(), z.end()), 4.2);
  EXPECT_LT(*std::min_element(z.begin(), z.end()), -4.2);
}
TEST(RandomNormal, IsNormal) {
  expect_normal<float>();
  expect_normal<double>();
}

TEST(RandomNormal, IsThatOfTheFormula) {
  NormalAttributes attributes;
  attributes.seed = 77;
  const cpu::Numbers numbers({random_key(attributes, Draws::kNormal), 0});
  uint32_t coarse[cpu::kPiece], fine[cpu::kPiece];
  numbers.words(0, 0, cpu::kPiece, coarse);
  numbers.words(1, 0, cpu::kPiece, fine);
  const std::vector<double> z = normals<double>(cpu::kPiece, 77), y = normals(cpu::kPiece, 77);
  for (size_t i = 0; i < cpu::kPiece; i += 2) {
    const double u = coarse[i] * 0x1p-32 + (fine[i] >> 11) * 0x1p-53 + 0x1p-54;
    const double t = 2 * M_PI * (coarse[i + 1] * 0x1p-32 + (fine[i + 1] >> 11) * 0x1p-53);
    const double radius = std::sqrt(-2 * std::log(u));
    EXPECT_NEAR(z[i], radius * std::cos(t), 1e-14);
    EXPECT_NEAR(z[i + 1], radius * std::sin(t), 1e-14);
    EXPECT_NEAR(y[i], radius * std::cos(t), 3e-6);
    EXPECT_NEAR(y[i + 1], radius * std::sin(t), 3e-6);
  }
}

TEST(RandomNormal, HasMeanAndScale) {
  Normals attributes = shaped<Normals>({kDraws}, 8);
  attributes.numbers.mean = 3;
  attributes.numbers.scale = 0.5F;
  const std::vector<double> y = draw<float>("RandomNormal", attributes, {kDraws});
  EXPECT_NEAR(mean_of(y), 3, 2 / std::sqrt(kDraws));
  EXPECT_NEAR(std::sqrt(moment(y, 3, 2)), 0.5, 2 / std::sqrt(kDraws));
}

// -- Bernoulli

TEST(Bernoulli, IsOneAsOftenAsItsProbability) {
  BernoulliAttributes attributes;
  attributes.seed = 6;
  for (const double p : {0.0, 0.1, 0.5, 0.8125, 1.0, 2.0, -1.0}) {
    Node node;
    node.input<float>({kDraws}, std::vector<float>(kDraws, static_cast<float>(p)));
    node.output<bool>({kDraws}).attributes(attributes);
    ASSERT_TRUE(node.run("Bernoulli<float, 8 bits>").ok());
    const double share = std::clamp(p, 0.0, 1.0);
    EXPECT_NEAR(mean_of(node.numbers()), share, 4 * std::sqrt(share * (1 - share) / kDraws)) << p;
  }
}

TEST(Bernoulli, HasOneOfEveryTypeForTheSameNumbers) {
  BernoulliAttributes attributes;
  attributes.seed = 6;
  std::mt19937 engine(1);
  // Of 8 bits, which every type holds.
  std::vector<double> p(1000);
  for (double& each : p) each = static_cast<double>(engine() % 129) / 128;
  std::vector<double> first;
  for (const DataType from :
       {DataType::kFloat, DataType::kDouble, DataType::kFloat16, DataType::kBfloat16}) {
    for (int code = 1; code <= 16; ++code) {
      const auto to = static_cast<DataType>(code);
      if (!kDrawnNumbers.allow(code)) continue;
      attributes.dtype = code;
      for (const int threads : {1, 3}) {
        Node node;
        node.input(from, {10, 100}, p)
            .output(to, {10, 100})
            .attributes(attributes)
            .threads(threads);
        const std::string name = "Bernoulli<" + std::string(data_type_name(from)) + ", " +
                                 std::to_string(element_bits(to)) + " bits>";
        ASSERT_TRUE(node.run(name).ok()) << name;
        const std::vector<double> found = node.numbers();
        if (first.empty()) first = found;
        EXPECT_EQ(found, first) << name << " " << code;
      }
    }
  }
}

TEST(Bernoulli, OfNanIsZero) {
  Node node;
  node.input<float>({100}, std::vector<float>(100, NAN)).output<float>({100});
  ASSERT_TRUE(node.attributes(BernoulliAttributes{}).run("Bernoulli<float, 32 bits>").ok());
  EXPECT_EQ(node.numbers(), std::vector<double>(100, 0.0));
}

// -- Multinomial

template <class T, class Out>
std::vector<double> sample(const Dims& dims, const std::vector<double>& logits, int32_t samples,
                           int threads = 1, Code expected = Code::kOk) {
  MultinomialAttributes attributes;
  attributes.seed = 2;
  attributes.sample_size = samples;
  Node node;
  node.input(data_type_of<T>, dims, logits).output(data_type_of<Out>, {dims[0], samples});
  node.attributes(attributes).threads(threads).isa(detect_isa());
  EXPECT_EQ(node.run(kernel_name("Multinomial", {data_type_of<T>, data_type_of<Out>})).code(),
            expected);
  return node.numbers();
}

TEST(Multinomial, DrawsClassesAsOftenAsTheirShare) {
  constexpr int32_t kSamples = 200000;
  const std::vector<double> logits{0.5, -HUGE_VAL, 2, -1, -30, 1, -HUGE_VAL};
  double total = 0;
  for (double x : logits) total += std::exp(x);
  for (const double shift : {0.0, 60.0, -60.0}) {  // unnormalised
    std::vector<double> shifted = logits;
    for (double& x : shifted) x += shift;
    std::vector<double> counts(logits.size());
    for (double k : sample<float, int32_t>({1, 7}, shifted, kSamples)) {
      counts[static_cast<size_t>(k)] += 1;
    }
    for (size_t k = 0; k < logits.size(); ++k) {
      const double share = std::exp(logits[k]) / total;
      EXPECT_NEAR(counts[k], kSamples * share, 4 * std::sqrt(kSamples * share * (1 - share))) << k;
    }
    EXPECT_EQ(counts[1] + counts[6], 0);
  }
}

TEST(Multinomial, EveryTypeAndThreadDrawsTheSame) {
  std::mt19937 engine(3);
  const Dims dims{5, 1000};
  std::vector<double> logits(5000);
  for (double& x : logits) x = static_cast<double>(engine() % 64) / 8;  // which every type holds
  for (const int32_t samples : {1, 3, 4, 5, 700}) {
    const std::vector<double> first = sample<float, int32_t>(dims, logits, samples);
    EXPECT_EQ((sample<Float16, int64_t>(dims, logits, samples, 3)), first);
    EXPECT_EQ((sample<BFloat16, int32_t>(dims, logits, samples, 2)), first);
    // Exponentials of other rounding move a border now and then.
    const std::vector<double> wide = sample<double, int64_t>(dims, logits, samples);
    size_t other = 0;
    for (size_t i = 0; i < wide.size(); ++i) other += wide[i] != first[i] ? 1 : 0;
    EXPECT_LE(other, 1U + wide.size() / 1000);
    for (double k : first) ASSERT_TRUE(k >= 0 && k < 1000);
  }
}

TEST(Multinomial, RefusesRowsWithoutAFiniteLargestNumber) {
  EXPECT_EQ((sample<float, int32_t>({2, 1}, {0, -50}, 3)), (std::vector<double>(6, 0.0)));
  const double kInfinity = HUGE_VAL;
  for (const std::vector<double>& row :
       {std::vector<double>{1, NAN, 2}, {1, kInfinity, 2}, {-kInfinity, -kInfinity, -kInfinity}}) {
    std::vector<double> logits{1, 2, 3};
    logits.insert(logits.end(), row.begin(), row.end());
    sample<float, int64_t>({2, 3}, logits, 2, 1, Code::kInvalidValue);
  }
  EXPECT_TRUE((sample<float, int64_t>({0, 3}, {}, 2)).empty());
  EXPECT_TRUE((sample<float, int64_t>({2, 0}, {}, 0)).empty());
}

// -- What is refused

TEST(RandomRefused, ExtentsTypesAndStates) {
  Node extent;
  extent.output<float>({3}).attributes(shaped<Uniforms>({2}, 0));
  EXPECT_EQ(extent.check("RandomUniform<float>").code(), Code::kWrongExtent);
  Uniforms negative = shaped<Uniforms>({-1}, 0);
  Node below;
  below.output<float>({1}).attributes(negative);
  EXPECT_EQ(below.check("RandomUniform<float>").code(), Code::kInvalidValue);
  negative.shape.count = 9;
  Node count;
  count.output<float>({1}).attributes(negative);
  EXPECT_EQ(count.check("RandomUniform<float>").code(), Code::kCorruptPlan);
  Node type;
  type.output<double>({2}).attributes(shaped<Normals>({2}, 0));
  EXPECT_EQ(type.check("RandomNormal<float>").code(), Code::kWrongType);
  Node like;
  like.input<int64_t>({2}, {1, 2}).output<float>({2}).attributes(NormalAttributes{});
  EXPECT_EQ(like.check("RandomNormalLike<float>").code(), Code::kWrongType);
  Node rank;
  rank.input<float>({3}, {1, 2, 3}).output<int32_t>({3, 1}).attributes(MultinomialAttributes{});
  EXPECT_EQ(rank.check("Multinomial<float, int32>").code(), Code::kWrongRank);
  Node classes;
  classes.input<float>({3, 0}, {}).output<int32_t>({3, 1}).attributes(MultinomialAttributes{});
  EXPECT_EQ(classes.check("Multinomial<float, int32>").code(), Code::kWrongExtent);
  KernelUnderTest small = cpu_kernel("RandomNormal<float>");
  small.state_bytes = 8;
  Node state;
  state.output<float>({2}).attributes(shaped<Normals>({2}, 0));
  EXPECT_EQ(state.run(small).code(), Code::kCorruptPlan);
}

}  // namespace
}  // namespace intarsia::test
