#include "train/data/dataset.hpp"

#include "base/random/keyed_random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace gradweave::runtime::train {
namespace {

constexpr const char *kFashionMnist = "/usr/share/datasets/fashion-mnist";

IdxFile read_part(const std::filesystem::path &directory, const std::string &name) {
  const std::filesystem::path plain = directory / name;
  return read_idx(std::filesystem::exists(plain) ? plain : directory / (name + ".gz"));
}

} // namespace

std::filesystem::path find_dataset(const std::string &name) {
  const bool fashion = name == "fashion-mnist";
  std::filesystem::path directory = fashion ? kFashionMnist : name;
  if (std::filesystem::is_directory(directory)) return directory;
  throw DataError(fashion
                      ? fmt::format("fashion-mnist is not installed ({} is no directory); install it with `apt-get "
                                    "install dataset-fashion-mnist`, or name a directory with --data",
                                    directory.string())
                      : fmt::format("data '{}' is neither fashion-mnist, synthetic, nor a directory with IDX files; "
                                    "name one of these with --data",
                                    name));
}

Dataset load_dataset(const std::filesystem::path &directory, Split split) {
  const std::string prefix = split == Split::kTrain ? "train" : "t10k";
  IdxFile images = read_part(directory, prefix + "-images-idx3-ubyte");
  IdxFile labels = read_part(directory, prefix + "-labels-idx1-ubyte");
  const auto fail_set = [&](const std::string &message) {
    throw DataError(fmt::format("{}: {}", (directory / prefix).string(), message));
  };
  if (images.dims.size() != 3) fail_set(fmt::format("images have {} dimensions; 3 are wanted", images.dims.size()));
  if (labels.dims.size() != 1) fail_set(fmt::format("labels have {} dimensions; 1 is wanted", labels.dims.size()));
  if (images.dims[0] != labels.dims[0])
    fail_set(
        fmt::format("{} images and {} labels; there must be a label for each image", images.dims[0], labels.dims[0]));
  Dataset set;
  set.name = directory.filename().string();
  set.height = images.dims[1];
  set.width = images.dims[2];
  set.pixels = std::move(images.bytes);
  set.labels = std::move(labels.bytes);
  set.classes = std::uint32_t{*std::max_element(set.labels.begin(), set.labels.end())} + 1;
  return set;
}

std::vector<std::uint32_t> shuffled(std::size_t count, std::uint64_t seed, std::uint64_t epoch) {
  const KeyedRandom random(seed, fmt::format("epoch {}", epoch));
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  for (std::size_t i = count; i > 1; --i)
    std::swap(order[i - 1], order[random.below(static_cast<std::uint32_t>(i), i)]);
  return order;
}

} // namespace gradweave::runtime::train
