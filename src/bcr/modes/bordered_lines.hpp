/// BorderedLines: TensorLines in two directions for columns with a fast transform but for one or two (bordering.hpp has the formulas). The
/// lines of modes are solved twice: for what the columns left over see of them, which is not kept, and again once those are known.
#pragma once
#include "base/native.hpp"
#include "bcr/modes/tensor_lines.hpp"

namespace weft::poisson {

/// Columns left over as rows of a border: the last one alone, or the sum and the difference of the first and the last one.
template <class Scalar>
struct GatherBorder {
  int left_over;
  Index columns, pitch;
  const Scalar *grid;
  Scalar *border;

  KOKKOS_INLINE_FUNCTION void operator()(const Index row) const
  {
    const Scalar first = grid[row * columns], last = grid[row * columns + columns - 1];
    border[row] = left_over == 1 ? last : first + last;
    if (left_over == 2) border[pitch + row] = first - last;
  }
};

template <class Scalar>
struct ScatterBorder {
  int left_over;
  Index columns, pitch;
  const Scalar *border;
  Scalar *grid;

  KOKKOS_INLINE_FUNCTION void operator()(const Index row) const
  {
    const Scalar half = static_cast<Scalar>(0.5), sum = border[row], difference = left_over == 2 ? border[pitch + row] : Scalar(0);
    if (left_over == 2) grid[row * columns] = half * (sum + difference);
    grid[row * columns + columns - 1] = left_over == 1 ? sum : half * (sum - difference);
  }
};

/// Adds up `part` tiles of sums (ModeBorder), in the place of the first one, one after the other.
template <class Scalar>
struct AddTiles {
  ModeBorder<Scalar> border;
  Index rows, tiles, part;

  KOKKOS_INLINE_FUNCTION void operator()(const Index number) const
  {
    const Index rest = number / rows, i = number - rest * rows, first = rest / border.left_over * part, r = rest % border.left_over;
    const Index end    = first + part < tiles ? first + part : tiles;
    Scalar *const sums = border.sums + (first * border.left_over + r) * border.pitch + i;
    *sums              = sum_of(sums, border.left_over * border.pitch, end - first);
  }
};

/// Takes the sums of AddTiles from the right-hand sides of the border.
template <class Scalar>
struct TakeSums {
  ModeBorder<Scalar> border;
  Scalar *right_hand_sides;
  Index rows, tiles, part;

  KOKKOS_INLINE_FUNCTION void operator()(const Index number) const
  {
    const Index r = number / rows, i = number - r * rows;
    right_hand_sides[r * border.pitch + i] -=
        sum_of(border.sums + r * border.pitch + i, part * border.left_over * border.pitch, (tiles + part - 1) / part);
  }
};

template <class Space, class Scalar>
class BorderedLines {
public:
  using Values = OwnedArray<Scalar, Space>;

  /// What `prepare` makes for `facr` where its columns can be split so, and where that is faster.
  static bool fits(const Prepared &p)
  {
    if (!p.schedule.bordering || !TensorLines<Space, Scalar>::fits(p) || p.transforms()) return false;
    const Index columns = p.n[0], rows = p.n[p.line];
    const Bordering &b = *p.schedule.bordering;
    if (!ModeLines<Space, Scalar>::takes_border(rows)) return false;
    // Sums lie in the array of the solution.
    if (ModeLines<Space, Scalar>::tiles(pitch_of(columns)) * b.left_over * border_pitch(rows) > columns * rows) return false;
#if defined(WEFT_NATIVE_CUDA)
    if constexpr (std::is_same_v<Space, Kokkos::Cuda>)
      return columns >= least_columns_of_device && cuda::NativeTransform<Scalar>::takes_power(b.inner.to_modes.length);
#endif
    return true;
  }

