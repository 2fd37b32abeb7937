#include "execute/data/inputs.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>

#include "core/base/environment_error.h"
#include "core/base/files.h"
#include "core/base/printable.h"
#include "core/base/settings.h"
#include "core/base/strings.h"
#include "core/base/zip.h"
#include "execute/data/shards.h"
#include "kernels/arrays/npy_array.h"

namespace shoal::internal {
namespace {

// NumPy writes headers of at most 64 KiB for arrays of one type.
constexpr uint64_t kMaxHeaderBytes = 1 << 17;
// NumPy ignores bytes behind the array. They count for the checksum of an entry, so all of them are unpacked.
constexpr uint64_t kMaxIgnoredBytes = uint64_t{64} << 20;

// The .npy files in a folder or in an .npz file, by name.
class NpyFiles {
 public:
  static Result<NpyFiles> Open(const std::string& path) {
    NpyFiles files;
    files.path_ = path;
    struct stat info {};
    if (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return files;
    SHOAL_ASSIGN(archive, InputFile::Open(path));
    Result<ZipReader> zip = ZipReader::Open(std::move(archive));
    if (!zip.ok())
      return Fail(StrCat(EscapeName(path), " ", zip.diag().message, "; ", Setting("inputs"), " must be a folder or an .npz file"));
    files.zip_ = std::move(*zip);
    return files;
  }

  bool IsArchive() const { return zip_.has_value(); }

  // The names of all files, without ".npy": "0", "d1/0".
  Result<std::vector<std::string>> Names() const {
    std::vector<std::string> names;
    if (zip_) {
      for (const auto& [name, entry] : zip_->entries()) names.push_back(name);
    } else {
      SHOAL_ASSIGN(listing, ListFolder(path_, /*max_depth=*/2, /*follow_links=*/true));
      for (const auto& [folder, reason] : listing.unreadable)
        return EnvironmentError(StrCat("cannot read ", EscapeName(StrCat(path_, "/", folder)), ": ", reason));
      for (FolderEntry& file : listing.files) names.push_back(std::move(file.path));
    }
    for (std::string& name : names)
      if (name.ends_with(".npy")) name.resize(name.size() - 4);
    std::sort(names.begin(), names.end());
    return names;
  }
  // The path of a file.
  std::string PathOf(const std::string& name) const { return StrCat(path_, IsArchive() ? ":" : "/", name, ".npy"); }
  // The path of a file for messages.
  std::string ShownPathOf(const std::string& name) const { return EscapeName(PathOf(name)); }

  bool Has(const std::string& name) const {
    if (zip_) return zip_->Has(name + ".npy") || zip_->Has(name);
    struct stat info {};
    return stat(PathOf(name).c_str(), &info) == 0;
  }

  // Reads only the header of a file, and checks that the file is as large as the header declares.
  Result<NpyArray> ReadHeader(const std::string& name) {
    uint64_t file_bytes = 0;
    Result<std::string> beginning = ReadBeginning(name, file_bytes);
    if (!beginning.ok()) return beginning.diag();
    Result<NpyArray> array = ParseNpyHeader(*beginning);
    if (!array.ok()) return Fail(StrCat(ShownPathOf(name), " ", array.diag().message));
    const uint64_t rest = file_bytes - array->data_at;
    if (array->data_bytes > rest) return Fail(StrCat(ShownPathOf(name), " ", NpyTruncated(*array, rest)));
    if (zip_ && rest - array->data_bytes > kMaxIgnoredBytes)
      return Fail(StrCat(ShownPathOf(name), " has ", rest - array->data_bytes, " bytes behind its array"));
    return array;
  }

  // Reads the array of a file into an array of this type, which the header must hold.
  Result<Array> Read(const std::string& name, const NpyArray& header, ElementType type) {
    return FromNpy(header, type, [&](std::byte* out) {
      return zip_ ? ReadFromArchive(name, header, out)
                  : file_->ReadAt(header.data_at, reinterpret_cast<char*>(out), header.data_bytes);
    });
  }

 private:
  std::string EntryOf(const std::string& name) const { return zip_->Has(name + ".npy") ? name + ".npy" : name; }

  Result<std::string> ReadBeginning(const std::string& name, uint64_t& file_bytes) {
    if (zip_) {
      file_bytes = zip_->entries().at(EntryOf(name)).bytes;
      Result<std::string> beginning = zip_->ReadBeginning(EntryOf(name), kMaxHeaderBytes);
      if (!beginning.ok()) return Fail(StrCat(EscapeName(path_), " ", beginning.diag().message));
      return beginning;
    }
    SHOAL_ASSIGN(file, InputFile::Open(PathOf(name)));
    file_ = std::move(file);
    file_bytes = file_->size();
    return file_->ReadRange(0, kMaxHeaderBytes);
  }

  // Unpacks the whole entry, because its checksum is that of all its bytes.
  Status ReadFromArchive(const std::string& name, const NpyArray& header, std::byte* out) const {
    const Status unpacked =
        zip_->UnpackInto(EntryOf(name), header.data_at, header.data_bytes, reinterpret_cast<char*>(out));
    if (!unpacked.ok()) return Fail(StrCat(EscapeName(path_), " ", unpacked.diag().message));
    return {};
  }

  std::string path_;
  std::optional<InputFile> file_;
  std::optional<ZipReader> zip_;
};

// True if the dimensions match the shape. The size of a dynamic dimension may be smaller than its bound.
bool Matches(Ints dims, const Shape& shape) {
  if (dims.size() != shape.dims().size()) return false;
  for (size_t d = 0; d < dims.size(); ++d) {
    const auto i = static_cast<int64_t>(d);
    if (shape.is_dynamic(i) ? dims[d] > shape.dim(i) : dims[d] != shape.dim(i)) return false;
  }
  return true;
}

// If the leaf's sharding splits a global array into shards of the leaf's shape, returns the shards.
std::optional<ShardGrid> MatchingShards(const Leaf& leaf, Ints whole, const DeviceGrid& grid) {
  if (leaf.sharding == nullptr) return std::nullopt;
  std::optional<ShardGrid> shards = ShardGridOf(*leaf.sharding, leaf.shape->rank(), grid.partitions);
  if (!shards || whole.size() != shards->tiles.size()) return std::nullopt;
  if (!Matches(AsInts(ShardDims(*shards, whole)), *leaf.shape)) return std::nullopt;
  return shards;
}

Diag WrongShape(const Leaf& leaf, const std::string& found, Ints dims, const DeviceGrid& grid, bool for_all) {
  std::string expected = ToString(*leaf.shape);
  if (for_all && leaf.sharding != nullptr) {
    const auto shards = ShardGridOf(*leaf.sharding, leaf.shape->rank(), grid.partitions);
    if (shards && !shards->replicated())
      StrAppend(&expected, ", or the global array ", Text(leaf.shape->element_type()), "[",
                StrJoin(WholeDims(*shards, leaf.shape->dims()), ","), "]");
  }
  return Fail(
      leaf.hlo->at, "inputs.C3",
      StrCat(DescribeInput(leaf), " must be ", expected, "; ", found, " has shape [", StrJoin(dims, ","), "]"));
}

Status CheckType(const Leaf& leaf, const NpyArray& npy, const std::string& file) {
  const ElementType type = leaf.shape->element_type();
  if (NpyHolds(npy, type)) return {};
  const std::string own = NpyDescr(type), raw = StrCat(own[0], "V", StorageBytes(type));
  return Fail(leaf.hlo->at, "inputs.C2",
              StrCat(DescribeInput(leaf), " is ", Text(type), ", so its file must have dtype '", own, "'",
                     own == raw ? "" : StrCat(" or '", raw, "'"), "; ", file, " has '", EscapeName(npy.descr), "'"));
}

// The leaf and the device in a file name: "2" and "arr_2", "d0/2" and "in/2/d0".
struct FileTarget {
  int64_t array = 0, device = 0;
};

std::optional<FileTarget> ParseFileName(std::string_view name) {
  auto number = [](std::string_view text) -> std::optional<int64_t> {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
    return value;
  };
  std::optional<int64_t> array, device = 0;
  if (const size_t slash = name.rfind('/'); slash == std::string_view::npos) {
    array = number(name.starts_with("arr_") ? name.substr(4) : name);
  } else if (name.starts_with("in/")) {
    array = number(name.substr(3, slash - 3));
    device = name.substr(slash + 1).starts_with('d') ? number(name.substr(slash + 2)) : std::nullopt;
  } else {
    array = number(name.substr(slash + 1));
    device = name.starts_with('d') ? number(name.substr(1, slash - 1)) : std::nullopt;
  }
  if (!array || !device) return std::nullopt;
  return FileTarget{*array, *device};
}

bool IsLocal(const Placement* placement, int64_t device) { return placement == nullptr || placement->IsLocal(device); }

class ArgumentReader {
 public:
  ArgumentReader(NpyFiles& files, const DeviceGrid& grid, const Placement* placement)
      : files_(files), grid_(grid), placement_(placement), values_(grid.count()) {}

