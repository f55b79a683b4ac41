#!/usr/bin/env python3
"""Ten complex matrices of known kinds as Matrix Market files.

    python3 scripts/complex_matrices.py FOLDER

Writes FOLDER/NAME.mtx, the same in every run. docs/results/complex-matrices.md has GMRES's iterations on them.
"""

import argparse
import pathlib

import numpy as np
import scipy.io
import scipy.sparse as sparse


def kron(*factors):
    """The product of factors along x, y, ...; x runs fastest."""
    product = factors[-1]
    for factor in reversed(factors[:-1]):
        product = sparse.kron(product, factor, "csr")
    return product


def difference(n):
    """From n - 1 nodes between walls to the n intervals that they and the walls bound."""
    return sparse.diags([np.ones(n - 1), -np.ones(n - 1)], [0, -1], (n, n - 1), "csr")


def laplacian(n):
    return (difference(n + 1).T @ difference(n + 1)).tocsr()


def on_grid(*directions):
    """Laplacian of a grid with so many nodes along each direction."""
    eyes = [sparse.identity(n) for n in directions]
    return sum(kron(*(laplacian(n) if d == along else eyes[d] for d, n in enumerate(directions))) for along in range(len(directions)))


def stretched(n, layer, strength):
    """-d/dx (1/s) d/dx and s along one direction, whose coordinate turns into the complex plane, s = 1 + i sigma, within `layer` nodes of both walls."""
    def s(place):
        depth = np.maximum(0, layer - np.minimum(place, n + 1 - place)) / layer
        return 1 + 1j * strength * depth**2

    d = difference(n + 1)
    return d.T @ sparse.diags(1 / s(np.arange(n + 1) + 0.5)) @ d, sparse.diags(s(np.arange(1, n + 1)))


def helmholtz(n, dimension, nodes_of_wave, layer):
    """-u'' - k^2 u with absorbing layers around, times the product of the stretchings, so that it is symmetric."""
    second, s = stretched(n, layer, 3)
    parts = [kron(*(second if d == along else s for d in range(dimension))) for along in range(dimension)]
    return sum(parts) - (2 * np.pi / nodes_of_wave) ** 2 * kron(*[s] * dimension)


def shifted_laplacian(n):
    """Three layers of rock with sloping borders, 10 to 25 nodes a wave; the shift of Erlangga, Oosterlee and Vuik."""
    y, x = np.mgrid[0:1:n * 1j, 0:1:n * 1j]
    nodes = np.select([y < 0.3 + 0.2 * x, y < 0.8 - 0.2 * x], [20.0, 10.0], 25.0)
    return on_grid(n, n) - (1 - 0.5j) * sparse.diags(((2 * np.pi / nodes) ** 2).ravel())


def schroedinger(n):
    """I + i dt/2 H of a step of Crank and Nicolson, of a particle in a trap."""
    y, x = np.mgrid[-1:1:n * 1j, -1:1:n * 1j]
    hamiltonian = 0.5 * on_grid(n, n) + sparse.diags((0.5 * (x**2 + 4 * y**2)).ravel())
    return sparse.identity(n * n) + 0.5j * 20 * hamiltonian


