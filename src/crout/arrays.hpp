/// What the kernels of src/crout share: arrays on an execution space, scans, sorting of short lists by one thread.
#pragma once
#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "base/kernel_scalar.hpp"
#include "base/real_of.hpp"
#include "line/line_layout.hpp"

namespace weft::crout {

/// Number of an entry in an array of values. 32 bits halve the traffic of maps between entries.
using Position                      = std::uint32_t;
inline constexpr Position nowhere   = 0xffffffffu;
inline constexpr Index most_entries = is_complex<KernelScalar> ? 0x7fffffff : 0xfffffffe;
/// In a source of complex values: the conjugate is meant, since half of a Hermitian matrix stands for the other half.
inline constexpr Position conjugated = 0x80000000u;

/// The value of a source that is not `nowhere`.
KOKKOS_INLINE_FUNCTION KernelScalar value_of(const KernelScalar *values, Position source)
{
  if constexpr (is_complex<KernelScalar>)
    return source & conjugated ? conjugate(values[source & ~conjugated]) : values[source];
  else
    return values[source];
}

/// Whether the lower triangle follows from the upper one, U = D L^T, and whether by conjugates, U = D L^H.
struct Symmetry {
  bool symmetric = false, hermitian = false;

  KOKKOS_INLINE_FUNCTION Symmetry(bool is_symmetric = false, bool is_hermitian = false) : symmetric(is_symmetric), hermitian(is_hermitian)
  {
  }
  KOKKOS_INLINE_FUNCTION explicit operator bool() const { return symmetric; }

  /// The entry (j, i) whose mirror image (i, j) is x.
  template <class Scalar>
  KOKKOS_INLINE_FUNCTION Scalar mirrored(const Scalar &x) const
  {
    if constexpr (is_complex<Scalar>)
      return hermitian ? conjugate(x) : x;
    else
      return x;
  }
  /// An entry of the diagonal, which is its own mirror image.
  template <class Scalar>
  KOKKOS_INLINE_FUNCTION Scalar diagonal(const Scalar &x) const
  {
    if constexpr (is_complex<Scalar>)
      return hermitian ? Scalar(real_part(x)) : x;
    else
      return x;
  }
};

template <class T, class Space>
using Array = Kokkos::View<T *, typename Space::memory_space>;

template <class Space>
using Range = Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>;

/// An array without values.
template <class T, class Space>
Array<T, Space> make_array(const Space &space, const std::string &label, Index size)
{
  return Array<T, Space>(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, label), static_cast<std::size_t>(size));
}

/// Arrays side by side in one allocation: on a device one costs as much as a kernel. They live as long as `memory`.
template <class Space>
class Room {
public:
  /// What an array takes of it.
  template <class T>
  static Index bytes(Index size)
  {
    return (size * static_cast<Index>(sizeof(T)) + 255) / 256 * 256;
  }
  Room(const Space &space, const std::string &label, Index bytes) : memory(make_array<char>(space, label, bytes)) {}
  template <class T>
  Array<T, Space> take(Index size)
  {
    T *const begin = reinterpret_cast<T *>(memory.data() + used_);
    used_ += bytes<T>(size);
    return Array<T, Space>(begin, static_cast<std::size_t>(size));
  }

  const Array<char, Space> memory;

private:
  Index used_ = 0;
};

template <class T>
using HostPointer = Kokkos::View<T *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

template <class T, class Space>
Array<T, Space> to_space(const Space &space, const std::string &label, const std::vector<T> &values)
{
  const auto array = make_array<T>(space, label, static_cast<Index>(values.size()));
  Kokkos::deep_copy(space, array, HostPointer<const T>(values.data(), values.size()));
  space.fence("weft crout: copy from the host");
  return array;
}

/// Waits.
template <class T, class Space>
std::vector<T> to_vector(const Space &space, const Kokkos::View<T *, typename Space::memory_space> &array)
{
  std::vector<T> values(array.extent(0));
  Kokkos::deep_copy(space, HostPointer<T>(values.data(), values.size()), array);
  space.fence("weft crout: copy to the host");
  return values;
}

/// starts(i) holds the size of row i on entry, the number of entries before it on return; starts has a row more. Returns their sum. Waits.
template <class Space>
Index starts_of_sizes(const Space &space, const Array<Index, Space> &starts)
{
  const Index rows = static_cast<Index>(starts.extent(0)) - 1;
  Index total      = 0;
  Kokkos::parallel_scan(
      "weft starts of rows", Range<Space>(space, 0, rows + 1),
      KOKKOS_LAMBDA(const Index i, Index &sum, const bool final) {
        const Index size = i < rows ? starts(i) : 0;
        if (final) starts(i) = sum;
        sum += size;
      },
      total);
  space.fence("weft starts of rows");
  return total;
}

struct TwoSums {
  Index first = 0, second = 0;

  KOKKOS_INLINE_FUNCTION TwoSums &operator+=(const TwoSums &other)
  {
    first += other.first;
    second += other.second;
    return *this;
  }
};

/// The same for two arrays at once.
template <class Space>
TwoSums starts_of_sizes(const Space &space, const Array<Index, Space> &first, const Array<Index, Space> &second)
{
  const Index rows = static_cast<Index>(first.extent(0)) - 1;
  TwoSums total;
  Kokkos::parallel_scan(
      "weft starts of rows", Range<Space>(space, 0, rows + 1),
      KOKKOS_LAMBDA(const Index i, TwoSums &sum, const bool final) {
        const TwoSums size{i < rows ? first(i) : 0, i < rows ? second(i) : 0};
        if (final) {
          first(i)  = sum.first;
          second(i) = sum.second;
        }
        sum += size;
      },
      total);
  space.fence("weft starts of rows");
  return total;
}

struct Ascending {
  template <class Key>
  KOKKOS_INLINE_FUNCTION bool operator()(const Key &a, const Key &b) const
  {
    return a < b;
  }
};

/// Sorts keys[0 .. size): insertion where they are few, else a heap, which needs no memory and no luck.
template <class Key, class Before = Ascending>
KOKKOS_INLINE_FUNCTION void sort_keys(Key *keys, Index size, const Before &before = Before())
{
  if (size <= 24) {
    for (Index i = 1; i < size; i++) {
      const Key key = keys[i];
      Index k       = i;
      for (; k > 0 && before(key, keys[k - 1]); k--) keys[k] = keys[k - 1];
      keys[k] = key;
    }
    return;
  }
  const auto sink = [keys, &before](Index at, Index end) {
    const Key key = keys[at];
    for (Index child = 2 * at + 1; child < end; child = 2 * at + 1) {
      if (child + 1 < end && before(keys[child], keys[child + 1])) child++;
      if (!before(key, keys[child])) break;
      keys[at] = keys[child];
      at       = child;
    }
    keys[at] = key;
  };
  for (Index at = size / 2; at-- > 0;) sink(at, size);
  for (Index end = size; end-- > 1;) {
    const Key top = keys[0];
    keys[0]       = keys[end];
    keys[end]     = top;
    sink(0, end);
  }
}

/// Where `column` stands in columns[begin .. end), ascending; `end` if it does not.
template <class Columns>
KOKKOS_INLINE_FUNCTION Index find_column(const Columns &columns, Index begin, Index end, std::int32_t column)
{
  const Index last = end;
  while (begin < end) {
    const Index middle = begin + (end - begin) / 2;
    if (columns[middle] < column)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin < last && columns[begin] == column ? begin : last;
}

} // namespace weft::crout
