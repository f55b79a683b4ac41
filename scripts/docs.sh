# ./weft docs: the manual as HTML and PDF, in build/docs. Needs no PETSc. ./weft sources this file after stacks.sh.

# Formulae become MathML, which browsers show without a script.
latex2mathml='latex2mathml 3.81.1 c337668441b71c819b6733905a8058ba9a9d767bae11a0c5fdacb3aff31361bd'

# sphinx BUILDER FOLDER [OPTION…]: warnings are errors.
sphinx() {
  local builder=$1 folder=$2; shift 2
  quietly build/docs/sphinx.log env PYTHONPATH="$math" PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -m sphinx -q -W --keep-going -j auto \
    -b "$builder" -d "build/docs/doctrees-$builder" -c docs/sphinx "$@" . "$folder" ||
    die "Sphinx stopped: its last lines are above, all of them in build/docs/sphinx.log"
}

build_docs() {
  need_packages python3-pip unzip python3-sphinx python3-myst-parser furo doxygen chromium fonts-lmodern fonts-dejavu-core fonts-dejavu-extra
  local math=$cache/latex2mathml-3.81.1
  if [ ! -d "$math" ]; then
    rm -rf "$math.part"; unzip -qo -d "$math.part" "$(fetch "$latex2mathml" binary)"; mv "$math.part" "$math"
  fi
  exec 9>&- # all is there: the next command may go on
  mkdir -p build/docs; rm -rf build/docs/html build/docs/paper build/docs/*.log
  local font=/usr/share/texmf/fonts/opentype/public/lm-math/latinmodern-math.otf

  say "checking the pages"
  /usr/bin/python3 scripts/docs_check.py || die "the pages have errors: see above"
  say "building build/docs/html"
  sphinx html build/docs/html
  cp "$font" build/docs/html/_static/
  quietly build/docs/doxygen.log doxygen docs/sphinx/Doxyfile || die "Doxygen stopped: its last lines are above, all of them in build/docs/doxygen.log"
  /usr/bin/python3 scripts/docs_check.py --html build/docs/html || die "the built pages have errors: see above"

  say "printing build/docs/weft.pdf"
  sphinx singlehtml build/docs/paper -t pdf
  cp "$font" build/docs/paper/_static/
  PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 docs/sphinx/paper.py build/docs/paper/docs/index.html
  # Root needs --no-sandbox; the pages are our own.
  quietly build/docs/chromium.log chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-pdf-header-footer --generate-pdf-document-outline \
    --user-data-dir="$PWD/build/docs/chromium" --print-to-pdf="$PWD/build/docs/weft.pdf" "file://$PWD/build/docs/paper/docs/index.html" ||
    die "chromium could not print the manual: see build/docs/chromium.log"
  [ -s build/docs/weft.pdf ] || die "chromium printed nothing: see build/docs/chromium.log"
  rm -rf build/docs/chromium
  say "build/docs/html/index.html and build/docs/weft.pdf are the manual"
}
