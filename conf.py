"""One Sphinx configuration for both languages of the guide.

Built as `sphinx-build -c . -b html -D language=en docs build/html/en`, then the same with `zh_CN`, as
`nox -s docs` does. Paths of templates and static files are relative to this file, `locale_dirs` to `docs/`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ConfigError

from guide import ADDRESS

ROOT = Path(__file__).parent

# -- The project -----------------------------------------------------------------------------------------

project = "TensorDict on Ascend NPUs"
author = "The authors of the TensorDict on Ascend NPUs guide"

# What the theme shows of the guide outside pages, where page catalogs do not reach. Its own words, and those of Sphinx,
# that their translations lack or render badly are in `docs/locale/zh_CN/LC_MESSAGES/sphinx.po`.
TEXT = {
    "en": {
        "title": "TensorDict on Ascend NPUs",
        "description": "A guide to TensorDict on Ascend NPUs. Its examples run on an NPU, real or simulated.",
        "copyright": "The authors of this guide, Apache-2.0",
        "search": "Search the guide",
        "subpages": "Subpages",
        "diagram": "Diagram",
    },
    "zh_CN": {
        "title": "昇腾 TensorDict 指南",
        "description": "在昇腾 NPU 上使用 TensorDict 的指南，示例在昇腾 NPU 或模拟 NPU 上运行。",
        "copyright": "本指南作者，Apache-2.0",
        "search": "搜索本指南",
        "subpages": "下级页面",
        "diagram": "示意图",
    },
}

# -- Sources and languages -------------------------------------------------------------------------------

extensions = [
    "guide",
    "myst_parser",
    "livedoctest",
    "sphinx.ext.extlinks",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_ext", "_records", "_static", "_templates", "_tutorials", "locale"]
myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "substitution"]
nitpicky = True  # a reference that leads nowhere is an error, never plain text

language = "en"
locale_dirs = ["locale"]
gettext_compact = False  # one catalog a page
gettext_uuid = False
gettext_location = False  # a moved paragraph is no change for translators
# `literal-block` stays out of `gettext_additional_targets`: translated MyST code blocks are parsed wrongly.

# Pages start Python anew and several ranks at once: on a loaded machine that takes longer than the usual minute.
livedoctest_timeout = 180.0
livedoctest_report = str(ROOT / "build" / "verification.json")
livedoctest_records = "docs/_records"  # written by `nox -s verify` on live hardware
livedoctest_cache = str(ROOT / "build" / "livedoctest")  # both languages share the results

# livedoctest runs and checks the scripts; sphinx-gallery only makes pages of them.
sphinx_gallery_conf = {
    "examples_dirs": "_tutorials",
    "gallery_dirs": "tutorials",
    "copyfile_regex": r"index\.rst",  # written by hand: that of sphinx-gallery has raw HTML, which is never translated
    "plot_gallery": False,
    "image_scrapers": (),
    "reset_modules": (),
    "write_computation_times": False,
    "download_all_examples": False,
    "show_signature": False,
}

# -- Links to the API references -------------------------------------------------------------------------
# No inventory can be fetched while building, so each role is a pattern: {td}`TensorDict`, {td-method}`lock_`,
# {torch}`Tensor.data_ptr`, {torch-page}`notes/randomness`,
# {npu-docs}`api/environment_variable/TASK_QUEUE_ENABLE.md`.

TENSORDICT = "https://docs.pytorch.org/tensordict/stable/reference/generated"
TORCH = "https://docs.pytorch.org/docs/2.13"
# A fixed commit of the documentation of torch_npu, because its files move.
TORCH_NPU = "https://github.com/Ascend/pytorch/blob/bc7fb138b7ffd4c038b780b5a8cb9ea330bb8125/docs/en"

extlinks = {
    "td": (f"{TENSORDICT}/tensordict.%s.html", "%s"),
    "td-method": (f"{TENSORDICT}/tensordict.TensorDictBase.%s.html", "%s"),
    "torch": (f"{TORCH}/generated/torch.%s.html", "torch.%s"),
    "torch-page": (f"{TORCH}/%s.html", "%s"),
    "npu-docs": (f"{TORCH_NPU}/%s", "%s"),
}

# -- Pages -----------------------------------------------------------------------------------------------

templates_path = ["docs/_templates"]
html_theme = "pydata_sphinx_theme"
html_static_path = ["docs/_static"]
html_css_files = ["guide.css"]
html_js_files = [
    (name, {"defer": "defer"}) for name in ("language.js", "search-sections.js", "copy-script.js", "print.js")
]
html_show_search_summary = False  # search-sections.js shows better ones
html_logo = html_favicon = "docs/_static/logo.svg"
html_sidebars = {"**": ["sidebar-site.html"]}
html_copy_source = False
html_show_sourcelink = False
html_use_index = False  # there is no index entry in the guide
html_context = {"default_mode": "light", "languages": {"en": "English", "zh_CN": "中文"}, "address": ADDRESS}
html_theme_options: dict[str, Any] = {
    "navbar_center": [],
    "navbar_persistent": ["search-button-field", "language-switch"],  # beside the menu of a phone, not in it
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "show_toc_level": 2,
}

copybutton_selector = ".highlight pre:not(.livedoctest-output pre, .livedoctest-warning pre)"
copybutton_exclude = ".linenos, .gp, .go"  # what remains of a session is its program

if ADDRESS:
    extensions.append("sphinx_sitemap")
    site_url = f"{ADDRESS}/"
    sitemap_locales = list(TEXT)
    sitemap_url_scheme = "{lang}{link}"
    sitemap_excludes = ["search.html"]


def set_language_texts(app: Sphinx, config: Config) -> None:
    """Set what depends on `-D language=…`, which is known only once the configuration is complete."""
    if config.language not in TEXT:
        raise ConfigError(f"language = {config.language!r}: the guide has {', '.join(TEXT)}")
    text = TEXT[config.language]
    config.copyright = text["copyright"]
    config.html_title = text["title"]
    config.html_theme_options["logo"] = {"text": text["title"]}
    config.html_theme_options["search_bar_text"] = text["search"]
    config.html_context["description"] = text["description"]
    config.html_context["subpages"] = text["subpages"]
    config.html_context["diagram"] = text["diagram"]
    config.html_baseurl = f"{ADDRESS}/{config.language}/" if ADDRESS else ""


def setup(app: Sphinx) -> None:
    """Connect the function above."""
    app.connect("config-inited", set_language_texts)
