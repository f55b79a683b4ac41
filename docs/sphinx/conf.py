"""The manual as Sphinx builds it: `./weft docs`. The source folder is the repository, so that the pages' links are those of a git host."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from contents import PAGES

root = Path(__file__).resolve().parents[2]

project = "Weft"
author = "the Weft contributors"
copyright = "the Weft contributors, BSD-2-Clause"
release = version = re.search(r"project\(weft VERSION ([\d.]+)", (root / "CMakeLists.txt").read_text()).group(1)
language = "en"

extensions = ["myst_parser", "manual"]
source_suffix = {".md": "markdown"}
root_doc = "docs/index"
include_patterns = [page + ".md" for page in PAGES]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # printed tables begin at the third level
highlight_language = "none"
pygments_style = "friendly"

html_title = f"Weft {version}"
html_math_renderer = "mathml"
html_static_path = ["static"]
html_css_files = ["manual.css"]
html_copy_source = False
html_show_sphinx = False
html_extra_path = ["extra"]
if tags.has("pdf"):  # noqa: F821 (Sphinx defines it)
    html_theme = "basic"
    html_css_files = ["manual.css", "print.css"]
else:
    html_theme = "furo"
