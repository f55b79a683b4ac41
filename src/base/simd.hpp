/// Wider vectors where the processor has them, in a library that runs on any of its kind.
#pragma once

// A compiler that targets AVX2 anyway needs no second version; other architectures have one width.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__AVX2__)
#define WEFT_TWO_WIDTHS 1
#else
#define WEFT_TWO_WIDTHS 0
#endif

namespace weft {

#if defined(__x86_64__) && defined(__GNUC__)
inline bool has_avx2()
{
  return __builtin_cpu_supports("avx2");
}
#endif

#if WEFT_TWO_WIDTHS
/// body() with all that it calls compiled once more. Without fused multiply-adds, so that results are the same on every processor.
template <class Body>
[[gnu::target("avx2"), gnu::flatten]] void with_avx2(const Body &body)
{
  body();
}
#endif

/// Calls body(), compiled for the widest vectors of the processor that it runs on. What it calls must be inlined to gain from that; a
/// function that is called rarely is better marked [[gnu::noinline]].
template <class Body>
void with_widest_vectors(const Body &body)
{
#if WEFT_TWO_WIDTHS
  if (has_avx2()) return with_avx2(body);
#endif
  body();
}

/// Asks for what will be read, or written, soon: what is far apart in memory is not guessed by the processor.
inline void fetch_early(const void *at)
{
#if defined(__GNUC__)
  __builtin_prefetch(at, 0);
#endif
}
inline void fetch_early_to_write(const void *at)
{
#if defined(__GNUC__)
  __builtin_prefetch(at, 1);
#endif
}

#if defined(__x86_64__) && defined(__GNUC__) && defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
// Vectors of a compiler's own are broken up for the target of the function they stand in, before that is inlined: each function that has
// some is marked.
#define WEFT_HAS_FOUR 1
#define WEFT_AVX2 [[gnu::target("avx2")]]

/// Four words that are worked on at once, wherever they lie.
template <class Scalar>
struct FourOf {
  typedef Scalar Vector __attribute__((vector_size(4 * sizeof(Scalar)), aligned(sizeof(Scalar)), may_alias));
};
template <class Scalar>
using Four = typename FourOf<Scalar>::Vector;

/// The first `some` of four words.
template <class Scalar>
WEFT_AVX2 inline Four<Scalar> load_four(const Scalar *from, int some)
{
  if (some == 4) return *reinterpret_cast<const Four<Scalar> *>(from);
  Four<Scalar> four = {};
  for (int k = 0; k < some; k++) four[k] = from[k];
  return four;
}
template <class Scalar>
WEFT_AVX2 inline void store_four(Scalar *to, int some, const Four<Scalar> &four)
{
  if (some == 4) *reinterpret_cast<Four<Scalar> *>(to) = four;
  for (int k = 0; some < 4 && k < some; k++) to[k] = four[k];
}
/// Rows become columns.
template <class Scalar>
WEFT_AVX2 inline void transpose_four(Four<Scalar> (&t)[4])
{
  using V   = Four<Scalar>;
  const V a = __builtin_shufflevector(t[0], t[1], 0, 4, 2, 6), b = __builtin_shufflevector(t[0], t[1], 1, 5, 3, 7);
  const V c = __builtin_shufflevector(t[2], t[3], 0, 4, 2, 6), d = __builtin_shufflevector(t[2], t[3], 1, 5, 3, 7);
  t[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
  t[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  t[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  t[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}
#endif
#endif

} // namespace weft
