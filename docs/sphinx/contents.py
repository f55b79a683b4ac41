"""The pages of the manual in reading order: path from the repository's root without .md, parts, and what is under what."""

import re
from pathlib import Path


def linked(page):
    """The pages beside a page in the order in which it names them."""
    names = re.findall(r"\]\((\w+)\.md[)#]", (Path(__file__).parents[2] / f"{page}.md").read_text())
    return [str(Path(page).with_name(name)) for name in dict.fromkeys(names)]


# caption of a part of the table of contents -> its pages
PARTS = {
    "Start": ["docs/which", "docs/evaluate", "docs/use/options", "docs/use/c", "docs/use/cpp", "docs/use/fortran", "docs/use/python", "docs/use/frameworks"],
    "Types": ["docs/types/boxmg", "docs/types/line", "docs/types/line-which-options", "docs/types/adi", "docs/types/bcr", "docs/types/crout", "docs/reference"],
    "Performance": ["docs/performance", "docs/method"],
    "Kernels": ["docs/kernels/README"],
    "Where it runs": ["docs/install", "docs/gpu", "docs/ranks"],
    "When something is wrong": ["docs/faq", "docs/messages"],
    "The project": ["docs/architecture", "CONTRIBUTING", "CHANGELOG", "docs/results/README", "docs/project/README", "matrices/README"],
}

# page -> pages below it
BELOW = {
    "docs/kernels/README": linked("docs/kernels/README"),
    "docs/results/README": [
        "docs/results/" + name
        for name in (
            "plots setup demo evaluation line lines suitesparse-lines suitesparse-ranks complex-matrices adi adi-convergence heat helmholtz poisson potential boxmg channel crout crout-matrices compact kernels faults house"
        ).split()
    ],
    "docs/results/kernels": [
        "docs/results/kernels/" + name
        for name in "main-h200 main-host methods-h200 toeplitz-h200 toeplitz-host adi-h200 adi-host tpr-h200 tpr-host".split()
    ],
    "docs/results/poisson": ["docs/results/poisson/h200", "docs/results/poisson/host"],
    "docs/project/README": ["docs/project/" + name for name in "features adi-features poisson-features native-forms tried tests sanitizer range".split()],
}

# Tables of hundreds of rows or dozens of columns.
SCREEN_ONLY = {*BELOW["docs/results/kernels"], *BELOW["docs/results/poisson"], "docs/results/crout-matrices"}

PAGES = {"docs/index": {}}
for _pages in (*PARTS.values(), *BELOW.values()):
    for _page in _pages:
        PAGES[_page] = {"screen_only": _page in SCREEN_ONLY}
