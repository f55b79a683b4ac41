#!/usr/bin/env python3
"""Iterations with lines on several numbers of ranks, on a folder of Matrix Market files, as a table: solved exactly, and cut where ranks meet.

    python3 scripts/suitesparse_ranks.py --build build/STACK --matrices FOLDER --out RESULTS --ranks 1,2,4

Each file is solved by weft_mm, every way in the same process: GMRES(50), preconditioned from the right, to the true residual given. What does
not converge says why. Writes suitesparse-ranks.md and .json.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

LINES = {"lines": "-pc_type line", "lines, zebra": "-pc_type line -pc_line_ordering zebra"}
WAYS = {**LINES, **{f"{name}, cut": f"{options} -pc_line_ranks cut" for name, options in LINES.items()}}


def solve(arguments, ranks, matrix):
    """The results of weft_mm for every way, or why there are none."""
    with tempfile.TemporaryDirectory() as folder:
        results = pathlib.Path(folder, "results.json")
        command = ["mpiexec", "-n", str(ranks), arguments.build / "bin/weft_mm", matrix, "-dll_append", arguments.build / "lib/libweft.so"]
        command += ["-ksp_type", "gmres", "-ksp_gmres_restart", "50", "-ksp_pc_side", "right"]
        command += ["-ksp_norm_type", "unpreconditioned", "-ksp_rtol", str(arguments.rtol), "-ksp_max_it", str(arguments.most)]
        command += ["-compare", "; ".join(WAYS.values()), "-json", results]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=arguments.limit, check=False)
        except subprocess.TimeoutExpired:
            return None, f"> {arguments.limit} s"
        if not results.exists():
            lines = (done.stderr or done.stdout).strip().splitlines()
            return None, lines[-1].replace(f"{matrix.parent}/", "")[:100] if lines else f"exit {done.returncode}"
        return json.loads(results.read_text(encoding="utf-8"))["results"], ""


def cell(result):
    if result["solved"]:
        return str(result["iterations"])
    return {"DIVERGED_ITS": "its", "DIVERGED_BREAKDOWN": "breakdown"}.get(result["reason"], result["reason"].removeprefix("DIVERGED_").lower().replace("_", " "))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--matrices", required=True, type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--rtol", type=float, default=1e-8)
    parser.add_argument("--most", type=int, default=1000, help="iterations")
    parser.add_argument("--limit", type=float, default=120, help="seconds for all ways of a matrix")
    parser.add_argument("--ranks", default="1,2,4", help="numbers of ranks, 1 first (default: %(default)s)")
    arguments = parser.parse_args()
    files = sorted(arguments.matrices.glob("*.mtx*"))
    if not files:
        parser.error(f"no Matrix Market file (.mtx, .mtx.gz) in {arguments.matrices}")
    ranks = [int(number) for number in arguments.ranks.split(",")]
    columns = [(way, number) for way in WAYS for number in ranks if number > 1 or "cut" not in way]
    rows, records, same, differ = [], [], 0, []
    for file in files:
        name = file.name.split(".mtx")[0].replace("__", "/")
        found = {}
        for number in ranks:
            results, why = solve(arguments, number, file)
            found.update({(way, number): cell(result) for way, result in zip(WAYS, results)} if results else {(way, number): why for way in WAYS})
            if not any(found[way, ranks[0]].isdigit() for way in LINES):
                break  # nothing to compare with
        if len(found) < len(WAYS) * len(ranks):
            continue
        records.append({"matrix": name, **{f"{way} on {number}": found[way, number] for way, number in columns}})
        rows.append(f"| {name} | " + " | ".join(found[column] for column in columns) + " |")
        print(rows[-1], flush=True)
        for way in LINES:
            counts = [found[way, number] for number in ranks]
            if all(count.isdigit() for count in counts) and max(map(int, counts)) - min(map(int, counts)) <= 1:
                same += 1
            elif counts[0].isdigit():
                differ.append(f"{name} ({way}: {', '.join(counts)})")
    text = f"""# Lines of SuiteSparse matrices on several ranks

    python3 scripts/suitesparse_ranks.py --build build/STACK --matrices FOLDER --out RESULTS --ranks {arguments.ranks}

GMRES(50) from the right to ||b - Ax|| <= {arguments.rtol:g} ||b||, b of ones, at most {arguments.most} iterations. Lines come from the graph of the whole matrix, whose rows are dealt to the
ranks in their order; matrices of {len(files)} on which lines converge on one rank. Iterations, by ranks. Of the solves with whole lines {same} take the same iterations on {arguments.ranks.replace(",", ", ")} ranks, up to one;
the others: {"; ".join(differ) if differ else "none"}.

| matrix | {' | '.join(f"{way}: {number}" for way, number in columns)} |
|---|{'--:|' * len(columns)}
{chr(10).join(rows)}
"""
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "suitesparse-ranks.md").write_text(text, encoding="utf-8")
    (arguments.out / "suitesparse-ranks.json").write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
