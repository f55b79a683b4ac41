"""Numbers and markdown tables as text."""


def number(value):
    if value is None:
        return "–"
    return "0" if value == 0 else f"{value:.3g}" if value < 100 else f"{value:.0f}"


def small(value):
    return "–" if value is None else f"{value:.1e}"


def percent(value):
    return "–" if value is None else f"{value:.0%}"


def ratio(over, under):
    return over / under if over and under else None


def shown(method, label=""):
    return method.replace(":", " ").replace(",", ", ") + (f" ({label})" if method == "auto" and label else "")


def table(rows, left=1):
    """Rows of text, the first of them the head, the first `left` columns not numbers; padded to be read as text too."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = ["| " + " | ".join(c.ljust(w) if k < left else c.rjust(w) for k, (c, w) in enumerate(zip(row, widths))) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (w + 2) if k < left else "-" * (w + 1) + ":" for k, w in enumerate(widths)) + "|")
    return lines
