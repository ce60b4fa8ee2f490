// The language switch is a plain link to the same page. This adds the anchor and the query, and remembers the choice.
function followLanguage(event) {
  const link = event.target.closest("a[data-language]");
  if (!link) return;
  link.hash = location.hash;
  link.search = location.search;
  try {
    localStorage.setItem("guide-language", link.dataset.language);
  } catch {
    // No storage: the link works all the same.
  }
}

document.addEventListener("click", followLanguage);
document.addEventListener("auxclick", followLanguage); // the middle button opens a new tab
