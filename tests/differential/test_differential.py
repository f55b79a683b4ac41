"""Some thousand random cases hold; `./weft check-faults --only differential` runs fifty thousand."""

import driver
import programs


@programs.needs_petsc4py
def test_random_cases():
    failures, count, _ = driver.run(4000, 0, programs.LIBRARY, seconds=110)
    assert count >= 500
    assert not failures, "\n".join(str(failure) for failure in failures[:20])
