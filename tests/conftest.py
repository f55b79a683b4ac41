"""Fixtures of all black-box tests, and which of a test's cases run."""

import os
from collections import Counter

import pytest

import programs


@pytest.fixture
def run():
    return programs.execute


@pytest.fixture
def library():
    return programs.LIBRARY


def values_of(case):
    """What each parametrize gives to one case, a row of a table being one value."""
    given, values = dict(case.callspec.params), set()
    for mark in case.iter_markers("parametrize"):
        names = mark.args[0].split(",") if isinstance(mark.args[0], str) else mark.args[0]
        values.add(tuple((name.strip(), repr(given.pop(name.strip()))) for name in names))
    return values | {(name, repr(value)) for name, value in given.items()}


def each_value_once(cases):
    """Of the cases of one test as few as have each value of each parameter, those first whose values have been taken least."""
    values, taken, uses = {case: values_of(case) for case in cases}, [], Counter()
    missing = set().union(*values.values())
    while missing:
        case = max(cases, key=lambda one: (len(values[one] & missing), -sum(uses[value] for value in values[one])))
        taken.append(case)
        missing -= values[case]
        uses.update(values[case])
    return taken


def pytest_collection_modifyitems(config, items):
    """Where WEFT_TEST_EACH_VALUE is set, a test runs with each of its values, and not in all combinations, which another build runs."""
    if not os.environ.get("WEFT_TEST_EACH_VALUE"):
        return
    tests = {}
    for item in items:
        if hasattr(item, "callspec"):
            tests.setdefault((item.path, item.cls, item.originalname), []).append(item)
    left_out = {item for cases in tests.values() for item in set(cases) - set(each_value_once(cases))}
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]
