"""Fixtures of all black-box tests."""

import pytest

import programs


@pytest.fixture
def run():
    return programs.execute


@pytest.fixture
def library():
    return programs.LIBRARY
