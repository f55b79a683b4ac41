/// Rows in the order of their dependencies, in one launch: a row waits in a loop for what it needs from other rows. Whatever it waits for
/// is handed out before it, so that it can wait without deadlock however few threads run at a time (Liu, Li, Hogg, Duff, Vinter, "A
/// synchronization-free algorithm for parallel sparse triangular solves", Euro-Par 2016; one word carries value and flag, as in Ginkgo).
#pragma once
#include <atomic>
#include <type_traits>

#include "crout/triangles/triangle.hpp"

namespace weft::triangular {

/// A word of 4 or 8 bytes that a row publishes and others wait for. It is neither torn, nor kept in a register or a stale cache line, and
/// nothing else is read by way of it: no fence is needed.
template <class Word>
KOKKOS_INLINE_FUNCTION Word look(const Word &word)
{
  static_assert(sizeof(Word) == 8 || sizeof(Word) == 4);
  KOKKOS_IF_ON_HOST((return std::atomic_ref<Word>(const_cast<Word &>(word)).load(std::memory_order_relaxed);))
  KOKKOS_IF_ON_DEVICE((return *const_cast<const volatile Word *>(&word);))
}
template <class Word>
KOKKOS_INLINE_FUNCTION void publish(Word &word, Word value)
{
  static_assert(sizeof(Word) == 8 || sizeof(Word) == 4);
  KOKKOS_IF_ON_HOST((std::atomic_ref<Word>(word).store(value, std::memory_order_relaxed);))
  KOKKOS_IF_ON_DEVICE((*const_cast<volatile Word *>(&word) = value;))
}

/// A complex value is two words; it is known when both are, and a reader may see one before the other.
template <class Real>
KOKKOS_INLINE_FUNCTION Complex<Real> look(const Complex<Real> &value)
{
  const auto *const parts = reinterpret_cast<const Real *>(&value);
  const Real re = look(parts[0]), im = look(parts[1]);
  return {re, im};
}
template <class Real>
KOKKOS_INLINE_FUNCTION void publish(Complex<Real> &word, const Complex<Real> &value)
{
  auto *const parts = reinterpret_cast<Real *>(&word);
  publish(parts[0], value.real());
  publish(parts[1], value.imag());
}

/// Reads a value that does not change right now, whatever a compiler thinks of it.
template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar look_now(const Scalar &value)
{
  if constexpr (is_complex<Scalar>) {
    const auto *const parts = reinterpret_cast<const RealOf<Scalar> *>(&value);
    return {look_now(parts[0]), look_now(parts[1])};
  } else {
    return *const_cast<const volatile Scalar *>(&value);
  }
}

template <class Scalar>
using Bits = std::conditional_t<sizeof(Scalar) == 4, std::uint32_t, std::uint64_t>;
/// Stands where no value has been published: a NaN that no arithmetic makes.
template <class Scalar>
inline constexpr Bits<Scalar> unfinished_bits = static_cast<Bits<Scalar>>(sizeof(Scalar) == 4 ? 0x7fddbeefu : 0x7ff8deadbeefbeefu);

template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar unfinished()
{
  using Real            = RealOf<Scalar>;
  const Bits<Real> bits = unfinished_bits<Real>; // device code has no address of the constant itself
  const Real word       = Kokkos::bit_cast<Real>(bits);
  if constexpr (is_complex<Scalar>)
    return {word, word};
  else
    return word;
}
template <class Scalar>
KOKKOS_INLINE_FUNCTION bool is_unfinished(Scalar value)
{
  if constexpr (is_complex<Scalar>)
    return is_unfinished(value.real()) || is_unfinished(value.imag());
  else
    return Kokkos::bit_cast<Bits<Scalar>>(value) == unfinished_bits<Scalar>;
}
/// The value itself, unless it is that very NaN, handed in by a caller.
template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar finished(Scalar value)
{
  if constexpr (is_complex<Scalar>) {
    return {finished(value.real()), finished(value.imag())};
  } else {
    const Bits<Scalar> other = unfinished_bits<Scalar> + 1;
    return is_unfinished(value) ? Kokkos::bit_cast<Scalar>(other) : value;
  }
}

/// `value`, of which a compiler that has seen it does not know what it is. Threads of a warp that leave a loop are joined by those that stay in it:
/// what stands in the last round only may be put behind the loop, where it is done when all have left. Others of the same warp that wait for it
/// would wait for ever, but for a `value` on which leaving the loop depends and which comes after it.
KOKKOS_INLINE_FUNCTION bool unseen(bool value)
{
#if defined(__HIP_DEVICE_COMPILE__)
  int hidden = value;
  asm volatile("" : "+v"(hidden));
  return hidden != 0;
#else
  return value; // CUDA lets each thread go on by itself
#endif
}

/// Hands out positions in ascending order: each team takes its number when it starts, not when it was launched.
template <class Space>
using Ticket = Kokkos::View<int, typename Space::memory_space>;

template <class Member, class Space>
KOKKOS_INLINE_FUNCTION Index take_number(const Member &team, const Ticket<Space> &ticket)
{
  int number = 0;
  Kokkos::single(
      Kokkos::PerTeam(team), [&](int &taken) { taken = Kokkos::atomic_fetch_add(&ticket(), 1); }, number);
  return number;
}

/// A thread a row. Threads of a warp may depend on each other: none stays in a loop of its own, and results are published inside the loop.
template <class Kernel, class Space>
struct InOrderByThread {
  Kernel kernel;
  Ticket<Space> ticket;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member &team) const
  {
    const Index position = take_number<Member, Space>(team, ticket) * team.team_size() + team.team_rank();
    const auto &t        = kernel.triangle;
    if (position >= t.rows) return;
    const Index i          = kernel.row(position);
    std::int64_t k         = t.starts[i];
    const std::int64_t end = t.starts[i + 1];
    auto sum               = kernel.start(i);
    for (bool done = false; !done;) {
      if (k < end) k += kernel.take(k, end, sum);
      if (k == end) {
        kernel.finish(i, sum);
        done = unseen(true);
      }
    }
  }
};

/// Runs kernel over its rows, a thread each. ticket must be 0.
template <class Space, class Kernel>
void in_order(const char *label, const Space &space, const Kernel &kernel, const Ticket<Space> &ticket)
{
  const Index rows = kernel.triangle.rows;
  if (rows == 0) return;
  const int team = rows_of_team<Space>(128, 1);
  Kokkos::parallel_for(label, Kokkos::TeamPolicy<Space>(space, static_cast<int>((rows + team - 1) / team), team),
                       InOrderByThread<Kernel, Space>{kernel, ticket});
}

} // namespace weft::triangular
