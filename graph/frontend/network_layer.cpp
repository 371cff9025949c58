// Checks and sums of layers that hold for every format.
#include "graph/frontend/network_file.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::compiler {
namespace {

/// Refuses an extent of the image that the kernel does not fit.
void check_kernel(const std::filesystem::path &file, std::size_t line, std::string_view way, std::uint64_t image,
                  std::uint64_t padding, std::uint64_t kernel, std::uint64_t dilation) {
  const std::uint64_t reach = dilation * (kernel - 1) + 1;
  if (reach > image + padding)
    fail(file, line,
         fmt::format("the kernel's {} of {}{} is more than the image's {} with its padding of {}; make the kernel "
                     "smaller or the padding larger",
                     way, reach, dilation > 1 ? fmt::format(" (dilation {})", dilation) : "", image, padding));
}

void check_product(const std::filesystem::path &file, std::size_t line, std::string_view what, double product) {
  if (product > static_cast<double>(kMaxDimension))
    fail(file, line, fmt::format("{} = {:.0f} is more than {}; reduce one of them", what, product, kMaxDimension));
}

} // namespace

void check_grouped_size(const Layer &layer, const std::filesystem::path &file, std::size_t line) {
  check_product(file, line, "groups x K", static_cast<double>(layer.groups) * layer.k);
  check_product(file, line, "groups x N", static_cast<double>(layer.groups) * layer.n);
}

void set_convolution(Layer &layer, const Convolution &conv, const std::filesystem::path &file, std::size_t line) {
  for (const auto &[what, channels] :
       {std::pair{"channels", conv.channels}, std::pair{"out_channels", conv.out_channels}})
    if (channels % conv.groups != 0)
      fail(file, line,
           fmt::format("{} = {} cannot be cut into {} groups; make it a multiple of groups", what, channels,
                       conv.groups));
  check_kernel(file, line, "height", conv.height, std::uint64_t{conv.pad_top} + conv.pad_bottom, conv.kernel_height,
               conv.dilation_height);
  check_kernel(file, line, "width", conv.width, std::uint64_t{conv.pad_left} + conv.pad_right, conv.kernel_width,
               conv.dilation_width);
  check_product(file, line, "batch x output height x output width",
                static_cast<double>(conv.batch) * conv.out_height() * conv.out_width());
  check_product(file, line, "kernel height x kernel width x channels / groups",
                static_cast<double>(conv.kernel_height) * conv.kernel_width * conv.group_channels());
  layer.m = conv.m();
  layer.k = conv.k();
  layer.n = conv.n();
  layer.groups = conv.groups;
  layer.conv = conv;
  check_grouped_size(layer, file, line);
}

double macs(const Layer &layer) { return static_cast<double>(layer.m) * layer.k * layer.n * layer.groups; }

Extent extent_read(const Layer &layer) {
  if (!layer.conv) return {layer.m, std::uint64_t{layer.groups} * layer.k};
  const Convolution &conv = *layer.conv;
  return {std::uint64_t{conv.batch} * conv.height * conv.width, conv.channels};
}

std::uint64_t count_parameters(const Network &network) {
  std::uint64_t count = 0;
  for (const Layer &layer : network.layers)
    if (layer.weights.empty()) count += std::uint64_t{layer.groups} * layer.k * layer.n;
  for (const OtherParameters &other : network.other_parameters)
    count += other.count;
  return count;
}

} // namespace gradweave::compiler