  Status Read(const Leaf& leaf) {
    if (!leaf.shape->IsArray()) {
      for (int64_t device = 0; device < grid_.count(); ++device)
        if (IsLocal(placement_, device)) values_[static_cast<size_t>(device)].emplace_back();
      return {};
    }
    Value for_all;
    for (int64_t device = 0; device < grid_.count(); ++device) {
      if (!IsLocal(placement_, device)) continue;
      auto& values = values_[static_cast<size_t>(device)];
      if (std::optional<std::string> own = FirstOf(OwnNames(leaf, device))) {
        SHOAL_ASSIGN(array, ReadChecked(leaf, *own, /*for_all=*/false));
        values.push_back(std::move(array));
        continue;
      }
      if (for_all.IsToken()) {
        std::optional<std::string> name = FirstOf(CommonNames(leaf));
        if (!name) return NoFile(leaf, device);
        SHOAL_ASSIGN(array, ReadChecked(leaf, *name, /*for_all=*/true));
        for_all = std::move(array);
      }
      values.push_back(PartFor(leaf, for_all.array(), device));
    }
    return {};
  }

  // Fails if there are files for leaves or devices that do not exist: the files are for another module.
  Status CheckCounts(const std::vector<Leaf>& leaves) const {
    const auto count = static_cast<int64_t>(leaves.size());
    SHOAL_ASSIGN(names, files_.Names());
    for (const std::string& name : names) {
      const std::optional<FileTarget> target = ParseFileName(name);
      if (!target) continue;  // an unrelated file
      if (target->array >= count)
        return Fail({}, "inputs.C1",
                    StrCat("the module takes ", count, count == 1 ? " array" : " arrays",
                           ", numbered from 0; unexpected file ", files_.ShownPathOf(name)));
      if (target->device >= grid_.count())
        return Fail({}, "inputs.C1",
                    StrCat("the run has ", grid_.count(), grid_.count() == 1 ? " device" : " devices",
                           ", numbered from 0; unexpected file ", files_.ShownPathOf(name)));
    }
    return {};
  }

