"""A content security policy in every page: its own files, its own inline scripts by their hash, and nothing else.

The policy is a meta element, because documentation hosts let nobody set headers. The hashes are those of the inline
scripts that the theme wrote into the page, so they are known only when the page is.
"""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

from sphinx.application import Sphinx

POLICY = (
    "default-src 'self'; script-src 'self'{hashes}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "object-src 'none'; base-uri 'none'; form-action 'self'"
)
INLINE = re.compile(r"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", re.DOTALL)
CHARSET = re.compile(r"<meta charset=[^>]*>")
OWN = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')


def protect(html: str) -> str:
    """`html` with its policy, before anything that the policy governs; applied again, it changes nothing."""
    html = OWN.sub("", html)
    digests = dict.fromkeys(hashlib.sha256(script.encode()).digest() for script in INLINE.findall(html))
    hashes = "".join(f" 'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    meta = f'<meta http-equiv="Content-Security-Policy" content="{POLICY.format(hashes=hashes)}">'
    return CHARSET.sub(lambda charset: charset[0] + meta, html, count=1)


def protect_pages(app: Sphinx, exception: Exception | None) -> None:
    """Write the policy into the pages that this build wrote."""
    if exception or app.builder.format != "html":
        return
    for path in Path(app.outdir).rglob("*.html"):
        before = path.read_text(encoding="utf-8")
        after = protect(before)
        if after != before:
            path.write_text(after, encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Connect the function above; at this priority, plural.js stands between Sphinx's scripts and its translations."""
    app.add_js_file("plural.js", priority=200)
    app.connect("build-finished", protect_pages)
