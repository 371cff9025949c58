// Files of tensors: what NumPy and the safetensors format write is read, what is written is read back to the bit, and
// what is wrong is refused before it costs anything.
#include "graph/tensor_file/tensor_file.hpp"
#include "sw_models/config/config_error.hpp"
#include "tests/support/scratch_directory.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>

namespace gradweave::graph {
namespace {

namespace fs = std::filesystem;

void any(const TensorEntry & /*entry*/) {}

std::vector<FileTensor> kept(const std::string &name) { return read_tensors("tests/graph/tensor_files/" + name, any); }

class TensorFiles : public ::testing::Test {
protected:
  fs::path path(const std::string &name) const { return directory_ / name; }
  fs::path write(const std::string &name, const std::string &bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  static std::string bytes_of_file(const fs::path &file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
  }
  /// The message, without the directory.
  std::string error(const std::string &name, const std::string &bytes) const {
    const fs::path file = write(name, bytes);
    try {
      read_tensors(file, any);
    } catch (const ConfigError &e) {
      const std::string text = e.what();
      return text.rfind(directory_.string() + "/", 0) == 0 ? text.substr(directory_.string().size() + 1) : text;
    }
    return "no error";
  }
  static std::string npy(const std::string &dictionary, std::size_t data) {
    std::string text("\x93NUMPY\x01\0", 8);
    text += static_cast<char>(dictionary.size());
    text += '\0';
    return text + dictionary + std::string(data, '\0');
  }
  static std::string safetensors(const std::string &json, std::size_t data) {
    std::string text(8, '\0');
    text[0] = static_cast<char>(json.size() & 255U);
    text[1] = static_cast<char>(json.size() >> 8U);
    return text + json + std::string(data, '\0');
  }

private:
  const test::ScratchDirectory scratch_;
  const fs::path directory_ = scratch_.path();
};

TEST_F(TensorFiles, OfNumPyAreRead) {
  const std::vector<float> six{0, 0.25, 0.5, 0.75, 1, 1.25};
  EXPECT_EQ(floats_of(kept("rows.npy").at(0)), six);
  EXPECT_EQ(kept("rows.npy")[0].name, "rows");
  EXPECT_EQ(kept("rows.npy")[0].shape_text(), "[2, 3]");
  EXPECT_EQ(floats_of(kept("version2.npy").at(0)), six);
  std::vector<float> counted(24);
  for (std::size_t i = 0; i < 24; ++i)
    counted[i] = static_cast<float>(i);
  EXPECT_EQ(floats_of(kept("columns.npy").at(0)), counted) << "in the order of rows, whatever the file has";
  EXPECT_EQ(floats_of(kept("half.npy").at(0)),
            (std::vector<float>{1, -2, 65504, std::ldexp(1.0F, -24), std::numeric_limits<float>::infinity()}));
  EXPECT_EQ(indices_of(kept("labels.npy").at(0)), (std::vector<std::int32_t>{3, -1, 2147483647}));
  EXPECT_EQ(floats_of(kept("scalar.npy").at(0)), std::vector<float>{1.5});
  EXPECT_TRUE(kept("scalar.npy")[0].shape.empty());
  EXPECT_EQ(floats_of(kept("bfloat16.npy").at(0)), (std::vector<float>{1, -2}));
  const auto stored = kept("stored.npz");
  ASSERT_EQ(stored.size(), 2U);
  EXPECT_EQ(stored[0].name, "values");
  EXPECT_EQ(floats_of(stored[0]), six);
  EXPECT_EQ(indices_of(stored[1]), (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(floats_of(kept("compressed.npz").at(0)), std::vector<float>(4096));
}

TEST_F(TensorFiles, OfSafetensorsAreRead) {
  const auto tensors = kept("three.safetensors");
  ASSERT_EQ(tensors.size(), 3U);
  EXPECT_EQ(tensors[0].name, "layer.weight");
  EXPECT_EQ(floats_of(tensors[0]), (std::vector<float>{0, 0.25, 0.5, 0.75, 1, 1.25}));
  EXPECT_EQ(tensors[1].type, FileType::kBf16);
  EXPECT_EQ(floats_of(tensors[1]), (std::vector<float>{1, -2}));
  EXPECT_EQ(tensors[2].elements(), 0U);
}

/// Images and masks: a byte of 200 is no -56, whatever its sign bit says.
TEST(FileTensors, OfSmallWholeNumbersAreRead) {
  const auto read = [](FileType type, const std::string &bytes) {
    FileTensor tensor;
    tensor.type = type;
    tensor.shape = {2};
    tensor.bytes = bytes;
    return indices_of(tensor);
  };
  using Numbers = std::vector<std::int32_t>;
  EXPECT_EQ(read(FileType::kUint8, "\xc8\x01"), (Numbers{200, 1}));
  EXPECT_EQ(read(FileType::kInt8, "\xc8\x01"), (Numbers{-56, 1}));
  EXPECT_EQ(read(FileType::kUint16, "\x02\xff\x03\x01"), (Numbers{65282, 259}));
  EXPECT_EQ(read(FileType::kInt16, "\x02\xff\x03\x01"), (Numbers{-254, 259}));
  EXPECT_EQ(read(FileType::kBool, std::string("\x01\0", 2)), (Numbers{1, 0}));
}

TEST_F(TensorFiles, OfSmallWholeNumbersAreTold) {
  for (const char *type : {"|u1", "|i1", "|b1"}) {
    const std::string header = std::string("{'descr': '") + type + "', 'fortran_order': False, 'shape': (2,), }";
    EXPECT_EQ(error("a.npy", npy(header, 2)), "no error") << type;
  }
}

/// Bits, NaN and -0 among them, in every format.
TEST_F(TensorFiles, WhatIsWrittenIsReadBackToTheBit) {
  std::vector<float> values{-0.0F, 1, -2.5, std::numeric_limits<float>::infinity(), std::nanf("5"), 1e-45F};
  std::vector<float> halves{-0.0F, 1, -2.5, std::ldexp(1.0F, -133)};
  const std::vector<FileTensor> tensors{file_tensor("a/b", FileType::kFp32, {2, 3}, values),
                                        file_tensor("c", FileType::kBf16, {4}, halves),
                                        file_tensor("labels", {}, std::vector<std::int32_t>{-7})};
  for (const char *name : {"t.npz", "t.safetensors"}) {
    write_tensors(path(name), tensors);
    const auto back = read_tensors(path(name), any);
    ASSERT_EQ(back.size(), 3U) << name;
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(back[i].name, tensors[i].name);
      EXPECT_EQ(back[i].shape, tensors[i].shape);
    }
    EXPECT_EQ(back[0].bytes, tensors[0].bytes) << name;
    const auto bytes_of_fp32 = [](const std::vector<float> &v) {
      return file_tensor({}, FileType::kFp32, {4}, v).bytes;
    };
    EXPECT_EQ(bytes_of_fp32(floats_of(back[1])), bytes_of_fp32(halves)) << name;
    EXPECT_EQ(indices_of(back[2]), std::vector<std::int32_t>{-7});
  }
  write_tensors(path("one.npy"), {tensors[0]});
  EXPECT_EQ(read_tensors(path("one.npy"), any).at(0).bytes, tensors[0].bytes);
  EXPECT_THROW(write_tensors(path("two.npy"), tensors), ConfigError);
  EXPECT_THROW(write_tensors(path("t.bin"), tensors), ConfigError);
}

TEST_F(TensorFiles, TheSameTensorsMakeTheSameFile) {
  const std::vector<FileTensor> tensors{file_tensor("a", FileType::kFp32, {2}, {1, 2})};
  for (const char *name : {"a.npz", "a.safetensors", "a.npy"}) {
    write_tensors(path(name), tensors);
    const std::string first = bytes_of_file(path(name));
    write_tensors(path(name), tensors);
    EXPECT_EQ(bytes_of_file(path(name)), first) << name;
  }
}

TEST_F(TensorFiles, BadNpyFilesAreRefused) {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  EXPECT_EQ(error("a.npy", npy(good, 8)), "no error");
  EXPECT_EQ(error("a.npy", npy(good, 7)), "a.npy: [2] of fp32 are not the 7 bytes that follow the header");
  EXPECT_EQ(error("a.npy", "NUMPY"), "a.npy: not an .npy file: it does not begin with \\x93NUMPY");
  EXPECT_EQ(error("a.npy", npy(good, 0).substr(0, 30)), "a.npy: the header of the .npy file is cut off or too long");
  EXPECT_EQ(error("a.npy", npy("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", 8)),
            "a.npy: its elements are '>f4'; write float32, float64, float16, int32, int64, uint8, int8, "
            "uint16, int16 or bool, little-endian: array.astype('<f4')");
  EXPECT_EQ(error("a.npy", npy("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2,), }", 8)),
            "a.npy: its elements are records; write an array of numbers");
  EXPECT_EQ(error("a.npy", npy("{'descr': '<f4', 'shape': (2,), }", 8)),
            "a.npy: not the header of an .npy file: descr, fortran_order or shape is missing");
  EXPECT_EQ(error("a.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", 8)),
            "a.npy: not the header of an .npy file: shape holds something else than whole numbers");
  const std::string huge = "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }";
  EXPECT_EQ(error("a.npy", npy(huge, 0)),
            "a.npy: [4294967296, 4294967296] of fp32 are not the 0 bytes that follow the header");
  EXPECT_EQ(error("a.bin", ""), "a.bin: files of tensors end in .npy, .npz or .safetensors");
}

TEST_F(TensorFiles, BadSafetensorsFilesAreRefused) {
  const auto of = [](const std::string &fields) { return "{\"w\":{" + fields + "}}"; };
  const std::string good = "\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]";
  EXPECT_EQ(error("a.safetensors", safetensors(of(good), 8)), "no error");
  EXPECT_EQ(error("a.safetensors", safetensors(of(good), 9)),
            "a.safetensors: its tensors have 8 bytes, but 9 follow the header: the file is cut off, or more than one");
  EXPECT_EQ(error("a.safetensors", safetensors("{\"w\":{" + good + "},\"w\":{" + good + "}}", 8)),
            "a.safetensors: tensor 'w' stands in it twice");
  EXPECT_EQ(error("a.safetensors", safetensors("{\"v\":{" + good + "},\"w\":{" + good + "}}", 8)),
            "a.safetensors: tensor 'w' begins at byte 0, and the one before ends at 8");
  EXPECT_EQ(
      error("a.safetensors", safetensors(of("\"dtype\":\"U32\",\"shape\":[2],\"data_offsets\":[0,8]"), 8)),
      "a.safetensors: tensor 'w': dtype \"U32\" is not taken; write BF16, F16, F32, F64, I64, I32, I16, I8, U16, U8 "
      "or BOOL");
  EXPECT_EQ(error("a.safetensors", safetensors(of("\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,8]"), 8)),
            "a.safetensors: tensor 'w': [3] of fp32 are not the bytes 0 to 8");
  EXPECT_EQ(error("a.safetensors", safetensors(of("\"dtype\":\"F32\",\"shape\":[2]"), 8)),
            "a.safetensors: tensor 'w': has no data_offsets");
  EXPECT_EQ(error("a.safetensors", safetensors("[1]", 0)), "a.safetensors: the header is no JSON object");
  EXPECT_EQ(error("a.safetensors", "abc"),
            "a.safetensors: too short for a safetensors file: it begins with the 8 bytes of its header's length");
  EXPECT_EQ(error("a.safetensors", std::string(7, '\0') + "\x7f{}"),
            "a.safetensors: a header of 9151314442816847872 bytes is longer than the file, or than a safetensors "
            "file's may be");
}

TEST_F(TensorFiles, BadArchivesAreRefused) {
  EXPECT_EQ(error("a.npz", "no archive"), "a.npz: not an .npz file (a ZIP archive): Not a zip archive");
  const std::string bytes = bytes_of_file("tests/graph/tensor_files/stored.npz");
  EXPECT_NE(error("a.npz", bytes.substr(0, bytes.size() / 2)), "no error");
  std::string changed = bytes;
  changed[changed.find("NUMPY") + 130] ^= 1; // an element: the checksum tells
  EXPECT_NE(error("a.npz", changed), "no error");
}

/// What is not accepted is neither unpacked nor allocated: the shapes here would be 16 EiB.
TEST_F(TensorFiles, NothingIsReadBeforeItIsAccepted) {
  const auto refuse = [](const TensorEntry &entry) { throw std::length_error(entry.name + entry.shape_text()); };
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387903,), }";
  const auto refused = [&](const fs::path &file) {
    try {
      read_tensors(file, refuse);
    } catch (const std::length_error &e) {
      return std::string(e.what());
    }
    return std::string("not asked");
  };
  EXPECT_EQ(refused(write("big.npy", npy(header, 0))), "big[4611686018427387903]");
  EXPECT_EQ(refused("tests/graph/tensor_files/compressed.npz"), "zeros[64, 64]");
  EXPECT_EQ(refused("tests/graph/tensor_files/three.safetensors"), "layer.weight[2, 3]");
}

TEST_F(TensorFiles, TypesAreNotMixedUp) {
  EXPECT_THROW(floats_of(kept("labels.npy").at(0)), std::invalid_argument);
  EXPECT_THROW(indices_of(kept("rows.npy").at(0)), std::invalid_argument);
  FileTensor wide = kept("labels.npy").at(0);
  wide.bytes[4] = 1;
  EXPECT_THROW(indices_of(wide), std::invalid_argument);
}

} // namespace
} // namespace gradweave::graph