  const std::vector<std::vector<Value>>& values() const { return values_; }

 private:
  std::vector<std::string> OwnNames(const Leaf& leaf, int64_t device) const {
    std::vector<std::string> names{StrCat("d", device, "/", leaf.number)};
    if (files_.IsArchive()) names.push_back(StrCat("in/", leaf.number, "/d", device));
    return names;
  }
  std::vector<std::string> CommonNames(const Leaf& leaf) const {
    std::vector<std::string> names{StrCat(leaf.number)};
    if (files_.IsArchive()) names.push_back(StrCat("arr_", leaf.number));
    return names;
  }
  std::optional<std::string> FirstOf(const std::vector<std::string>& names) const {
    for (const std::string& name : names)
      if (files_.Has(name)) return name;
    return std::nullopt;
  }

  Diag NoFile(const Leaf& leaf, int64_t device) const {
    return Fail(leaf.hlo->at, "inputs.C1",
                StrCat(DescribeInput(leaf), ", ", ToString(*leaf.shape), ", has no input: neither ",
                       files_.ShownPathOf(StrCat("d", device, "/", leaf.number)), " nor ",
                       files_.ShownPathOf(StrCat(leaf.number)), " exists"));
  }

  // Reads an array. Checks type and shape before unpacking the array, because it may be too large.
  Result<Array> ReadChecked(const Leaf& leaf, const std::string& name, bool for_all) {
    SHOAL_ASSIGN(header, files_.ReadHeader(name));
    SHOAL_TRY(CheckType(leaf, header, files_.ShownPathOf(name)));
    const Ints dims(header.dims);
    if (!Matches(dims, *leaf.shape) && !(for_all && MatchingShards(leaf, dims, grid_)))
      return WrongShape(leaf, files_.ShownPathOf(name), dims, grid_, for_all);
    return files_.Read(name, header, leaf.shape->element_type());
  }

