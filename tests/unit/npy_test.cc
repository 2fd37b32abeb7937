#include "core/base/npy.h"

#include <gtest/gtest.h>

#include "core/base/strings.h"

namespace shoal::internal {
namespace {

std::string File(const std::string& dict, const std::string& data = "") {
  std::string file = "\x93NUMPY";
  file += '\1';
  file += '\0';
  file += static_cast<char>(dict.size() & 0xff);
  file += static_cast<char>(dict.size() >> 8);
  return file + dict + data;
}

std::string ErrorOf(const std::string& file) {
  Result<NpyArray> array = ParseNpy(file);
  return array.ok() ? "ok" : array.diag().message;
}

TEST(Npy, ReadsWhatItWrites) {
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{}, {3}, {2, 3}, {0, 7}}) {
    int64_t count = 1;
    for (int64_t size : dims) count *= size;
    const std::string file = NpyHeader("<f4", dims) + std::string(static_cast<size_t>(count) * 4, 'x');
    EXPECT_EQ((file.size() - static_cast<size_t>(count) * 4) % 64, 0u);
    Result<NpyArray> array = ParseNpy(file);
    ASSERT_TRUE(array.ok()) << array.diag().message;
    EXPECT_EQ(array->dims, dims);
    EXPECT_EQ(array->kind, 'f');
    EXPECT_EQ(array->item_bytes, 4);
    EXPECT_FALSE(array->fortran_order);
    EXPECT_EQ(array->data.size(), static_cast<size_t>(count) * 4);
  }
}

TEST(Npy, WritesTuplesAsPythonDoes) {
  EXPECT_NE(NpyHeader("|b1", {}).find("'shape': (), }"), std::string::npos);
  EXPECT_NE(NpyHeader("|b1", {5}).find("'shape': (5,), }"), std::string::npos);
  EXPECT_NE(NpyHeader("|b1", {5, 6, 7}).find("'shape': (5, 6, 7), }"), std::string::npos);
}

TEST(Npy, ReadsHeadersOfAllNumPyVersions) {
  EXPECT_EQ(ErrorOf(File("{'descr': '|V2', 'fortran_order': True, 'shape': (2L, 1L), }", "abcd")), "ok");
  EXPECT_EQ(ErrorOf(File("{\"shape\": (), \"descr\": \"<c16\", \"fortran_order\": False}", std::string(16, 0))), "ok");
}

TEST(Npy, ReportsErrors) {
  EXPECT_EQ(ErrorOf("PK"), "is not an .npy file");
  EXPECT_EQ(ErrorOf("\x93NUMPY\x09" + std::string(3, '\0')), "has version 9 of the .npy format; supported: 1 to 3");
  EXPECT_EQ(ErrorOf(File("{'descr': '<f4'").substr(0, 12)), "is truncated within its header");
  EXPECT_EQ(ErrorOf(File("{'descr': '<f4'")), "has a header that is malformed after 'descr'");
  EXPECT_EQ(ErrorOf(File("{'descr': '<f4', 'shape': (1,)}")), "has no 'fortran_order' in its header");
  EXPECT_EQ(ErrorOf(File("{'descr': [('a', '<f4')], 'shape': (1,)}")),
            "has a 'descr' that is a structured type, not a single type");
  EXPECT_EQ(ErrorOf(File("{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", "abcd")),
            "has the big-endian type '>f4'; the type must be little-endian");
  EXPECT_EQ(ErrorOf(File("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "abcd")),
            "has the unsupported type '|O'; supported: bool, int, uint, float, complex, void");
  EXPECT_EQ(ErrorOf(File("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "abcd")),
            "has a 'shape' with an invalid size");
  EXPECT_EQ(ErrorOf(File("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}", "abcd")),
            "has a 'shape' whose size overflows");
  EXPECT_EQ(ErrorOf(File("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 4611686018427387904, 4)}")), "ok");
  EXPECT_EQ(ErrorOf(File("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", "abcd")),
            "is truncated: its shape needs 8 bytes of data, it has 4");
}

}  // namespace
}  // namespace shoal::internal
