"""What PETSc and Kokkos call the device that a build is for: WEFT_DEVICE is cuda, where it is not set, or hip."""

import os

KIND = os.environ.get("WEFT_DEVICE", "cuda")
MATRIX = {"cuda": "aijcusparse", "hip": "aijhipsparse"}[KIND]
ON_DEVICE = {"cuda": "on the device (Cuda)", "hip": "on the device (HIP)"}[KIND]  # of -ksp_view
TYPES = {KIND: f"-dm_vec_type {KIND} -dm_mat_type {MATRIX}", "kokkos": "-dm_vec_type kokkos -dm_mat_type aijkokkos"}
