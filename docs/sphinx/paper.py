"""Puts a cover and a table of contents in front of the single page that becomes the PDF."""

import html
import re
import sys
from pathlib import Path

from contents import BELOW, PAGES, PARTS

page = Path(sys.argv[1])
text = page.read_text()
version = re.search(r"project\(weft VERSION ([\d.]+)", (Path(__file__).parents[2] / "CMakeLists.txt").read_text()).group(1)
titles = {}
for found in re.finditer(r'<span id="document-([^"]+)"></span>.*?<h[1-6]>(.*?)<a class="headerlink"', text, re.S):
    titles[found.group(1)] = re.sub(r"<[^>]+>", "", found.group(2))


def entry(name, kind=""):
    below = "".join(entry(inner) for inner in BELOW.get(name, []))
    if name not in titles:
        return ""
    return f'<li class="{kind}"><a href="#document-{name}">{titles[name]}</a>' + (f"<ul>{below}</ul>" if below else "") + "</li>"


contents = "".join(f'<li class="chapter">{html.escape(part)}<ul>{"".join(entry(name) for name in names)}</ul></li>' for part, names in PARTS.items())
missing = [name for name in PAGES if name not in titles and name != "docs/index"]
if missing:
    sys.exit(f"the single page lacks {', '.join(missing)}")
cover = f'<div class="cover"><div class="name">Weft</div><div class="what">Solvers that PETSc lacks on GPUs. Manual of version {version}</div></div>'
where = text.index('<div class="body"')
where = text.index(">", where) + 1
# Sphinx's single page links to itself by its path from the root, which its own folder would be put before.
text = text.replace('href="docs/index.html#', 'href="#')
# Source files are no part of the paper: a link to one would lead to the folder that it was printed in.
text = re.sub(r'<a class="reference download internal"[^>]*>(.*?)</a>', r'\1', text, flags=re.S)
page.write_text(f'{text[:where]}{cover}<nav class="contents"><ul>{contents}</ul></nav>{text[where:]}')
