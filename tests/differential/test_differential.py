"""Some thousand random cases hold; `./weft check-faults --only differential` runs fifty thousand."""

import driver
import programs
import pytest


@programs.needs_petsc4py
def test_random_cases():
    failures, count, _ = driver.run(4000, 0, programs.LIBRARY, seconds=110)
    assert count >= 500
    assert not failures, "\n".join(str(failure) for failure in failures[:20])


@programs.needs_petsc4py
def test_blocks_that_are_refined_have_vectors_of_their_own_on_two_ranks():
    failures, count, _ = driver.run(1, 125405, programs.LIBRARY, ranks=(2,))
    assert count == 1
    assert not failures, str(failures[0])


def test_what_a_tool_says_is_of_the_case_before_it():
    said = "hwloc is disabled\ncase 3\ncase 4\n==1== Invalid read of size 1\n==1==    at 0x1: weft\n    #0 0x1 in weft\ncase 5\n"
    assert driver.reports(said, 3) == {4: "==1== Invalid read of size 1\n==1==    at 0x1: weft\n    #0 0x1 in weft"}
    assert driver.reports("==1== before the first case\n", 7) == {7: "==1== before the first case"}


@programs.needs_petsc4py
@pytest.mark.parametrize(
    "seed",
    [
        134108,  # factors of level 3 that are 1e9 times larger than the matrix: applications lost eight digits
        142624,
        105967,  # two sweeps that leave 1e13: GMRES from the left converged with a residual of 1.3
        124961,  # a saddle point with 1e-17 where zeros are, factored without rows exchanged, by Jacobi steps
        142121,  # approximate inverses, and a probe that had luck
        136982,  # Jacobi steps of triangles that want the exact solve
        144103,  # all fill that was taken on the way up, and lost eight digits
        127940,  # a singular ring: complete factors add any amount of the constants
        3162519,  # five sweeps that leave a pivot of rounding, which residuals and sizes do not show
    ],
)
def test_factors_that_are_far_from_the_matrix(seed):
    failures, count, _ = driver.run(1, seed, programs.LIBRARY, ranks=(1,))
    assert count == 1
    assert not failures, str(failures[0])


@programs.needs_petsc4py
@pytest.mark.parametrize("seed", [7676, 14096, 16664])  # boxmg, bcr: central differences of strong convection in single precision
def test_factors_that_grow_in_single_precision_are_refused(seed):
    failures, count, _ = driver.run(1, seed, programs.LIBRARY, ranks=(1,))
    assert count == 1
    assert not failures, str(failures[0])


@programs.needs_petsc4py
def test_lines_of_blocks_that_are_all_of_the_matrix_are_a_direct_solver():
    failures, count, _ = driver.run(1, 3104238, programs.LIBRARY, ranks=(1,))
    assert count == 1
    assert not failures, str(failures[0])


@programs.needs_petsc4py
@pytest.mark.parametrize(
    "seed, ranks",
    [
        (3237858, 4),  # boxmg with a negative shift: a cycle whose digits are half lost
        (3120508, 1),  # the same of two sweeps, graded coefficients and convection
        (3305382, 5),  # crout: what a row needs is in another rank's block
    ],
)
def test_what_amplifies_or_loses_digits_is_refused(seed, ranks):
    failures, count, _ = driver.run(1, seed, programs.LIBRARY, ranks=(ranks,))
    assert count == 1
    assert not failures, str(failures[0])
