"""The pages of the manual in reading order: path from the repository's root without .md, parts, and what is under what."""

import re
from pathlib import Path


def linked(page):
    """The pages beside a page in the order in which it names them."""
    names = re.findall(r"\]\((\w+)\.md[)#]", (Path(__file__).parents[2] / f"{page}.md").read_text())
    return [str(Path(page).with_name(name)) for name in dict.fromkeys(names)]


# caption of a part of the table of contents -> its pages
PARTS = {
    "Start": ["docs/which", "docs/evaluate", "docs/use/options", "docs/use/c", "docs/use/cpp", "docs/use/fortran", "docs/use/python", "docs/use/frameworks", "docs/gallery/README"],
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
            "plots demo evaluation line lines suitesparse-lines complex-matrices adi heat helmholtz poisson potential boxmg channel crout crout-matrices compact kernels"
        ).split()
    ],
    "docs/project/README": ["docs/project/" + name for name in "features adi-features adi-convergence poisson-features suitesparse-ranks hard-lines compact-model native-forms tried tests faults sanitizer range setup house".split()],
}

PAGES = ["docs/index", *(page for pages in (*PARTS.values(), *BELOW.values()) for page in pages)]


def errors():
    """What is wrong with PAGES: a page that it does not know would be missing from the manual without a word."""
    root = Path(__file__).parents[2]
    there = {str(path.relative_to(root).with_suffix("")) for path in (root / "docs").rglob("*.md")}
    wanted = {page for page in PAGES if page.startswith("docs/")}
    return [f"docs/sphinx/contents.py does not name the page {page}.md: add it" for page in sorted(there - wanted)] + [
        f"docs/sphinx/contents.py names the page {page}.md, which does not exist" for page in sorted(wanted - there)
    ]
