// Integer arithmetic, exact scaling and one rounding of the numeric contract: nothing here depends on the platform.
#include "runtime/data/data.hpp"

#include "sw_models/numerics/convolution.hpp"
#include "sw_models/numerics/numerics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gradweave::runtime {
namespace {

/// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
class SplitMix64 {
public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }

private:
  std::uint64_t state_;
};

constexpr std::uint64_t kFnvOffset = 0xcbf29ce484222325U;
constexpr std::uint64_t kFnvPrime = 0x100000001b3U;

std::uint64_t fnv(std::uint64_t hash, std::uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i)
    hash = (hash ^ (value >> (8 * i) & 0xffU)) * kFnvPrime;
  return hash;
}

std::uint64_t fnv(std::uint64_t hash, std::string_view text) {
  for (const char c : text)
    hash = fnv(hash, static_cast<unsigned char>(c), 1);
  return fnv(hash, text.size(), 8); // the length keeps ("ab", "c") apart from ("a", "bc")
}

constexpr std::uint16_t kSign = 0x8000;

/// bf16 of sign * (1 + fraction/128) * 2^exponent; subnormal or infinite where the exponent says so.
std::uint16_t pack(bool negative, int exponent, std::uint32_t fraction) {
  std::uint32_t magnitude = 0;
  if (exponent > 127)
    magnitude = 0x7f80;
  else if (exponent >= -126)
    magnitude = static_cast<std::uint32_t>(exponent + 127) << 7U | fraction;
  else if (exponent >= -133)
    magnitude = (128U | fraction) >> static_cast<unsigned>(-126 - exponent);
  return static_cast<std::uint16_t>((negative ? kSign : 0U) | magnitude);
}

/// The sum of four uniform 16-bit numbers around 0, times 2^scale / 2^15, rounded to bf16: standard deviation
/// 1.15 * 2^scale. The sum and its scaling are exact in fp32.
std::uint16_t bell(std::uint64_t draw, int scale) {
  std::int32_t sum = -2 * 65535;
  for (unsigned i = 0; i < 4; ++i)
    sum += static_cast<std::int32_t>(draw >> (16 * i) & 0xffffU);
  return bf16_from_fp32(std::ldexp(static_cast<float>(sum), scale - 15));
}

int log2_floor(std::uint32_t value) {
  int log = 0;
  for (; value > 1; value >>= 1U)
    ++log;
  return log;
}

/// Rows and columns of special data that are out of the ordinary. A non-finite element spoils whole rows and columns
/// of results, so such elements keep to few rows and columns; otherwise the check would compare NaN with NaN.
class SpecialLines {
public:
  SpecialLines(std::uint64_t key, std::uint32_t extent, std::uint32_t period)
      : period_(std::min<std::uint32_t>(extent, period)),
        first_(extent < 4 ? 0 : static_cast<std::uint32_t>(key % period_)), active_(extent >= 4) {}
  bool nonfinite(std::uint32_t i) const { return at(i, 0); }
  bool tiny(std::uint32_t i) const { return at(i, 1); }
  bool huge(std::uint32_t i) const { return at(i, 2); }

private:
  bool at(std::uint32_t i, std::uint32_t offset) const { return active_ && i % period_ == (first_ + offset) % period_; }
  std::uint32_t period_, first_;
  bool active_;
};

std::uint16_t special(std::uint64_t draw, std::uint32_t i, std::uint32_t j, const SpecialLines &rows,
                      const SpecialLines &cols, int scale, SplitMix64 &random) {
  const bool negative = (draw & 1U) != 0;
  const auto pick = static_cast<std::uint32_t>(draw >> 8U & 0xffU);
  const auto fraction = static_cast<std::uint32_t>(draw >> 16U & 0x7fU);
  const auto spread = static_cast<int>(draw >> 32U & 0xffffU);
  const std::uint16_t sign = negative ? kSign : 0;

  if (rows.nonfinite(i) && cols.nonfinite(j) && pick < 96) {
    if (pick < 32) return static_cast<std::uint16_t>(sign | 0x7f80U | (fraction | 1U)); // NaN, any payload and sign
    return static_cast<std::uint16_t>(sign | 0x7f80U);
  }
  // Tiny by tiny gives subnormal sums, huge by huge overflows in part, huge by tiny is ordinary.
  if (rows.tiny(i) || cols.tiny(j)) return pack(negative, -66 - spread % 8, fraction);
  if (rows.huge(i) || cols.huge(j)) return pack(negative, 58 + spread % 6, fraction);

  if (pick < 24) return sign;                                                               // zeros of both signs
  if (pick < 48) return static_cast<std::uint16_t>(sign | (fraction == 0 ? 1U : fraction)); // subnormal
  if (pick < 80) return pack(negative, spread % 81 - 40, fraction);                         // wide range: absorption
  if (pick < 152) return pack(negative, spread % 4, 0);                                     // sums cancel exactly
  return bell(random.next(), scale);
}

