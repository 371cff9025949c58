// Data sets: files that are as they should be, files that are not, and batches.
#include "base/random/dice.hpp"
#include "tests/support/scratch_directory.hpp"
#include "tests/train/networks.hpp"
#include "train/data/dropout_keys.hpp"
#include "train/trainer.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <fstream>
#include <memory>
#include <set>

namespace gradweave::runtime::train {
namespace {

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (const unsigned shift : {24U, 16U, 8U, 0U})
    bytes += static_cast<char>(value >> shift & 0xffU);
  return bytes;
}

std::string idx_bytes(const std::vector<std::uint32_t> &dims, std::size_t bytes) {
  std::string text = big_endian(0x800 + static_cast<std::uint32_t>(dims.size()));
  for (const std::uint32_t dim : dims)
    text += big_endian(dim);
  for (std::size_t i = 0; i < bytes; ++i)
    text += static_cast<char>(i % 10);
  return text;
}

/// A directory of files.
class DataFiles : public testing::Test {
protected:
  std::filesystem::path write(const std::string &name, const std::string &bytes) const {
    std::ofstream(directory_ / name, std::ios::binary) << bytes;
    return directory_ / name;
  }
  std::filesystem::path compress(const std::string &name, const std::string &bytes) const {
    std::filesystem::path file = directory_ / name;
    gzFile out = ::gzopen(file.c_str(), "wb");
    ::gzwrite(out, bytes.data(), static_cast<unsigned>(bytes.size()));
    ::gzclose(out);
    return file;
  }
  /// Of two images of 2 x 3 pixels and their labels.
  void write_set(const std::string &images, const std::string &labels) const {
    write("train-images-idx3-ubyte", images);
    compress("train-labels-idx1-ubyte.gz", labels);
  }
  static std::string problem(const std::filesystem::path &file) {
    try {
      read_idx(file);
    } catch (const DataError &error) {
      EXPECT_EQ(std::string(error.what()).find(file.string() + ": "), 0U) << error.what();
      return error.what();
    }
    return "none";
  }

