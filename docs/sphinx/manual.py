"""What the manual needs beyond Sphinx and MyST: formulae as MathML, tables of contents from contents.py, links of a git host made to work."""

import os
import re

from latex2mathml.converter import convert
from docutils.nodes import SkipNode
from sphinx.errors import ExtensionError

import contents
from contents import BELOW, PAGES, PARTS

LINK = re.compile(r"(!?)\[([^\]\[]*(?:\[[^\]]*\][^\]\[]*)*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
FENCE = re.compile(r"^ {0,3}(```+|~~~+)")


def toctree(pages, here, caption=None):
    lines = ["```{toctree}", ":hidden:", ":maxdepth: 2"] + ([f":caption: {caption}"] if caption else [])
    return "\n".join(lines + ["/" + page for page in pages if page in here] + ["```"])


def relink(app, docname, text):
    """Links to what is no page of this manual: a folder becomes its README or plain text, a file a download (MyST does that)."""

    def replace(match):
        image, words, path, anchor = match.groups()
        if image or re.match(r"[a-z]+:", path):
            return match.group(0)
        target = os.path.normpath(os.path.join(os.path.dirname(docname), path))
        if target.endswith(".md"):
            return match.group(0) if target[:-3] in app.env.found_docs else words
        if os.path.isdir(os.path.join(app.srcdir, target)):
            return f"[{words}]({path.rstrip('/')}/README.md)" if f"{target}/README" in app.env.found_docs else words
        return match.group(0)

    return LINK.sub(replace, text)


def read(app, docname, source):
    lines, fence = [], None
    for line in source[0].split("\n"):
        found = FENCE.match(line)
        if fence is None and found:
            fence = found.group(1)
            line = re.sub(r"^(\s*```+)math\s*$", r"\1{math}", line)
        elif fence is not None and line.strip() == fence:
            fence = None
        elif fence is None and not line.startswith("    "):
            line = relink(app, docname, line)
        lines.append(line)
    text = "\n".join(lines)
    if docname == app.config.root_doc:
        text += "".join("\n\n" + toctree(pages, app.env.found_docs, caption) for caption, pages in PARTS.items())
    if docname in BELOW:
        text += "\n\n" + toctree(BELOW[docname], app.env.found_docs)
    if docname == "docs/reference" and not app.tags.has("pdf"):
        text = text.replace("`api/index.html`", '<a href="../api/index.html">api/index.html</a>')
    source[0] = text + "\n"


def inline(self, node):
    self.body.append(convert(node.astext(), display="inline"))
    raise SkipNode


def block(self, node):
    """A formula for each line that ends in two backslashes."""
    rows = re.split(r"\\\\\s*\n", node.astext().strip())
    self.body.append('<div class="math-block">' + "\n".join(convert(row, display="block") for row in rows) + "</div>\n")
    raise SkipNode


def wrap(app, page, template, context, doctree):
    """Code breaks at spaces and between choices, long names also at their joints; not after an option's hyphen (see manual.css)."""

    def joints(word):
        text = word.group(1).replace("|", "|<wbr>")
        if len(word.group(1)) > 24:
            text = re.sub(r"([_./:(]|[a-z](?=[A-Z]))(?=.)", r"\1<wbr>", text)
        return f'<span class="pre">{text}</span>'

    if context.get("body"):
        context["body"] = re.sub(r'<span class="pre">([^<]*)</span>', joints, context["body"])


def complete(app):
    if contents.errors():
        raise ExtensionError("; ".join(contents.errors()))


def setup(app):
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    app.connect("builder-inited", complete)
    app.connect("source-read", read)
    app.connect("html-page-context", wrap)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
