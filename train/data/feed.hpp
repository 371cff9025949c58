// Feeds of images and of random data.
#pragma once

#include "train/data/dataset.hpp"
#include "train/data/fed.hpp"

#include <memory>
#include <vector>

namespace gradweave::runtime::train {

/// The label that each row of the loss's logits should have, and the logits.
struct Classifier {
  graph::TensorId logits = graph::kNone, labels = graph::kNone;
};
/// Of a graph whose loss is softmax cross-entropy; both kNone if it is another.
Classifier classifier_of(const graph::Graph &forward);

/// Each of these feeds gives keys of Dropout [seed, number of the batch] (dropout_keys.hpp).

/// Images and labels: the only input of real numbers gets images, the only one of whole numbers labels. `shuffle`: in
/// the order of shuffled(), epoch after epoch, images that fill no batch left out; else in their own order from the
/// first image on, and beyond the last one the first ones again. Throws DataError unless the graph has these two inputs
/// in sizes that fit, and as many images as a batch has are there. `data` must outlive the feed.
std::unique_ptr<Feed> image_feed(const graph::Graph &forward, const Dataset &data, std::uint64_t seed, bool shuffle);

/// Random data for any graph: real numbers bell-shaped around 0, whole numbers even over the range that their readers
/// take. Throws DataError for whole numbers whose range no reader tells.
std::unique_ptr<Feed> synthetic_feed(const graph::Graph &forward, std::uint64_t seed);

/// Rows of the logits whose largest element, the first of equal ones, is at the label. Of the first `rows` rows.
std::size_t count_right(const graph::Graph &forward, const graph::Buffer<graph::Contract> &logits,
                        const Classifier &classifier, const std::vector<std::int32_t> &labels, std::size_t rows);

} // namespace gradweave::runtime::train