  const test::ScratchDirectory scratch_;
  const std::filesystem::path directory_ = scratch_.path();
};

TEST_F(DataFiles, AreReadCompressedOrNot) {
  for (const auto &file : {write("a", idx_bytes({2, 3, 4}, 24)), compress("b.gz", idx_bytes({2, 3, 4}, 24))}) {
    const IdxFile idx = read_idx(file);
    EXPECT_EQ(idx.dims, (std::vector<std::uint32_t>{2, 3, 4}));
    EXPECT_EQ(idx.bytes.size(), 24U);
    EXPECT_EQ(idx.bytes[13], 3);
  }
}

TEST_F(DataFiles, BrokenOnesAreNamed) {
  EXPECT_NE(problem(directory_ / "none").find("no such file"), std::string::npos);
  EXPECT_NE(problem(directory_).find("is no regular file"), std::string::npos);
  EXPECT_NE(problem(write("empty", "")).find("ends within its magic number"), std::string::npos);
  EXPECT_NE(problem(write("magic", big_endian(0x00000d03) + "xxxx")).find("begins with 0x00000d03"), std::string::npos);
  EXPECT_NE(problem(write("rank", big_endian(0x00000809))).find("begins with 0x00000809"), std::string::npos);
  EXPECT_NE(problem(write("header", idx_bytes({2, 3}, 0).substr(0, 10))).find("ends within its header"),
            std::string::npos);
  EXPECT_NE(problem(write("zero", idx_bytes({2, 0}, 0))).find("dimension 2 of 2 is 0"), std::string::npos);
  EXPECT_NE(problem(write("large", idx_bytes({1U << 31U, 1U << 31U}, 0))).find("promises more than"),
            std::string::npos);
  EXPECT_NE(problem(write("short", idx_bytes({5, 4}, 19))).find("ends after 19 of 20 bytes"), std::string::npos);
  EXPECT_NE(problem(write("long", idx_bytes({5, 4}, 21))).find("goes on behind the 20 bytes"), std::string::npos);
}

TEST_F(DataFiles, DamagedCompressionIsNamed) {
  const std::filesystem::path file = compress("whole.gz", idx_bytes({100, 100}, 10000));
  std::ifstream in(file, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  for (const std::size_t size : {whole.size() - 1, whole.size() - 8, whole.size() / 2, std::size_t{11}})
    EXPECT_NE(problem(write("cut.gz", whole.substr(0, size))), "none") << size;
  std::string other = whole;
  other[other.size() / 2] = static_cast<char>(other[other.size() / 2] ^ 0x55);
  EXPECT_NE(problem(write("damaged.gz", other)), "none");
}

TEST_F(DataFiles, ImagesAndLabelsMustAgree) {
  write_set(idx_bytes({2, 2, 3}, 12), idx_bytes({2}, 2));
  const Dataset set = load_dataset(directory_, Split::kTrain);
  EXPECT_EQ(set.count(), 2U);
  EXPECT_EQ(set.pixels_each(), 6U);
  EXPECT_EQ(set.classes, 2U);
  write_set(idx_bytes({2, 2, 3}, 12), idx_bytes({3}, 3));
  EXPECT_THROW(load_dataset(directory_, Split::kTrain), DataError);
  write_set(idx_bytes({2, 6}, 12), idx_bytes({2}, 2));
  EXPECT_THROW(load_dataset(directory_, Split::kTrain), DataError);
  EXPECT_THROW(load_dataset(directory_, Split::kTest), DataError) << "has no files";
  EXPECT_THROW(find_dataset((directory_ / "nowhere").string()), DataError);
}

Dataset small_set(std::size_t count) {
  Dataset set;
  set.name = "small";
  set.height = 2;
  set.width = 3;
  set.classes = 5;
  for (std::size_t i = 0; i < count; ++i) {
    set.pixels.insert(set.pixels.end(), 6, static_cast<std::uint8_t>(i));
    set.labels.push_back(static_cast<std::uint8_t>(i % 5));
  }
  return set;
}

TEST(Batches, HoldEachImageOnceAnEpoch) {
  const Dataset set = small_set(22);
  const graph::Graph forward = perceptron(4, {6, 5});
  const auto feed = image_feed(forward, set, 7, true);
  EXPECT_EQ(feed->batches_an_epoch(), 5U);
  std::vector<float> order;
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    std::set<float> seen;
    for (std::uint64_t b = 0; b < 5; ++b) {
      const std::vector<Fed> fed = feed->batch(epoch * 5 + b);
      for (std::size_t i = 0; i < 4; ++i) {
        const float pixel = fed[0].values.real[i * 6 + 5];
        EXPECT_TRUE(seen.insert(pixel).second);
        EXPECT_EQ(fed[1].values.index[i], static_cast<int>(std::lround(pixel * 255)) % 5);
        order.push_back(pixel);
      }
    }
  }
  EXPECT_NE(std::vector<float>(order.begin(), order.begin() + 20), std::vector<float>(order.begin() + 20, order.end()));
}

/// With keys, which are no data.
TEST(Batches, FeedNetworksWithDropout) {
  const Dataset set = small_set(22);
  const graph::Graph forward = perceptron(4, {6, 7, 5}, 0.5), same = perceptron(4, {6, 7, 5});
  const auto feed = image_feed(forward, set, 7, true), other = image_feed(same, set, 7, true);
  const std::vector<Fed> fed = feed->batch(6), want = other->batch(6);
  ASSERT_EQ(fed.size(), 3U);
  EXPECT_EQ(fed[0].values.real, want[0].values.real);
  EXPECT_EQ(fed[1].values.index, want[1].values.index);
  EXPECT_EQ(fed[2].values.index, (std::vector<std::int32_t>{7, 6}));
}

TEST(Batches, DependOnTheSeedAndNothingElse) {
  EXPECT_EQ(shuffled(50, 3, 1), shuffled(50, 3, 1));
  EXPECT_NE(shuffled(50, 3, 1), shuffled(50, 4, 1));
  EXPECT_NE(shuffled(50, 3, 1), shuffled(50, 3, 2));
}

TEST(Batches, ThatDoNotFitAreNamed) {
  const Dataset set = small_set(22);
  const auto problem = [&](const graph::Graph &forward) -> std::string {
    try {
      image_feed(forward, set, 1, true);
    } catch (const DataError &error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_NE(problem(perceptron(23, {6, 5})).find("a batch of 23 is larger than the data, 22 images"),
            std::string::npos);
  EXPECT_NE(problem(perceptron(4, {7, 5})).find("a batch of 4 images of 2 x 3 pixels has 24 elements"),
            std::string::npos);
  EXPECT_NE(problem(perceptron(4, {6, 4})).find("tells 4 classes apart"), std::string::npos);
  graph::Graph none;
  none.name = "none";
  EXPECT_NE(problem(none).find("no input for images"), std::string::npos);
}

TEST(Synthetic, NumbersAreInTheRangeOfTheirReaders) {
  const graph::Graph forward = perceptron(400, {6, 5});
  const auto feed = synthetic_feed(forward, 1);
  std::set<std::int32_t> labels;
  for (const Fed &fed : feed->batch(3))
    labels.insert(fed.values.index.begin(), fed.values.index.end());
  EXPECT_EQ(labels, (std::set<std::int32_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(feed->batch(3)[0].values.real, feed->batch(3)[0].values.real);
  EXPECT_NE(feed->batch(3)[0].values.real, feed->batch(4)[0].values.real);
}

TEST(Synthetic, NumbersThatPartsOfABatchReadAreInTheirRange) {
  graph::Graph forward;
  graph::Builder build(forward, graph::operators());
  const graph::TensorId ids = build.input("ids", graph::ElementType::kInt32, {400});
  const graph::TensorId table = build.parameter("table", {5, 3}, "zeros");
  graph::Attributes attributes;
  attributes.set("axis", std::int64_t{0});
  attributes.set("split", std::vector<std::int64_t>{100, 300});
  for (const graph::TensorId part : build.add_all("SplitIndices", {ids}, attributes, "parts", 2))
    build.add("Gather", {table, part}, {}, build.fresh("rows"));
  const std::vector<Fed> fed = synthetic_feed(forward, 1)->batch(0);
  EXPECT_EQ(std::set<std::int32_t>(fed[0].values.index.begin(), fed[0].values.index.end()),
            (std::set<std::int32_t>{0, 1, 2, 3, 4}));
}

/// Each element plus so much.
class Shifted final : public graph::InputFunction {
public:
  explicit Shifted(std::int32_t by) : by_(by) {}
  const std::vector<std::string> &sources() const override { return sources_; }
  graph::InputValues compute(const std::vector<const graph::InputValues *> &values) const override {
    graph::InputValues result = *values.at(0);
    for (std::int32_t &value : result.whole)
      value += by_;
    return result;
  }

private:
  std::int32_t by_;
  std::vector<std::string> sources_{"ids"};
};

/// A graph whose table of 5 rows is read at ids that are moved by so much.
graph::Graph moved_ids(std::int32_t by) {
  graph::Graph forward;
  graph::Builder build(forward, graph::operators());
  build.input("ids", graph::ElementType::kInt32, {400});
  const graph::TensorId moved = build.input("moved", graph::ElementType::kInt32, {400});
  build.set_function(moved, std::make_shared<Shifted>(by));
  build.add("Gather", {build.parameter("table", {5, 3}, "zeros"), moved}, {{"axis", std::int64_t{0}}}, "rows");
  return forward;
}

TEST(Feed, ComputesInputsThatFollowFromOthers) {
  const graph::Graph forward = moved_ids(0);
  const std::vector<Fed> fed = synthetic_feed(forward, 1)->batch(0);
  ASSERT_EQ(fed.size(), 2U);
  EXPECT_EQ(fed[1].input, forward.find("moved"));
  EXPECT_EQ(fed[1].values.index, fed[0].values.index);
  EXPECT_EQ(std::set<std::int32_t>(fed[0].values.index.begin(), fed[0].values.index.end()),
            (std::set<std::int32_t>{0, 1, 2, 3, 4}));
}

/// What is looked up must be there: 3 + 0 and 3 + 1 are.
TEST(Synthetic, NumbersAreSmallerWhereWhatIsComputedOfThemIsOutOfRange) {
  const graph::Graph forward = moved_ids(3), never = moved_ids(5);
  const std::vector<Fed> fed = synthetic_feed(forward, 1)->batch(0);
  EXPECT_EQ(std::set<std::int32_t>(fed[1].values.index.begin(), fed[1].values.index.end()),
            (std::set<std::int32_t>{3, 4}));
  const auto feed = synthetic_feed(never, 1);
  EXPECT_THROW(feed->batch(0), DataError);
}

/// Keys are no data: the seed, and the number of the batch.
TEST(Feed, KeysOfDropoutAreSeedAndBatch) {
  const graph::Graph forward = perceptron(4, {6, 7, 5}, 0.5);
  const graph::TensorId key = forward.find("key");
  EXPECT_EQ(dropout_keys(forward), std::vector<graph::TensorId>{key});
  for (const std::uint64_t batch : {std::uint64_t{0}, std::uint64_t{17}, (std::uint64_t{1} << 32U) + 3}) {
    const std::vector<Fed> fed = synthetic_feed(forward, 9)->batch(batch);
    ASSERT_EQ(fed.size(), 3U);
    EXPECT_EQ(fed.back().input, key);
    EXPECT_EQ(fed.back().values.index, (std::vector<std::int32_t>{9, static_cast<std::int32_t>(batch % 0x80000000U)}));
  }
  EXPECT_TRUE(dropout_keys(perceptron(4, {6, 5})).empty());
}

/// What something else reads, too, is data.
TEST(Feed, AnInputThatOthersReadIsNoKey) {
  graph::Graph forward = perceptron(2, {6, 7, 5}, 0.5);
  graph::Builder build(forward, graph::operators());
  const graph::TensorId table = build.parameter("table", {5, 3}, "zeros");
  build.add("Gather", {table, forward.find("key")}, {{"axis", std::int64_t{0}}}, "rows");
  EXPECT_TRUE(dropout_keys(forward).empty());
}

/// Who judges a network drops nothing.
TEST(Evaluation, IsWithoutDropout) {
  Dataset set = small_set(400);
  Dice dice(27);
  for (std::uint8_t &pixel : set.pixels)
    pixel = static_cast<std::uint8_t>(dice.bits());
  const auto right = [&](double dropped) {
    const graph::Graph forward = perceptron(4, {6, 30, 5}, dropped);
    const graph::TrainingGraph step = graph::training_graph(forward, graph::operators(), {});
    return evaluate(forward, step, initial_living(step.graph, 1), set).right;
  };
  for (const double dropped : {0.5, 0.9, 0.99})
    EXPECT_EQ(right(dropped), right(0)) << dropped;
}

TEST(Synthetic, NumbersThatNobodyReadsAreAnError) {
  graph::Graph forward;
  graph::Builder build(forward, graph::operators());
  build.input("ids", graph::ElementType::kInt32, {4});
  EXPECT_THROW(synthetic_feed(forward, 1), DataError);
}

} // namespace
} // namespace gradweave::runtime::train
