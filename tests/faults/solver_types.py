"""The types that faults are tried on, as a user picks them."""

TYPES = {
    "line": "-pc_type line",
    "adi": "-pc_type adi",
    "bcr": "-pc_type bcr",
    "boxmg": "-pc_type boxmg",
    "crout": "-pc_type crout",
    "ksp adi": "-ksp_type adi",
    "factors": "-pc_type lu -pc_factor_mat_solver_type crout",
}

# On several ranks the factors are those of a block a rank.
BLOCKS = "-pc_type bjacobi -sub_pc_type lu -sub_pc_factor_mat_solver_type crout"
