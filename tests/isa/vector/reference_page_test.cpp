// docs/vector-isa.md is generated; the copy in the repository must be the current one.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace {

std::string contents(const char *file) {
  std::ifstream in(file);
  EXPECT_TRUE(in) << "cannot read " << file;
  std::ostringstream s;
  s << in.rdbuf();
  return s.str();
}

TEST(VectorIsaPage, EqualsTheGeneratedOne) {
  EXPECT_EQ(contents(GW_PAGE), contents(GW_GENERATED_PAGE)) << "run the `docs` target to rewrite docs/vector-isa.md";
}

} // namespace
