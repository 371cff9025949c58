// Checkpoints are what was written, names and bytes: a file that somebody changed is refused.
#include "train/checkpoint/checkpoint.hpp"

#include "sw_models/config/config_error.hpp"
#include "tests/support/scratch_directory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace gradweave::runtime::train {
namespace {

namespace fs = std::filesystem;
using Tensors = std::vector<graph::FileTensor>;

class CheckpointFile : public testing::Test {
protected:
  CheckpointFile() {
    for (const char *name : {"w1", "w2"}) {
      graph::Tensor tensor;
      tensor.name = name;
      tensor.shape = graph::Shape{2, 3};
      tensor.role = graph::Role::kParameter;
      step_.tensors.push_back(tensor);
    }
    const Checkpoint checkpoint{3, {0.5, 0.25, 0.125}, {{1, 2, 3, 4, 5, 6}, {7, 8, 9, 10, 11, 12}}};
    write_checkpoint(file_, step_, run_, checkpoint);
  }

  /// Why the file is refused when its tensors are changed; empty: it is not.
  std::string problem_after(const std::function<void(Tensors &, graph::FileMetadata &)> &change) const {
    const auto all = [](const graph::TensorEntry &) {};
    Tensors tensors = graph::read_safetensors(file_, all);
    graph::FileMetadata metadata = graph::read_safetensors_metadata(file_);
    change(tensors, metadata);
    const fs::path changed = scratch_ / "changed.safetensors";
    graph::write_safetensors(changed, tensors, metadata);
    try {
      read_checkpoint(changed, step_, run_);
    } catch (const ConfigError &error) {
      return error.what();
    }
    return {};
  }

  static graph::FileTensor &named(Tensors &tensors, const std::string &name) {
    return *std::find_if(tensors.begin(), tensors.end(), [&](const auto &t) { return t.name == name; });
  }

  const gradweave::test::ScratchDirectory scratch_;
  const fs::path file_ = scratch_ / "run.safetensors";
  graph::Graph step_;
  const RunIdentity run_{{"network", "n"}, {"--lr", "0.1"}};
};

TEST_F(CheckpointFile, GivesBackWhatWasWritten) {
  const Checkpoint read = read_checkpoint(file_, step_, run_);
  EXPECT_EQ(read.steps, 3U);
  EXPECT_EQ(read.losses, (std::vector<double>{0.5, 0.25, 0.125}));
  EXPECT_EQ(read.living[1], (std::vector<float>{7, 8, 9, 10, 11, 12}));
  EXPECT_EQ(problem_after([](Tensors &, graph::FileMetadata &) {}), "");
  EXPECT_EQ(problem_after([](Tensors &t, graph::FileMetadata &) { std::reverse(t.begin(), t.end()); }), "");
}

/// Two tensors of one shape with each other's names have the same bytes in the file, and the same shapes.
TEST_F(CheckpointFile, NamesAreOfTheChecksum) {
  const std::string problem =
      problem_after([](Tensors &t, graph::FileMetadata &) { std::swap(named(t, "w1").name, named(t, "w2").name); });
  EXPECT_NE(problem.find("damaged: its tensors are not those that were written"), std::string::npos) << problem;
}

/// Files outlive the program that wrote them: whoever changes what the checksum is of loses them.
TEST_F(CheckpointFile, TheChecksumIsThatOfEarlierFiles) {
  EXPECT_EQ(graph::read_safetensors_metadata(file_).at("checksum"), "5fa8764ac64f8f72887084653d1f16da");
}

TEST_F(CheckpointFile, EveryByteIsOfTheChecksum) {
  for (const char *name : {"w1", "w2", "gradweave.losses"})
    for (const std::size_t byte : {0U, 11U, 23U}) {
      const std::string problem =
          problem_after([&](Tensors &t, graph::FileMetadata &) { named(t, name).bytes.at(byte) ^= 0x10U; });
      EXPECT_NE(problem.find("damaged: its tensors"), std::string::npos) << name << " " << byte << problem;
    }
}

TEST_F(CheckpointFile, WhatItSaysOfItselfIsCompared) {
  for (const char *name : {"network", "--lr", "checksum"}) {
    EXPECT_NE(problem_after([&](Tensors &, graph::FileMetadata &m) { m[name] += "x"; }), "") << name;
    EXPECT_NE(problem_after([&](Tensors &, graph::FileMetadata &m) { m.erase(name); }), "") << name;
  }
  EXPECT_NE(problem_after([&](Tensors &, graph::FileMetadata &m) { m["steps_done"] = "2"; }), "");
}

} // namespace
} // namespace gradweave::runtime::train