  Array PartFor(const Leaf& leaf, const Array& whole, int64_t device) const {
    if (Matches(whole.dims(), *leaf.shape)) return whole;
    return ShardOf(whole, *MatchingShards(leaf, whole.dims(), grid_), grid_.PartitionOf(device));
  }

  NpyFiles& files_;
  const DeviceGrid& grid_;
  const Placement* placement_;
  std::vector<std::vector<Value>> values_;
};

}  // namespace

Result<Arguments> ReadArguments(const Module& module, const DeviceGrid& grid, const std::string& path,
                                const Placement* placement) {
  SHOAL_ASSIGN(files, NpyFiles::Open(path));
  const std::vector<Leaf> leaves = ParameterLeaves(module);
  ArgumentReader reader(files, grid, placement);
  for (const Leaf& leaf : leaves) SHOAL_TRY(reader.Read(leaf));
  SHOAL_TRY(reader.CheckCounts(leaves));
  return ArgumentsFromLeaves(module, reader.values());
}

Result<Value> RecordedValue(const Literal& literal) {
  if (literal.elided)
    return Fail({}, "inputs.C4", StrCat("the snapshot omits the values of ", ToString(*literal.shape, /*with_layout=*/false)));
  if (literal.shape->IsArray()) return Value(Array::FromLiteral(literal));
  if (!literal.shape->IsTuple()) return Value();
  std::vector<Value> elements;
  for (const Literal* element : literal.elements) {
    SHOAL_ASSIGN(value, RecordedValue(*element));
    elements.push_back(std::move(value));
  }
  return Value::Tuple(std::move(elements));
}

Result<Arguments> SnapshotArguments(const Module& module, const DeviceGrid& grid,
                                    std::span<const Literal* const> literals, const Placement* placement) {
  std::vector<Value> recorded;
  for (const Literal* literal : literals) {
    SHOAL_ASSIGN(value, RecordedValue(*literal));
    AppendLeaves(value, recorded);
  }
  const std::vector<Leaf> leaves = ParameterLeaves(module);
  // A snapshot of a module before optimization has the arguments of each device.
  const bool per_device = recorded.size() != leaves.size();
  if (per_device && recorded.size() != leaves.size() * static_cast<size_t>(grid.count()))
    return Fail({}, "inputs.C1",
                StrCat("the module takes ", leaves.size(), " arrays; the snapshot has ", recorded.size()));
  std::vector<std::vector<Value>> values(static_cast<size_t>(grid.count()));
  for (size_t i = 0; i < leaves.size(); ++i) {
    const Leaf& leaf = leaves[i];
    const bool is_array = leaf.shape->IsArray();
    for (int64_t device = 0; device < grid.count(); ++device) {
      Value value = recorded[i + (per_device ? static_cast<size_t>(device) * leaves.size() : 0)];
      if (is_array && (!value.IsArray() || value.array().type() != leaf.shape->element_type()))
        return Fail(leaf.hlo->at, "inputs.C2",
                    StrCat(DescribeInput(leaf), " is ", ToString(*leaf.shape), "; the snapshot has ",
                           value.IsArray() ? ToString(value.array()) : "a token"));
      if (!IsLocal(placement, device)) continue;
      if (is_array && !Matches(value.array().dims(), *leaf.shape)) {
        const auto shards = MatchingShards(leaf, value.array().dims(), grid);
        if (!shards) return WrongShape(leaf, "the snapshot's value", value.array().dims(), grid, /*for_all=*/true);
        value = ShardOf(value.array(), *shards, grid.PartitionOf(device));
      }
      values[static_cast<size_t>(device)].push_back(std::move(value));
    }
  }
  return ArgumentsFromLeaves(module, values);
}

}  // namespace shoal::internal
