// A mini-batch of a recommendation model (DLRM) whose tables lie in storage: section 4.2 and table 5 of Y. Jang et al.
// (cycles.hpp). The vectors of a request are added up on the host, or on the device that holds the tables.
#pragma once

#include <cstdint>

namespace gradweave::partitioned {

/// Table 5, and what the paper leaves open: the defaults of that are fitted to figure 5.
struct Recommendation {
  std::uint32_t batch = 64;
  std::uint32_t vectors = 26; ///< of a request
  double word_bytes = 4;
  double link_rate = 4e9;          ///< bytes a second between storage and host, one way at a time
  double storage_rate = 3.714e9;   ///< bytes a second, reading and writing rows of the tables
  double block_bytes = 0;          ///< of what is read or written at least for a vector; 0: no more than the vector
  double fixed_seconds = 123.8e-6; ///< perceptrons and loss, whatever the dimension
  double host_reduce_rate = 0, device_reduce_rate = 0; ///< bytes a second added up; 0: takes no time
};

/// Seconds of a mini-batch.
struct RecommendationTimes {
  double read = 0;   ///< rows from the storage
  double up = 0;     ///< rows, or their sum, to the host
  double reduce = 0; ///< adding up
  double fixed = 0;  ///< perceptrons
  double down = 0;   ///< new rows, or the gradient of the sum, to the storage
  double write = 0;  ///< rows to the storage

  double total() const { return read + up + reduce + fixed + down + write; }
};

/// Throws std::invalid_argument for a dimension, batch or number of vectors of 0, a rate that is not above 0 where one
/// is needed, or a negative size or time.
RecommendationTimes recommendation_times(const Recommendation &parameters, std::uint32_t dimension, bool near_storage);

/// Percent less time near storage than on the host.
double recommendation_saving(const Recommendation &parameters, std::uint32_t dimension);

} // namespace gradweave::partitioned
