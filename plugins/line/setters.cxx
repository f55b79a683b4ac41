// Which lines PCLINE takes: setters and getters, each with its page and the function that programs call.
#include "petsc/setters.h"
#include "line/line_impl.h"

/*@
  PCLineSetSource - sets where a `PCLINE` takes its lines from

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- source - `PC_LINE_MAP`, `PC_LINE_GRID`, `PC_LINE_GRAPH`, `PC_LINE_ROWS` or `PC_LINE_SOURCE_AUTO`

  Options Database Key:
. -pc_line_source (map|grid|graph|rows|auto) - the source

  Level: intermediate

  Note:
  A map is a file (`PCLineSetFile()`) or an object composed with the matrix under the name "weft_lines": an `IS` or a `PetscSection`. The `IS`
  lists the rows of each line in order; a negative entry ends a line. If a line spans several ranks, exactly one rank lists all of its rows. In
  a `PetscSection`, each point is one line of consecutive local rows, with as many degrees of freedom as the line has rows. A grid is a `DMDA`.
  The graph is that of the matrix: lines follow its strongest couplings, with each row in at most one line. With rows, the rows of the matrix
  in their natural order are one line over all ranks, or a ring. auto uses a map if there is one, the rows if the matrix is one such
  tridiagonal system, otherwise a grid, and otherwise the graph.

.seealso: `PCLINE`, `PCLineGetSource()`, `PCLineSetFile()`, `PCLineSetDirection()`
@*/
PetscErrorCode PCLineSetSource(PC pc, PCLineSource source)
{
  PetscFunctionBegin;
  PetscCall(weft::CallSetter(pc, "PCLineSetSource_C", source));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineGetSource - gets where a `PCLINE` takes its lines from

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. source - `PC_LINE_MAP`, `PC_LINE_GRID`, `PC_LINE_GRAPH`, `PC_LINE_ROWS` or `PC_LINE_SOURCE_AUTO`

  Level: intermediate

.seealso: `PCLINE`, `PCLineSetSource()`
@*/
PetscErrorCode PCLineGetSource(PC pc, PCLineSource *source)
{
  PetscFunctionBegin;
  PetscCall(weft::CallGetter(pc, "PCLineGetSource_C", source));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace weft {

static PetscErrorCode PCLineSetFile_Line(PC pc, const char file[])
{
  PetscFunctionBegin;
  PetscCall(Choose(pc, &Data(pc)->file, std::string(file ? file : "")));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft

/*@C
  PCLineSetFile - names a file with the lines of a `PCLINE`

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner
- file - its name: a text file whose lines each list the row numbers of one line of the matrix; what follows a # is a comment

  Options Database Key:
. -pc_line_file <file> - the file

  Level: intermediate

  Note:
  Each rank takes the rows that it owns. Lines may go from rank to rank in any order; `PCLineSetRanks()` says what becomes of these. A row in no
  line becomes a line of one row. A map that is composed with the matrix takes precedence over the file.

.seealso: `PCLINE`, `PCLineGetFile()`, `PCLineSetSource()`
@*/
PetscErrorCode PCLineSetFile(PC pc, const char file[])
{
  PetscFunctionBegin;
  PetscCall(weft::CallSetter(pc, "PCLineSetFile_C", file));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PCLineGetFile - gets the name of the file with the lines of a `PCLINE`

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. file - its name; "" if there is none

  Level: intermediate

.seealso: `PCLINE`, `PCLineSetFile()`
@*/
PetscErrorCode PCLineGetFile(PC pc, const char *file[])
{
  PetscFunctionBegin;
  PetscCall(weft::CallGetter(pc, "PCLineGetFile_C", file));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineSetDirection - sets the directions of the lines of a `PCLINE` on a grid

  Logically Collective

  Input Parameters:
+ pc        - the preconditioner
- direction - `PC_LINE_X`, `PC_LINE_Y`, `PC_LINE_Z`, several of them (`PC_LINE_XY`, ...) in turn, or `PC_LINE_AUTO`

  Options Database Key:
. -pc_line_direction (x|y|z|xy|xz|yz|xyz|auto) - the directions

  Level: intermediate

  Note:
  auto chooses the directions along which at least one row in a hundred couples more than three times as strongly as along any other direction.
  If there is no such direction, it chooses the one with the strongest couplings.

.seealso: `PCLINE`, `PCLineGetDirection()`, `PCLineSetOrdering()`, `PCLineSetPlaneCycles()`
@*/
PetscErrorCode PCLineSetDirection(PC pc, PCLineDirection direction)
{
  PetscFunctionBegin;
  PetscCall(weft::CallSetter(pc, "PCLineSetDirection_C", direction));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineGetDirection - gets the directions of the lines of a `PCLINE` on a grid

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. direction - `PC_LINE_X`, ..., or `PC_LINE_AUTO`

  Level: intermediate

.seealso: `PCLINE`, `PCLineSetDirection()`
@*/
PetscErrorCode PCLineGetDirection(PC pc, PCLineDirection *direction)
{
  PetscFunctionBegin;
  PetscCall(weft::CallGetter(pc, "PCLineGetDirection_C", direction));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineSetRanks - sets what a `PCLINE` does with lines that cross ranks

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- ranks - `PC_LINE_EXACT` to solve them on all of these ranks together, `PC_LINE_CUT` to end them at process boundaries

  Options Database Key:
. -pc_line_ranks (exact|cut) - the choice

  Level: intermediate

  Note:
  User-supplied lines and lines of the matrix's graph are always cut in single precision, and so are lines of blocks of the graph. `-ksp_view`
  says how many lines cross ranks or are cut.

.seealso: `PCLINE`, `PCLineGetRanks()`, `PCLineSetSource()`
@*/
PetscErrorCode PCLineSetRanks(PC pc, PCLineRanks ranks)
{
  PetscFunctionBegin;
  PetscCall(weft::CallSetter(pc, "PCLineSetRanks_C", ranks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineGetRanks - gets what a `PCLINE` does with lines that cross ranks

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. ranks - `PC_LINE_EXACT` or `PC_LINE_CUT`

  Level: intermediate

.seealso: `PCLINE`, `PCLineSetRanks()`
@*/
PetscErrorCode PCLineGetRanks(PC pc, PCLineRanks *ranks)
{
  PetscFunctionBegin;
  PetscCall(weft::CallGetter(pc, "PCLineGetRanks_C", ranks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineSetComponents - sets whether a `PCLINE` solves for the unknowns of a node together

  Logically Collective

  Input Parameters:
+ pc         - the preconditioner
- components - `PC_LINE_TOGETHER` for lines of blocks, `PC_LINE_APART` for lines of their own, or `PC_LINE_COMPONENTS_AUTO` for together if
               the matrix couples them

  Options Database Key:
. -pc_line_components (together|apart|auto) - the choice

  Level: intermediate

.seealso: `PCLINE`, `PCLineGetComponents()`, `PCLineSetDirection()`
@*/
PetscErrorCode PCLineSetComponents(PC pc, PCLineComponents components)
{
  PetscFunctionBegin;
  PetscCall(weft::CallSetter(pc, "PCLineSetComponents_C", components));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineGetComponents - gets whether a `PCLINE` solves for the unknowns of a node together

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. components - `PC_LINE_TOGETHER`, `PC_LINE_APART` or `PC_LINE_COMPONENTS_AUTO`

  Level: intermediate

.seealso: `PCLINE`, `PCLineSetComponents()`
@*/
PetscErrorCode PCLineGetComponents(PC pc, PCLineComponents *components)
{
  PetscFunctionBegin;
  PetscCall(weft::CallGetter(pc, "PCLineGetComponents_C", components));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace weft {

static PetscErrorCode PCLineSetFindAgain_Line(PC pc, PetscReal share)
{
  PetscFunctionBegin;
  PetscCheck(share >= 0 && !PetscIsInfOrNanReal(share), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_line_find_again %g: a share from 0 (never) to 1, or more than 1 for each set-up", (double)share);
  Data(pc)->find_again = share;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft

/*@
  PCLineSetFindAgain - sets when a `PCLINE` looks again for lines of the matrix's graph, once its values are others

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- share - the share of what lines carried when they were found, below which they are given up; 0 for never, more than 1 for each set-up

  Options Database Key:
. -pc_line_find_again <0.95> - the share

  Level: intermediate

  Note:
  What lines carry is the couplings of a row along its line, as a share of its two strongest couplings, averaged over the rows. `-ksp_view`
  says which set-up found the lines, and what they carried then.

.seealso: `PCLINE`, `PCLineGetFindAgain()`, `PCLineSetSource()`
@*/
PetscErrorCode PCLineSetFindAgain(PC pc, PetscReal share)
{
  PetscFunctionBegin;
  PetscCall(weft::CallSetter(pc, "PCLineSetFindAgain_C", share));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCLineGetFindAgain - gets when a `PCLINE` looks again for lines of the matrix's graph

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. share - the share of what lines carried when they were found, below which they are given up

  Level: intermediate

.seealso: `PCLINE`, `PCLineSetFindAgain()`
@*/
PetscErrorCode PCLineGetFindAgain(PC pc, PetscReal *share)
{
  PetscFunctionBegin;
  PetscCall(weft::CallGetter(pc, "PCLineGetFindAgain_C", share));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace weft {

PetscErrorCode PCLineComposeSetters(PC pc, bool compose)
{
  static const Composed functions[] = {
      composed("PCLineSetSource_C", SetChoice<"PCLine", "Source", PC_LINE_SOURCE_AUTO, &PC_Line::source>),
      composed("PCLineGetSource_C", GetMember<PCLineSource, &PC_Line::source>),
      composed("PCLineSetFile_C", PCLineSetFile_Line),
      composed("PCLineGetFile_C", GetMember<const char *, &PC_Line::file>),
      composed("PCLineSetDirection_C", SetChoice<"PCLine", "Direction", PC_LINE_AUTO, &PC_Line::direction>),
      composed("PCLineGetDirection_C", GetMember<PCLineDirection, &PC_Line::direction>),
      composed("PCLineSetRanks_C", SetChoice<"PCLine", "Ranks", PC_LINE_CUT, &PC_Line::ranks>),
      composed("PCLineGetRanks_C", GetMember<PCLineRanks, &PC_Line::ranks>),
      composed("PCLineSetComponents_C", SetChoice<"PCLine", "Components", PC_LINE_COMPONENTS_AUTO, &PC_Line::components>),
      composed("PCLineGetComponents_C", GetMember<PCLineComponents, &PC_Line::components>),
      composed("PCLineSetFindAgain_C", PCLineSetFindAgain_Line),
      composed("PCLineGetFindAgain_C", GetMember<PetscReal, &PC_Line::find_again>),
  };

  PetscFunctionBegin;
  PetscCall(Compose((PetscObject)pc, functions, compose));
  PetscCall(PCLineComposeSweepSetters(pc, compose));
  PetscCall(PCLineComposeKernelSetters(pc, compose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