def maxwell(n):
    """curl curl E - k^2 (1 + i loss) E on the edges of Yee's grid within conducting walls; a half of it loses more."""
    inner, cells, d = sparse.identity(n - 1), sparse.identity(n), difference(n)
    curl = sparse.bmat(
        [
            [None, -kron(inner, cells, d), kron(inner, d, cells)],
            [kron(cells, inner, d), None, -kron(d, inner, cells)],
            [-kron(cells, d, inner), kron(d, cells, inner), None],
        ]
    )
    loss = [np.where(np.arange(shape[2]) < shape[2] // 2, 0.1, 1.0).repeat(shape[0] * shape[1]) for shape in ((n, n - 1, n - 1), (n - 1, n, n - 1), (n - 1, n - 1, n))]
    return curl.T @ curl - (2 * np.pi / 12) ** 2 * sparse.diags(1 + 1j * np.concatenate(loss))


def magnetohydrodynamics(n):
    """K - omega^2 M of waves exp(i (k_y y + k_z z)) in a slab of plasma with a field that turns: Hermitian and indefinite."""
    x = (np.arange(n) + 0.5) / n
    field, pressure, density = [np.cos(2 * x), np.sin(2 * x)], 1.2 - x, 1 + 2 * x
    wave = [3.0, 5.0]
    at_nodes = np.arange(1, n) / n
    along = [wave[0] * np.cos(2 * at) + wave[1] * np.sin(2 * at) for at in (at_nodes, x)]  # k . B
    eye, zero = sparse.identity(n), sparse.csr_matrix((n, n - 1))
    divergence = sparse.hstack([n * difference(n), 1j * wave[0] * eye, 1j * wave[1] * eye])
    # Of the field b = (B . grad) xi - B div xi, each component.
    bends = [sparse.hstack([sparse.diags(1j * along[0]), sparse.csr_matrix((n - 1, 2 * n))])]
    bends += [sparse.hstack([zero, *(sparse.diags(1j * along[1]) if k == j else sparse.csr_matrix((n, n)) for j in range(2))]) - sparse.diags(field[k]) @ divergence for k in range(2)]
    energy = sum(bend.getH() @ bend for bend in bends) + divergence.getH() @ sparse.diags(5 / 3 * pressure) @ divergence
    mass = np.concatenate([1 + 2 * at_nodes, density, density])
    places = np.argsort(np.concatenate([at_nodes, x, x]), kind="stable")  # unknowns of a place stand together
    return (energy - 40 * sparse.diags(mass)).tocsr()[places][:, places]


def anderson(n):
    """E - H on a periodic lattice with random energies, in a magnetic field (phases of hops along y): Hermitian and indefinite."""
    hop = sparse.diags([np.ones(n - 1), [1.0]], [1, 1 - n], (n, n))
    flux = sparse.diags(np.exp(2j * np.pi * np.arange(n) * 3 / n))
    eye = sparse.identity(n)
    hops = kron(hop, eye, eye) + kron(flux, hop, eye) + kron(eye, eye, hop)
    energies = 8 * (np.random.default_rng(4).random(n**3) - 0.5)
    return 0.5 * sparse.identity(n**3) - (hops + hops.getH() + sparse.diags(energies))


def wilson(shape, kappa):
    """1 - kappa (hops) of a quark on a periodic lattice of four dimensions: spins by Dirac's matrices, colours by random SU(3) links."""
    chance = np.random.default_rng(5)
    sigma = np.array([[[0, 1], [1, 0]], [[0, -1j], [1j, 0]], [[1, 0], [0, -1]]])
    gammas = [np.block([[np.zeros((2, 2)), -1j * s], [1j * s, np.zeros((2, 2))]]) for s in sigma] + [np.block([[np.zeros((2, 2)), np.eye(2)], [np.eye(2), np.zeros((2, 2))]])]
    sites = np.arange(np.prod(shape)).reshape(shape)
    matrix = sparse.identity(12 * sites.size, dtype=complex)
    for direction, gamma in enumerate(gammas):
        links = []
        for _ in range(sites.size):
            left, _, right = np.linalg.svd(np.eye(3) + 0.35 * (chance.standard_normal((3, 3)) + 1j * chance.standard_normal((3, 3))))
            unitary = left @ right
            links.append(unitary / np.linalg.det(unitary) ** (1 / 3))
        neighbours = np.roll(sites, -1, direction).ravel()
        forward = sparse.bsr_matrix((np.array([np.kron(np.eye(4) - gamma, link) for link in links]), neighbours, np.arange(sites.size + 1)))
        backward = sparse.bsr_matrix((np.array([np.kron(np.eye(4) + gamma, link) for link in links]), neighbours, np.arange(sites.size + 1))).getH()
        matrix = matrix - kappa * (forward + backward)
    return matrix.tocsr()


def circuit(n):
    """Modified nodal analysis at one frequency: a net of resistors with capacitors, amplifiers, coils to its pads, and sources without a resistance,
    whose rows have no diagonal."""
    chance = np.random.default_rng(6)
    omega, within, eye = 2.0, difference(n)[1:-1], sparse.identity(n - 1)
    branches = sparse.vstack([kron(within, eye), kron(eye, within)])
    nodes = branches.shape[1]
    net = branches.T @ sparse.diags(np.exp(chance.standard_normal(branches.shape[0]))) @ branches + 1j * omega * sparse.diags(chance.uniform(0.1, 1, nodes))
    amplifiers = sparse.coo_matrix((chance.uniform(0.5, 2, nodes // 10), chance.integers(0, nodes, (2, nodes // 10))), (nodes, nodes))
    pads = chance.choice(nodes, 70, replace=False)
    at_pads = sparse.coo_matrix((np.ones(70), (pads, np.arange(70))), (nodes, 70))
    coils = np.concatenate([-1j * omega * chance.uniform(0.1, 2, 60), np.zeros(10)])
    return sparse.bmat([[net + amplifiers, at_pads], [at_pads.T, sparse.diags(coils)]]).tocsr()


def damped_pencil(n, shift):
    """A - shift B of lambda^2 u + lambda C u + K u = 0, a membrane that a strip damps, with u and lambda u of each node together."""
    stiffness = on_grid(n, n)
    damping = sparse.diags(np.where(np.arange(n) < n // 5, 0.8, 0.01).repeat(n))
    eye = sparse.identity(n * n)
    places = np.arange(2 * n * n).reshape(2, -1).T.ravel()
    return sparse.bmat([[-shift * eye, eye], [-stiffness, -damping - shift * eye]]).tocsr()[places][:, places]


MATRICES = {  # what it is, the symmetry of its file, the matrix
    "helmholtz-plane": ("Helmholtz with absorbing layers, 10 waves of 12 nodes", "symmetric", lambda: helmholtz(120, 2, 12, 12)),
    "helmholtz-space": ("the same in space, 3 waves of 8 nodes", "symmetric", lambda: helmholtz(25, 3, 8, 5)),
    "shifted-laplacian": ("-u'' - (1 - i/2) k^2 u, layers of rock", "symmetric", lambda: shifted_laplacian(130)),
    "schroedinger": ("a step of Crank and Nicolson, a particle in a trap", "symmetric", lambda: schroedinger(100)),
    "maxwell": ("curl curl on Yee's grid, with loss", "symmetric", lambda: maxwell(14)),
    "plasma": ("K - omega^2 M of magnetohydrodynamic waves", "hermitian", lambda: magnetohydrodynamics(800)),
    "anderson": ("disorder on a lattice in a magnetic field, shifted", "hermitian", lambda: anderson(16)),
    "wilson": ("Wilson's operator of a quark, 4 x 4 x 4 x 8", "general", lambda: wilson((4, 4, 4, 8), 0.12)),
    "circuit": ("a net with coils, amplifiers and ideal sources at one frequency", "general", lambda: circuit(50)),
    "damped-pencil": ("a damped membrane's quadratic eigenproblem, shifted", "general", lambda: damped_pencil(50, 0.1 + 0.9j)),
}


def write(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, (what, symmetry, make) in MATRICES.items():
        matrix = sparse.csr_matrix(make(), dtype=complex)
        matrix.eliminate_zeros()
        if symmetry == "hermitian":
            matrix = (matrix + matrix.getH()) / 2  # to the last bit
        with open(folder / f"{name}.mtx", "wb") as file:
            scipy.io.mmwrite(file, matrix, comment=what, field="complex", precision=16, symmetry=symmetry)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    write(parser.parse_args().folder)


if __name__ == "__main__":
    main()
