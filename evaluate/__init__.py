"""./weft evaluate: preconditioners compared on matrices and model problems. docs/evaluate.md says how to use it."""


class InputError(Exception):
    """What the user gave cannot be used; the message says why and what would do. Ends with exit code 2."""
