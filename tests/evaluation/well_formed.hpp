// Checks that a text is well-formed XML, as far as pages and drawings use it.
#pragma once

#include <string>

namespace gradweave::test {

/// Empty if every element is closed by its own name, attributes are quoted and unique, entities are known and there is
/// one root; else what is wrong and where.
std::string xml_problem(const std::string &text);

} // namespace gradweave::test
