#include "graph/golden/initialise.hpp"

#include "base/random/keyed_random.hpp"
#include "graph/ir/error.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

namespace gradweave::graph {
namespace {

struct Fans {
  double in = 1, out = 1;
};

Fans fans_of(const Shape &shape) {
  if (shape.rank() < 2) return {double(shape.elements()), double(shape.elements())};
  // Of a convolution the first dimension is the groups, each a sum of its own.
  const double taps = shape.rank() > 2 ? double(shape.count(1, shape.rank() - 2)) : 1;
  return {taps * shape.back(1), taps * shape.back(0)};
}

[[noreturn]] void fail_initial(const Tensor &tensor, std::string_view why) {
  throw GraphError(fmt::format("{}tensor '{}': initial = \"{}\" {}; known: {}",
                               tensor.where.empty() ? "" : tensor.where + ": ", tensor.name, tensor.initial, why,
                               initial_forms()));
}

/// What follows the colon; nothing if there is none.
std::optional<double> number_behind(const Tensor &tensor, std::size_t colon) {
  if (colon == std::string::npos) return std::nullopt;
  const char *first = tensor.initial.data() + colon + 1, *last = tensor.initial.data() + tensor.initial.size();
  double value = 0;
  const auto [end, error] = std::from_chars(first, last, value);
  if (error != std::errc{} || end != last || !std::isfinite(static_cast<float>(value)))
    fail_initial(tensor, "has no number of fp32 behind the colon");
  return value;
}

/// How a form draws, and the variance that it does so with.
struct Drawing {
  bool bell = false;
  double variance = 0;
};

std::optional<Drawing> drawing_by_fans(std::string_view form, const Shape &shape) {
  const Fans fans = fans_of(shape);
  if (form == "xavier" || form == "xavier_normal") return Drawing{form != "xavier", 2 / (fans.in + fans.out)};
  if (form == "kaiming" || form == "kaiming_uniform") return Drawing{form == "kaiming", 2 / fans.in};
  if (form == "lecun" || form == "lecun_uniform") return Drawing{form == "lecun", 1 / fans.in};
  return std::nullopt;
}

std::vector<float> drawn(const Tensor &tensor, std::uint64_t seed, bool bell, double scale) {
  const KeyedRandom random(seed, tensor.name);
  std::vector<float> values(tensor.shape.elements());
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(scale * (bell ? random.bell(i) : 2 * random.uniform(i) - 1));
  return values;
}

} // namespace

std::string_view initial_forms() {
  return "zeros, ones, constant:V, normal:S, uniform:L, xavier, xavier_normal, kaiming, kaiming_uniform, lecun, "
         "lecun_uniform";
}

std::vector<float> initial_values(const Tensor &tensor, std::uint64_t seed) {
  if (tensor.origin && !tensor.origin->values.empty()) return tensor.origin->values;
  const std::size_t colon = tensor.initial.find(':');
  const std::string form = tensor.initial.substr(0, colon);
  const std::optional<double> number = number_behind(tensor, colon);
  const auto everywhere = [&](double value) {
    return std::vector<float>(tensor.shape.elements(), static_cast<float>(value));
  };
  if (form == "constant" || form == "normal" || form == "uniform") {
    if (!number) fail_initial(tensor, "lacks a colon and a number");
    if (form == "constant") return everywhere(*number);
    if (*number < 0) fail_initial(tensor, "has a spread below 0");
    return drawn(tensor, seed, form == "normal", *number);
  }
  if (number) fail_initial(tensor, "takes no number");
  if (form == "zeros" || form == "ones") return everywhere(form == "ones" ? 1 : 0);
  const std::optional<Drawing> drawing = drawing_by_fans(form, tensor.shape);
  if (!drawing) fail_initial(tensor, "is not known");
  // Uniform numbers from -L to L have a variance of L^2 / 3.
  return drawn(tensor, seed, drawing->bell, std::sqrt(drawing->bell ? drawing->variance : 3 * drawing->variance));
}

} // namespace gradweave::graph
