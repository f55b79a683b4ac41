"""python3 -m weft: prints the option that loads the library."""

from . import options

print(options())
