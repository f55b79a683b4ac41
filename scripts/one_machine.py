"""How scripts and tests start programs on this machine, on one rank or several. Other MPIs than Open MPI do not read its variables."""

import os

STARTS = dict(
    OMPI_ALLOW_RUN_AS_ROOT="1",
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
    OMPI_MCA_rmaps_base_oversubscribe="1",
    OMPI_MCA_mpi_yield_when_idle="1",  # more ranks than cores: those that wait let the others work
    OMPI_MCA_ess_singleton_isolated="1",  # one rank without mpiexec starts no daemon: it is faster, and there is none whose end may meet its MPI_Finalize
    OMPI_MCA_orte_allowed_exit_without_sync="1",  # as in tests/CMakeLists.txt
    HWLOC_HIDE_ERRORS="2",  # a chroot without /sys makes Open MPI's hwloc complain into every output
    OMP_WAIT_POLICY="passive",  # machines that test are often busy
)


def environment(without=(), **more):
    """The environment of this process without some of its variables, with what starts need, and more."""
    return {name: value for name, value in os.environ.items() if name not in without} | STARTS | more