std::uint64_t data_key(std::uint64_t seed, const std::string &network, const std::string &layer,
                       compiler::Tensor tensor) {
  std::uint64_t key = fnv(kFnvOffset, seed, 8);
  key = fnv(key, network);
  key = fnv(key, layer);
  return fnv(key, compiler::to_string(tensor));
}

struct Fill {
  int scale = 0;                 ///< power of two
  std::uint32_t row_period = 16; ///< of special rows
};

HostTensor fill(HostTensor tensor, std::uint64_t key, DataKind kind, const Fill &how) {
  SplitMix64 random(key);
  const SpecialLines rows(random.next(), tensor.rows, how.row_period);
  const SpecialLines cols(random.next(), tensor.cols, 16);
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < tensor.rows; ++i)
    for (std::uint32_t j = 0; j < tensor.cols; ++j) {
      const std::uint64_t draw = random.next();
      tensor.half[at++] =
          kind == DataKind::kNormal ? bell(draw, how.scale) : special(draw, i, j, rows, cols, how.scale, random);
    }
  return tensor;
}

HostTensor packed(const HostTensor &image, const Convolution &conv) {
  const std::uint32_t cols = conv.stride_height * conv.stride_width * conv.channels;
  HostTensor result(image.tensor, false, 0, cols);
  result.half = packed_image(conv, image.half.data());
  result.rows = static_cast<std::uint32_t>(result.half.size() / cols);
  return result;
}

} // namespace

DataKind parse_data_kind(std::string_view name) {
  for (const DataKind kind : {DataKind::kNormal, DataKind::kSpecial})
    if (name == to_string(kind)) return kind;
  throw std::invalid_argument(fmt::format("unknown data kind '{}'; use one of: {}", name, data_kind_names()));
}

std::string data_kind_names() {
  return fmt::format("{}, {}", to_string(DataKind::kNormal), to_string(DataKind::kSpecial));
}

std::string_view to_string(DataKind kind) { return kind == DataKind::kNormal ? "normal" : "special"; }

HostTensor make_input(compiler::Tensor tensor, const compiler::Layer &layer, const std::string &network, DataKind kind,
                      std::uint64_t seed) {
  using compiler::Tensor;
  const auto key = [&](const std::string &name) { return data_key(seed, network, name, tensor); };
  switch (tensor) {
  case Tensor::kX: {
    if (!layer.conv) return fill(HostTensor(tensor, false, layer.m, layer.groups * layer.k), key(layer.name), kind, {});
    if (layer.image) {
      HostTensor image = make_image(layer, network, kind, seed);
      return layer.packed ? packed(image, *layer.conv) : image;
    }
    HostTensor x(tensor, false, layer.m, layer.groups * layer.k);
    x.half = im2col(*layer.conv, make_image(layer, network, kind, seed).half.data());
    return x;
  }
  case Tensor::kW: {
    const int scale = -(log2_floor(layer.k) / 2); // about 1/sqrt(K): keeps activations of order 1 from layer to layer
    return fill(HostTensor(tensor, false, layer.groups * layer.k, layer.n),
                key(layer.weights.empty() ? layer.name : layer.weights), kind, {scale});
  }
  case Tensor::kDY: // gradients are smaller than activations
    return fill(HostTensor(tensor, false, layer.m, layer.groups * layer.n), key(layer.name), kind, {-6});
  default:
    throw std::invalid_argument(fmt::format("{} is a result, not an input", compiler::to_string(tensor)));
  }
}

HostTensor make_image(const compiler::Layer &layer, const std::string &network, DataKind kind, std::uint64_t seed) {
  if (!layer.conv) throw std::invalid_argument(fmt::format("layer {} is no convolution", layer.name));
  const Convolution &conv = *layer.conv;
  // im2col copies a pixel that is not finite to as many rows of X as there are taps.
  Fill how;
  how.row_period *= conv.kernel_height * conv.kernel_width;
  return fill(HostTensor(compiler::Tensor::kX, false, conv.batch * conv.height * conv.width, conv.channels),
              data_key(seed, network, layer.name, compiler::Tensor::kX), kind, how);
}

std::uint64_t hash_tensor(const HostTensor &tensor) {
  std::uint64_t hash = fnv(kFnvOffset, std::uint64_t{tensor.rows} << 32U | tensor.cols, 8);
  for (std::size_t i = 0; i < tensor.size(); ++i)
    hash = fnv(hash, tensor.bits(i), tensor.element_bytes());
  return hash;
}

} // namespace gradweave::runtime
