// The data of a page: named sections of columns. Each section is compressed separately, so that the page decompresses
// only those of the open view. docs/report.md describes the sections, docs/schema/report.schema.json the directory.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::internal {

inline constexpr uint16_t kPageVersion = 2;

class PageSection {
 public:
  explicit PageSection(std::string name) : name_(std::move(name)) {}

  void Add(std::string_view column, const std::vector<uint8_t>& values) { AddArray(column, "u8", values); }
  void Add(std::string_view column, const std::vector<uint16_t>& values) { AddArray(column, "u16", values); }
  void Add(std::string_view column, const std::vector<uint32_t>& values) { AddArray(column, "u32", values); }
  void Add(std::string_view column, const std::vector<int32_t>& values) { AddArray(column, "i32", values); }
  void Add(std::string_view column, const std::vector<double>& values) { AddArray(column, "f64", values); }
  // Strings, each terminated by a zero byte; zero bytes in them become U+2400.
  void Add(std::string_view column, const std::vector<std::string>& values);
  // Adds a column with the value of(row) for each row.
  template <class Rows, class Of>
  void AddOf(std::string_view column, const Rows& rows, Of of) {
    std::vector<std::decay_t<decltype(of(*std::begin(rows)))>> values;
    for (const auto& row : rows) values.push_back(of(row));
    Add(column, values);
  }

  const std::string& name() const { return name_; }
  const std::string& bytes() const { return bytes_; }
  struct Column {
    std::string name;
    const char* type;
    size_t count;
  };
  const std::vector<Column>& columns() const { return columns_; }

 private:
  template <class T>
  void AddArray(std::string_view column, const char* type, const std::vector<T>& values);
  // Columns start at multiples of eight bytes, so that the page can read them in place.
  void Begin(std::string_view column, const char* type, size_t count);

  std::string name_, bytes_;
  std::vector<Column> columns_;
};

class PageSections {
 public:
  PageSection& Add(std::string name) { return sections_.emplace_back(std::move(name)); }
  // `bytes`: magic number, version, directory and sections, for the page to embed. `directory`: the directory alone.
  struct Packed {
    std::string bytes, directory;
  };
  // The predicted step time of one of the files on a machine.
  struct StepTime {
    std::string file, machine;
    double seconds = 0;
  };
  Packed Pack(const std::vector<std::string>& files, const std::vector<StepTime>& predictions = {}) const;

 private:
  std::deque<PageSection> sections_;
};

// Assigns an index to each distinct string.
class StringTable {
 public:
  uint32_t operator()(std::string_view text);
  const std::vector<std::string>& all() const { return all_; }

 private:
  std::map<std::string, uint32_t, std::less<>> indices_;
  std::vector<std::string> all_;
};

std::string Base64(std::string_view bytes);

}  // namespace shoal::internal
