// PCBOXMG's set-up: from the matrix and its DMDA to a multigrid on the rank that cycles for all.
#include <petscdmda.h>

#include <stdexcept>

#include "base/csr_copy.hpp"
#include "boxmg/boxmg_impl.h"
#include "line/blocks/block_lines.hpp"
#include "petsc/direct_check.h"
#include "petsc/kokkos_start.h"
#include "petsc/report_failure.h"

namespace weft {

namespace {

// ------------------------------------------------------------------------------------------------------------------- what it takes

// An error where the PC or the matrix has a DMDA, of another size than the matrix.
PetscErrorCode RefuseOtherSizes(PC pc)
{
  DM dms[2];
  PetscInt rows, n[3], unknowns;
  PetscBool is_da;

  PetscFunctionBegin;
  PetscCall(PCGetDM(pc, &dms[0]));
  PetscCall(MatGetDM(pc->pmat, &dms[1]));
  PetscCall(MatGetSize(pc->pmat, &rows, NULL));
  for (DM dm : dms) {
    if (!dm) continue;
    PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &is_da));
    if (!is_da) continue;
    PetscCall(DMDAGetInfo(dm, NULL, &n[0], &n[1], &n[2], NULL, NULL, NULL, &unknowns, NULL, NULL, NULL, NULL, NULL));
    SETERRQ(PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
            "PCBOXMG: the DMDA does not fit the matrix: it has %" PetscInt_FMT " unknowns and the matrix %" PetscInt_FMT
            " rows, or the ranks have other parts of both: make the matrix with DMCreateMatrix",
            n[0] * n[1] * n[2] * unknowns, rows);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What is for one unknown a node only.
PetscErrorCode CheckSeveralUnknowns(PC pc)
{
  const PC_Boxmg *bm = Boxmg(pc);

  PetscFunctionBegin;
  PetscCheck(!complex_built, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "PCBOXMG takes one unknown a node where scalars are complex: take it for each field alone (-pc_type fieldsplit "
             "-fieldsplit_pc_type boxmg with a DMDA for each block), or -pc_type crout");
  PetscCheck(bm->smoother != PC_BOXMG_PLANES, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_boxmg_smoother planes is for one unknown a node: take alternating, whose lines are of all unknowns");
  PetscCheck(bm->precision != PC_BOXMG_SINGLE, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_boxmg_precision single is for one unknown a node: take double");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CheckGrid(PC pc, const Grid &grid)
{
  PetscFunctionBegin;
  if (grid.dimension == 0) PetscCall(RefuseOtherSizes(pc));
  PetscCheck(grid.dimension > 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "PCBOXMG needs a grid and none is known for this matrix: give the KSP or the PC a DMDA (KSPSetDM, PCSetDM) of the matrix's "
             "size, or make the matrix with DMCreateMatrix; without a grid take -pc_type crout, or PETSc's gamg with "
             "-mg_levels_pc_type line, which finds lines in the matrix");
  PetscCheck(grid.components <= BlockLines::largest_block, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "PCBOXMG takes at most %d unknowns a node and this DMDA has %d: take it for each field alone (-pc_type fieldsplit "
             "-fieldsplit_pc_type boxmg with a DMDA for each block), or -pc_type crout",
             BlockLines::largest_block, (int)grid.components);
  if (grid.components > 1) PetscCall(CheckSeveralUnknowns(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

boxmg::Grid GridOf(const Grid &grid)
{
  boxmg::Grid box;
  for (int d = 0; d < 3; d++) {
    box.n[d]        = grid.global[d];
    box.periodic[d] = grid.periodic[d];
  }
  return box;
}

// The bits of `coarsen` that the grid has nodes for; of all but PC_BOXMG_ALL it must have each.
PetscErrorCode Coarsened(PC pc, const boxmg::Grid &grid, boxmg::Directions *directions)
{
  const PC_Boxmg *bm = Boxmg(pc);

  PetscFunctionBegin;
  *directions = 0;
  for (int d = 0; d < 3; d++) {
    if (!boxmg::has(static_cast<boxmg::Directions>(bm->coarsen), d)) continue;
    PetscCheck(grid.n[d] > 1 || bm->coarsen == PC_BOXMG_ALL, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
               "-pc_boxmg_coarsen %s: this grid, %s, has one node along %c", boxmg_coarsens[bm->coarsen], BoxmgSizes(grid).c_str(),
               "xyz"[d]);
    if (grid.n[d] > 1) *directions |= 1u << d;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OptionsOf(PC pc, const boxmg::Grid &grid, BoxmgOptions *options)
{
  const PC_Boxmg *bm = Boxmg(pc);

  PetscFunctionBegin;
  const PetscInt inverted = static_cast<PetscInt>(BoxmgOptions::most_inverted / bm->grid.components);
  PetscCheck(bm->coarse != PC_BOXMG_COARSE_DIRECT || bm->coarsest <= inverted, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
             "-pc_boxmg_coarsest %" PetscInt_FMT ": the inverse of at most %" PetscInt_FMT
             " nodes is made; take -pc_boxmg_coarse lines with more",
             bm->coarsest, inverted);
  for (int d = 0; d < 3; d++)
    PetscCheck(
        bm->smoother != PC_BOXMG_PLANES || grid.n[d] > 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
        "-pc_boxmg_smoother planes: this grid, %s, has one node along %c: take alternating, whose lines along each direction in turn do "
        "in a plane what planes do in space",
        BoxmgSizes(grid).c_str(), "xyz"[d]);
  options->unknowns         = static_cast<int>(bm->grid.components);
  options->levels           = static_cast<int>(bm->levels);
  options->cycle            = static_cast<BoxmgCycle>(bm->cycle);
  options->smoother         = static_cast<BoxmgSmoother>(bm->smoother);
  options->interpolation    = static_cast<BoxmgInterpolation>(bm->interpolation);
  options->sweeps           = static_cast<int>(bm->sweeps);
  options->coarsest         = static_cast<BoxmgCoarsest>(bm->coarse);
  options->single_precision = bm->precision == PC_BOXMG_SINGLE;
  PetscCall(Coarsened(pc, grid, &options->coarsen));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ----------------------------------------------------------------------------------------------------------------- what it makes

// A row that couples too far is an error of the kernel's.
template <class Read>
void WithAdvice(const Read &read)
{
  try {
    read();
  } catch (const std::invalid_argument &error) {
    throw std::invalid_argument(std::string("PCBOXMG: ") + error.what() +
                                ": give KSPSetOperators() a matrix of neighbours as its second one, or take -pc_type mg with "
                                "-mg_levels_pc_type line, or -pc_type crout");
  }
}

PetscErrorCode MakeMultigrid(PC pc, Memory memory)
{
  PC_Boxmg *bm   = Boxmg(pc);
  const int here = static_cast<int>(memory);
  BoxmgOptions options;

  PetscFunctionBegin;
  bm->forget(here);
  const boxmg::Grid grid = GridOf(bm->grid);
  PetscCall(OptionsOf(pc, grid, &options));
  const Memory inverts = bm->coarse == PC_BOXMG_COARSE_DIRECT ? memory : Memory::host;
  if (!bm->any()) bm->usual = static_cast<PetscInt>(BoxmgOptions::usual_coarsest(inverts, options.unknowns));
  options.coarsest_nodes = bm->ends();
  PetscCall(MakeExecution(memory, &bm->execution[here]));
  PetscCallCXX(bm->multigrid[here] = std::make_unique<Multigrid>(*bm->execution[here], grid, options, bm->ranks ? &bm->shared : nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Whether the multigrid that works in `memory` is on PETSc's current stream.
PetscErrorCode Serves(PC pc, Memory memory, bool *serves)
{
  const PC_Boxmg *bm = Boxmg(pc);
  const int here     = static_cast<int>(memory);
  void *stream;

  PetscFunctionBegin;
  *serves = bm->multigrid[here] != nullptr;
  if (*serves && memory == Memory::device) {
    PetscCall(CurrentStream(&stream));
    *serves = stream == bm->execution[here]->stream();
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A matrix of one rank in the grid's natural order: of a parallel type, too.
PetscErrorCode ReadMatrix(PC pc, Mat A, bool same)
{
  PC_Boxmg *bm = Boxmg(pc);
  LocalMatrix local;
  PetscBool known, symmetric;
  std::optional<bool> told;
  bool serves;

  PetscFunctionBegin;
  PetscCall(MatGetLocal(A, &local));
  const Memory memory = local.memory;
  PetscCall(MatIsSymmetricKnown(pc->pmat, &known, &symmetric));
  if (known) told = symmetric == PETSC_TRUE;
  bm->forget(1 - static_cast<int>(memory)); // it follows when vectors ask for it
  PetscCall(Serves(pc, memory, &serves));
  if (!same || !serves) PetscCall(MakeMultigrid(pc, memory));
  PetscCallCXX(WithAdvice([&] { bm->multigrid[static_cast<int>(memory)]->read(local.inside, told); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The rows of each rank, of levels that they share.
PetscErrorCode ReadShared(PC pc, bool same)
{
  PC_Boxmg *bm = Boxmg(pc);
  LocalMatrix local;
  PetscBool known, symmetric;
  std::vector<Index> nodes;
  std::optional<bool> told;
  bool serves;

  PetscFunctionBegin;
  PetscCall(MatGetLocal(pc->pmat, &local, &bm->outside));
  PetscCall(NodesOfColumns(pc, local, &nodes));
  PetscCall(MatIsSymmetricKnown(pc->pmat, &known, &symmetric));
  if (known) told = symmetric == PETSC_TRUE;
  bm->forget(1 - static_cast<int>(local.memory));
  PetscCall(Serves(pc, local.memory, &serves));
  // After an error ranks may have come to different places.
  if (!same || !serves || !bm->read_by_all) PetscCall(MakeMultigrid(pc, local.memory));
  bm->read_by_all = false;
  const boxmg::RowsOfPart<KernelScalar, PetscInt> rows{local.inside, local.outside, nodes};
  PetscCall(CallTogether(PetscObjectComm((PetscObject)pc),
                         [&] { WithAdvice([&] { bm->multigrid[static_cast<int>(local.memory)]->read(rows, told); }); }));
  bm->read_by_all = true;
  if (!bm->multigrid[static_cast<int>(local.memory)]->is_for_one_rank()) PetscFunctionReturn(PETSC_SUCCESS);
  bm->forget(static_cast<int>(local.memory));
  bm->ranks.reset();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// -------------------------------------------------------------------------------------------------------------------------- faults

std::string Place(const boxmg::Grid &grid, Index node)
{
  Index at[3];
  std::string text;
  grid.position(node, at);
  for (int d = 0; d < 3; d++) {
    if (d == 0 || grid.n[d] > 1) text += (d > 0 ? ", " : "") + std::to_string(at[d]);
  }
  return "node (" + text + ")";
}

std::string Sentence(const Multigrid &multigrid, const BoxmgFault &fault, bool several_unknowns)
{
  const std::vector<BoxmgLevel> levels = multigrid.levels();
  const bool shown                     = fault.level >= 0 && fault.level < static_cast<int>(levels.size());
  const std::string unknown =
      several_unknowns && fault.kind != BoxmgFault::Kind::line_pivot ? ", unknown " + std::to_string(fault.unknown) : "";
  const std::string at    = shown ? " at " + Place(levels[static_cast<std::size_t>(fault.level)].grid, fault.node) + unknown : "";
  const std::string level = fault.level > 0 ? " of level " + std::to_string(fault.level) : "";
  switch (fault.kind) {
  case BoxmgFault::Kind::not_finite:
    return "an entry" + at + level + " is not finite";
  case BoxmgFault::Kind::zero_diagonal:
    return "the diagonal" + at + level + " is zero: take -pc_type crout";
  case BoxmgFault::Kind::indefinite:
    return "the operator" + level + " is indefinite: its diagonal" + at +
           " has the other sign, as in Helmholtz problems: take -pc_type crout, or gmres with -pc_type bcr for a matrix with a shift that "
           "is "
           "given to KSPSetOperators() as its second one";
  case BoxmgFault::Kind::coarsest_pivots:
    return "the coarsest grid has no inverse by pivots of its diagonal" + at +
           ", as where unknowns couple to each other as strongly as to themselves: take -pc_type crout, or -pc_boxmg_coarse lines";
  case BoxmgFault::Kind::line_pivot:
    break;
  }
  return "a line" + level + " has no factors" + at + ": take -pc_boxmg_smoother alternating or points";
}

PCFailedReason ReasonOf(BoxmgFault::Kind kind)
{
  return kind == BoxmgFault::Kind::indefinite ? PC_FACTOR_OTHER : PC_FACTOR_NUMERIC_ZEROPIVOT;
}

// There is no preconditioner, for this reason, or, with PC_NOERROR, there is one. The same on all ranks.
PetscErrorCode SetFailure(PC pc, PCFailedReason reason, const std::string &why)
{
  PetscFunctionBegin;
  PetscCallCXX(Boxmg(pc)->failure = why);
  PetscCall(ReportFailure(pc, reason, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Rows that a finest grid solved directly leaves out, if they are more than the null space has vectors: what stays of a right-hand side there, the norm
// of a preconditioned residual does not see. Coarser grids leave them to the sweeps.
PetscErrorCode RowsLeftOut(PC pc, PetscInt *left_out)
{
  PetscInt most = 0;

  PetscFunctionBegin;
  PetscCallCXX(*left_out = static_cast<PetscInt>(Boxmg(pc)->any()->rows_left_out()));
  for (Mat A : {pc->mat, pc->pmat}) {
    MatNullSpace space;
    PetscBool constants;
    PetscInt others;

    PetscCall(MatGetNullSpace(A, &space));
    if (!space) continue;
    PetscCall(MatNullSpaceGetVecs(space, &constants, &others, NULL));
    most = PetscMax(most, others + (constants ? 1 : 0));
  }
  if (*left_out <= most) *left_out = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What the rank that has read the matrix has met, for all. Collective.
PetscErrorCode ReportFault(PC pc)
{
  PC_Boxmg *bm   = Boxmg(pc);
  bm->left_out   = 0;
  char text[512] = "";
  int told[2]    = {PC_NOERROR, 0}; // the reason; whether a cycle need not be tried

  PetscFunctionBegin;
  if (bm->any()) {
    std::optional<BoxmgFault> fault;
    std::string sentence;
    PetscCallCXX(fault = bm->any()->fault());
    if (fault) {
      PetscCallCXX(sentence = Sentence(*bm->any(), *fault, bm->grid.components > 1));
      PetscCall(PetscStrncpy(text, sentence.c_str(), sizeof(text)));
      told[0] = ReasonOf(fault->kind);
    } else {
      PetscCall(RowsLeftOut(pc, &bm->left_out));
    }
    told[1] = bm->any()->dominant() && bm->any()->symmetric();
  }
  PetscCall(RanksAgree(PetscObjectComm((PetscObject)pc)));
  PetscCallMPI(MPI_Bcast(told, 2, MPI_INT, 0, PetscObjectComm((PetscObject)pc)));
  PetscCallMPI(MPI_Bcast(text, sizeof(text), MPI_CHAR, 0, PetscObjectComm((PetscObject)pc)));
  PetscCallMPI(MPI_Bcast(&bm->left_out, 1, MPIU_INT, 0, PetscObjectComm((PetscObject)pc)));
  bm->tried = !told[1];
  PetscCall(SetFailure(pc, static_cast<PCFailedReason>(told[0]), text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A line or a coarse operator that is nearly singular where the matrix is not makes a cycle of any size, whose preconditioned residuals hide
// what is left of the matrix's. One cycle shows it, with the null space taken out as a KSP does. Where a matrix is symmetric and each diagonal is at least
// the sum of the magnitudes beside it, neither is, and none is tried; restrictions of a matrix that is not have weights of any size. Lines whose factors
// grow lose digits, all of them in single precision, which one cycle does not show: two are compared.
PetscErrorCode CheckCycle(PC pc)
{
  PC_Boxmg *bm                = Boxmg(pc);
  const bool single           = bm->precision == PC_BOXMG_SINGLE;
  const PetscReal most_differ = single ? DirectCheck::most_rounded : OfPrecision(1e-8, DirectCheck::most_rounded); // half of the digits

  PetscFunctionBegin;
  bm->amplified = bm->rounded = 0;
  PetscReal backward          = 0;
  if (!bm->failure.empty() || !bm->tried) PetscFunctionReturn(PETSC_SUCCESS);
  const auto cycle = [pc](Vec b, Vec x, Transpose) -> PetscErrorCode {
    MatNullSpace space;

    PetscFunctionBegin;
    PetscCall(PCApply_Boxmg(pc, b, x));
    PetscCall(MatGetNullSpace(pc->pmat, &space));
    if (space) PetscCall(MatNullSpaceRemove(space, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  const PetscBool monitor = bm->monitor;
  bm->monitor             = PETSC_FALSE; // tells of what users ask for
  PetscCall(DirectCheck::MeasureAmplification(pc->pmat, bm->outside, cycle, DirectCheck::most_amplified, &bm->amplified, &backward,
                                              &bm->rounded));
  bm->monitor     = monitor;
  const bool tame = bm->amplified <= DirectCheck::most_amplified; // NaN is not
  if (tame && bm->rounded <= most_differ) PetscFunctionReturn(PETSC_SUCCESS);
  if (tame) {
    PetscCall(SetFailure(pc, PC_FACTOR_OTHER,
                         "two cycles of the same right-hand side differ by " + ShownNumber(bm->rounded) +
                             ": the factors of a line grow, as with a negative shift or central differences of strong convection: take " +
                             (single ? "-pc_boxmg_precision double" : "-pc_type crout") + ", or upwind differences"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(
      SetFailure(pc, PC_FACTOR_OTHER,
                 "a cycle leaves " + ShownNumber(bm->amplified) +
                     " times a random right-hand side: a line or a coarse operator is nearly singular, as with a negative shift or "
                     "central differences of strong convection: take -pc_type crout, or upwind differences, or -pc_boxmg_coarse direct "
                     "where that is lines"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---------------------------------------------------------------------------------------------------------------- in their order

// What one rank has for all.
PetscErrorCode ForgetWhole(PC_Boxmg *bm)
{
  PetscFunctionBegin;
  if (bm->whole_matrix) PetscCall(MatDestroySubMatrices(1, &bm->whole_matrix));
  PetscCall(bm->whole.Destroy());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The matrix on the rank that reads it, in the grid's natural order; none on others. `same_pattern`: as the one that was brought before.
PetscErrorCode WholeMatrix(PC pc, bool same_pattern, Mat *matrix)
{
  PC_Boxmg *bm = Boxmg(pc);

  PetscFunctionBegin;
  if (!same_pattern) PetscCall(ForgetWhole(bm));
  PetscCall(bm->whole.Make(bm->grid, pc->pmat));
  *matrix = pc->pmat;
  if (bm->whole.gathers()) {
    PetscCall(bm->whole.BringMatrix(pc->pmat, &bm->whole_matrix));
    *matrix = bm->whole.here() ? bm->whole_matrix[0] : NULL;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCSetUp_Boxmg(PC pc)
{
  PC_Boxmg *bm = Boxmg(pc);
  Grid grid;
  Mat matrix = NULL;
  bool new_ranks;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(boxmg_setup_event, pc, 0, 0, 0));
  bm->failure.clear();
  PetscCall(MatCheckAij(pc->pmat, "PCBOXMG"));
  PetscCall(KokkosStart());
  PetscCall(GridFromPC(pc, &grid));
  PetscCall(CheckGrid(pc, grid));
  const bool same = pc->setupcalled && grid.dm == bm->grid.dm;
  bm->grid        = grid;
  PetscCall(ShareLevels(pc, &new_ranks));
  if (bm->ranks) PetscCall(ReadShared(pc, same));
  if (bm->ranks) PetscCall(ForgetWhole(bm)); // nothing is gathered any more
  if (!bm->ranks) {
    PetscCall(WholeMatrix(pc, same && pc->flag == SAME_NONZERO_PATTERN, &matrix));
    if (matrix) PetscCall(ReadMatrix(pc, matrix, same));
  }
  PetscCall(bm->set_up_of.read(pc));
  PetscCall(ReportFault(pc));
  PetscCall(CheckCycle(pc));
  if (bm->failure.empty()) PetscCall(PCBoxmgTellOptions(pc, NULL));
  PetscCall(PetscLogEventEnd(boxmg_setup_event, pc, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EnsureMultigrid(PC pc, Memory memory)
{
  PC_Boxmg *bm = Boxmg(pc);
  bool serves;

  PetscFunctionBegin;
  PetscCall(Serves(pc, memory, &serves));
  if (serves) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(!bm->ranks, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "PCBOXMG on several ranks cycles on the stream of its set-up, and PETSc's current one is another: make that current again, or "
             "set up anew");
  // From the values that set-up has seen, which the matrix may no longer have.
  Multigrid::Csr finest;
  CsrMatrix<KernelScalar, Index> csr;
  std::unique_ptr<CsrCopy<KernelScalar, Index>> copy;
  PetscCheck(bm->any(), PETSC_COMM_SELF, PETSC_ERR_ORDER, "PCBOXMG has lost its levels in an error: set it up anew (PCReset)");
  PetscCallCXX(finest = bm->any()->operator_of(0));
  const bool symmetric = bm->any()->symmetric();
  PetscCall(MakeMultigrid(pc, memory));
  csr.row_starts = finest.row_starts.data();
  csr.columns    = finest.column.data();
  csr.values     = finest.values.data();
  const int here = static_cast<int>(memory);
  if (memory == Memory::device) {
    PetscCallCXX(copy = std::make_unique<CsrCopy<KernelScalar, Index>>(*bm->execution[here], finest.rows, csr));
    csr = copy->matrix();
  }
  const auto read = [&] {
    try {
      bm->multigrid[here]->read(csr, symmetric);
      if (bm->multigrid[here]->fault())
        throw std::runtime_error(
            "PCBOXMG has no levels in the memory of these vectors, though it has in the matrix's: give both the same type");
    } catch (...) {
      bm->forget(here);
      throw;
    }
  };
  PetscCallCXX(read());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCReset_Boxmg(PC pc)
{
  PC_Boxmg *bm = Boxmg(pc);

  PetscFunctionBegin;
  for (int which : {0, 1}) bm->forget(which);
  bm->shared  = {};
  bm->outside = {};
  bm->ranks.reset();
  for (Vec &vec : bm->staged) PetscCall(VecDestroy(&vec));
  PetscCall(VecDestroy(&bm->correction));
  if (bm->whole_matrix) PetscCall(MatDestroySubMatrices(1, &bm->whole_matrix));
  PetscCall(bm->whole.Destroy());
  bm->grid = {};
  bm->failure.clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
