// Labelled images, and the order in which training takes them.
#pragma once

#include "train/data/idx_file.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace gradweave::runtime::train {

struct Dataset {
  std::string name;
  std::uint32_t height = 0, width = 0;
  std::uint32_t classes = 0;        ///< labels are below
  std::vector<std::uint8_t> pixels; ///< count x height x width
  std::vector<std::uint8_t> labels; ///< count

  std::size_t count() const { return labels.size(); }
  std::size_t pixels_each() const { return std::size_t{height} * width; }
};

/// Of a data set, the images to learn from and those to be judged by.
enum class Split { kTrain, kTest };

/// The directory of Debian's package dataset-fashion-mnist if `name` is "fashion-mnist", else `name` as a path. Throws
/// DataError with the remedy if it is no directory.
std::filesystem::path find_dataset(const std::string &name);

/// Images and labels of a directory that holds files as MNIST has them: train-images-idx3-ubyte,
/// train-labels-idx1-ubyte, t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte, with .gz or without. Throws DataError:
/// as read_idx(), or images and labels that disagree.
Dataset load_dataset(const std::filesystem::path &directory, Split split);

/// The images of an epoch in the order in which they are taken: a permutation of [0, count) by Fisher and Yates, of the
/// seed and the epoch.
std::vector<std::uint32_t> shuffled(std::size_t count, std::uint64_t seed, std::uint64_t epoch);

/// A pixel as a network sees it: from 0 (black) to 1.
inline float as_real(std::uint8_t pixel) { return static_cast<float>(pixel) / 255.0F; }

} // namespace gradweave::runtime::train
