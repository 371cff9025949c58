// The page of an instruction set is generated; the copy in the repository must be the current one.
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

TEST(IsaReferencePage, EqualsTheGeneratedOne) {
  EXPECT_EQ(contents(GW_PAGE), contents(GW_GENERATED_PAGE)) << "run the `docs` target to rewrite " GW_PAGE;
}

} // namespace
