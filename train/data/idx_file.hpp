// IDX files, the format in which MNIST and its relatives are published: a header of dimensions, then bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <vector>

namespace gradweave::runtime::train {

/// Data that cannot be read or do not fit together. what() names the file, what is wrong and the remedy.
class DataError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Unsigned bytes of up to four dimensions, outermost first.
struct IdxFile {
  std::vector<std::uint32_t> dims;
  std::vector<std::uint8_t> bytes; ///< as many as the dimensions multiply to
};

/// Reads an IDX file of unsigned bytes (magic number 0x0000080D for D dimensions, all numbers big-endian), compressed
/// by gzip or not. Reads no more than the header promises, and that may be 1 GB at most. Throws DataError: missing, no
/// regular file, not readable, wrong magic number, dimensions of 0 or too large, fewer or more bytes than the
/// dimensions say, damaged compression.
IdxFile read_idx(const std::filesystem::path &file);

} // namespace gradweave::runtime::train
