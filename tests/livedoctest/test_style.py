"""The look of the marks: with any theme, without a style sheet of the site."""

from __future__ import annotations

import re

PAGE = """# T

```{doctest}
>>> 1
1
```

```{testcode}
import warnings
print(2)
warnings.warn("careful")
```

```{testoutput}
2
```

```{testwarning}
UserWarning: careful
```

```{testcode}
:norun: It has its reasons.

x = 1
```
"""


def test_the_style_sheet_goes_with_the_pages(site):
    built = site(index=PAGE).build("-W")
    assert built.status == 0, built.log
    style = (built.out / "_static" / "livedoctest.css").read_text()
    assert 'href="_static/livedoctest.css' in built.html()
    for name in ("mark", "reason", "output", "warning", "foot"):
        assert re.search(rf'class="[^"]*livedoctest-{name}\b', built.html())
        assert f".livedoctest-{name}" in style
    assert not re.search(r"var\((?!.*,).*\)", style)  # every variable of a theme has something in its place


def test_a_site_has_the_last_word(site):
    made = site(index=PAGE, conf="html_static_path = ['own']\nhtml_css_files = ['own.css']\n")
    made.write("own/own.css", ".livedoctest-mark { color: red }")
    html = made.build("-W").html()
    assert html.index("livedoctest.css") < html.index("own.css")
