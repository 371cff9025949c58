// Attributes of an operator's instance: named constants that are no tensors.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gradweave::graph {

using Attribute = std::variant<std::int64_t, double, std::vector<std::int64_t>, std::string>;

/// The kinds in the order of the variant.
enum class AttributeKind : std::uint8_t { kInteger, kReal, kIntegers, kText };
std::string_view to_string(AttributeKind kind); ///< "a whole number", "a number", "a list of whole numbers", "a text"
/// As the text form of a graph has it: 3, 0.5, [1, 2], "same"; a real number always has a point or an exponent.
std::string to_string(const Attribute &value);

/// By name. What an operator accepts and what is taken where one is left out is told by its entry
/// (Operator::attributes); the builder refuses all else and fills in the defaults, so reading one that the entry has
/// never fails.
class Attributes {
public:
  Attributes() = default;
  Attributes(std::initializer_list<std::pair<const std::string, Attribute>> values) : values_(values) {}

  bool has(std::string_view name) const { return values_.find(name) != values_.end(); }
  void set(std::string name, Attribute value) { values_[std::move(name)] = std::move(value); }

  // Throw std::out_of_range or std::bad_variant_access: the operator's entry is at fault.
  std::int64_t integer(std::string_view name) const { return std::get<std::int64_t>(get(name)); }
  double real(std::string_view name) const { return std::get<double>(get(name)); }
  const std::vector<std::int64_t> &integers(std::string_view name) const {
    return std::get<std::vector<std::int64_t>>(get(name));
  }
  const std::string &text(std::string_view name) const { return std::get<std::string>(get(name)); }

  const std::map<std::string, Attribute, std::less<>> &all() const { return values_; }
  bool operator==(const Attributes &o) const { return values_ == o.values_; }

private:
  const Attribute &get(std::string_view name) const;

  std::map<std::string, Attribute, std::less<>> values_;
};

} // namespace gradweave::graph