  BorderedLines(const Space &space, const Prepared &p)
      : space_(space), columns_(p.n[0]), rows_(p.n[p.line]), pitch_(pitch_of(columns_)), tiles_(ModeLines<Space, Scalar>::tiles(pitch_)),
        to_modes_(space, p.schedule.bordering->inner.to_modes), from_modes_(space, p.schedule.bordering->inner.from_modes)
  {
    const Bordering &b = *p.schedule.bordering;
    // Mode q is result q of sines, counted from 1.
    ConstantModes modes;
    std::vector<double> into(static_cast<std::size_t>(pitch_), 0), out = into;
    for (Index q = 0; q < pitch_; q++) {
      const auto mode = static_cast<std::size_t>(q - 1);
      if (q == 0 || mode >= b.inner.values.size() || !add_mode(p.schedule.line, b.inner.values[mode], modes)) {
        modes.add_none();
        continue;
      }
      into[static_cast<std::size_t>(q)] = b.into[mode];
      out[static_cast<std::size_t>(q)]  = b.out[mode];
    }
    lines_ = ModeLines<Space, Scalar>(modes, rows_);
    lines_.make_scratch(space);
    into_             = upload<Scalar, Space>("weft border in", into);
    out_              = upload<Scalar, Space>("weft border out", out);
    work_             = Values("weft poisson modes", static_cast<std::size_t>(rows_ * pitch_));
    known_            = Values("weft border", static_cast<std::size_t>(b.left_over * border_pitch(rows_)));
    border_.left_over = b.left_over;
    border_.into      = into_.data();
    border_.out       = out_.data();
    border_.pitch     = border_pitch(rows_);
  }

  int left_over() const
  {
    return border_.left_over;
  }
  /// The rows of Bordering::step.
  RowArrays<Scalar> rows() const
  {
    const Grid grid{rows_, 1, border_.left_over, border_.pitch, 1, 0};
    return {grid, known_.data(), known_.data()};
  }
  std::size_t bytes() const
  {
    return (work_.size() + known_.size() + into_.size() + out_.size()) * sizeof(Scalar) + to_modes_.bytes() + from_modes_.bytes() +
           lines_.bytes();
  }

  /// solve_border() solves Bordering::step in rows(). rhs may be solution.
  template <class SolveBorder>
  void operator()(const Scalar *rhs, Scalar *solution, const SolveBorder &solve_border) const
  {
    using Range       = Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>;
    const Index first = border_.left_over - 1; // of the inner columns
    const LinesAt grid{1, rows_, columns_, 0}, modes{1, rows_, pitch_, 0};
    const Range along(space_, 0, rows_);
    Scalar *const mode_values = work_.data() + 1;
    Kokkos::parallel_for("weft gather border", along, GatherBorder<Scalar>{border_.left_over, columns_, border_.pitch, rhs, known_.data()});
    to_modes_(space_, rhs + first, grid, mode_values, modes, rows_);

    ModeBorder<Scalar> border = border_;
    border.sums               = solution;
    lines_(space_, work_.data(), pitch_, ModePass::sums, border);
    const Index parts = (tiles_ + part - 1) / part;
    Kokkos::parallel_for("weft border tiles", Range(space_, 0, parts * border.left_over * rows_),
                         AddTiles<Scalar>{border, rows_, tiles_, part});
    Kokkos::parallel_for("weft border sums", Range(space_, 0, border.left_over * rows_),
                         TakeSums<Scalar>{border, known_.data(), rows_, tiles_, part});
    solve_border();

    border.rows = known_.data();
    lines_(space_, work_.data(), pitch_, ModePass::with_border, border);
    from_modes_(space_, mode_values, modes, solution + first, grid, rows_);
    Kokkos::parallel_for("weft scatter border", along,
                         ScatterBorder<Scalar>{border_.left_over, columns_, border_.pitch, known_.data(), solution});
  }

private:
  static constexpr Index least_columns_of_device = 1000; ///< with fewer a chirp takes less time
  static constexpr Index part                    = 32;

  static Index pitch_of(Index columns)
  {
    constexpr Index aligned = 128 / sizeof(Scalar);
    return (columns + 1 + aligned - 1) / aligned * aligned;
  }
  /// Some numbers more than rows: tiles of a power of two would share lines of a host's cache.
  static Index border_pitch(Index rows)
  {
    return (rows + 7) / 4 * 4 + 4;
  }

  Space space_;
  Index columns_, rows_, pitch_, tiles_;
  FastTransform<Space, Scalar> to_modes_, from_modes_;
  ModeLines<Space, Scalar> lines_;
  Values work_, known_, into_, out_;
  ModeBorder<Scalar> border_;
};

} // namespace weft::poisson
