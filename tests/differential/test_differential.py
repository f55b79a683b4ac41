"""Some thousand random cases hold; `./weft check-faults --only differential` runs fifty thousand."""

import driver
import programs


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
