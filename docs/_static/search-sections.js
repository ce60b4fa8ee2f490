// Below each page that the search finds: the sections that hold the words, with a piece of their text.
// Sphinx's own summary is off (html_show_search_summary): it quotes the page's navigation and leads to its top.
const SECTIONS = 3; // at most, for each page
const AROUND = 80; // characters of text before the word that was found, and after it

// What to look for, best first: the parts of the query as they were typed, then the words that Sphinx makes of them.
function searched() {
  const query = (new URLSearchParams(location.search).get("q") || "").toLowerCase();
  const stemmer = new Stemmer(); // this and splitQuery are Sphinx's, so that both look for the same words
  return [query.split(/\s+/).filter(Boolean), splitQuery(query).map((word) => stemmer.stemWord(word))];
}

function ownText(section) {
  const copy = section.cloneNode(true);
  const others = "section, h1, h2, h3, h4, .livedoctest-mark, .livedoctest-downloads, .livedoctest-foot, script, style";
  copy.querySelectorAll(others).forEach((part) => part.remove());
  return copy.textContent.replace(/\s+/g, " ").trim();
}

function headingText(section) {
  const heading = section.querySelector("h1, h2, h3, h4").cloneNode(true);
  heading.querySelectorAll(".headerlink").forEach((part) => part.remove());
  return heading.textContent;
}

function matches(section, words) {
  const [title, text] = [headingText(section), ownText(section)];
  const lower = text.toLowerCase();
  const found = words.filter((word) => lower.includes(word) || title.toLowerCase().includes(word));
  const places = found.map((word) => lower.indexOf(word)).filter((place) => place >= 0);
  return { section, title, text, found, first: places.length ? Math.min(...places) : 0 };
}

function bestSections(page, words) {
  const all = [...page.querySelectorAll("article section[id]")].map((section) => matches(section, words));
  const most = Math.max(0, ...all.map(({ found }) => found.length));
  return most ? all.filter(({ found }) => found.length === most).slice(0, SECTIONS) : [];
}

function snippet({ text, found, first }) {
  const start = Math.max(0, first - AROUND);
  const end = Math.min(text.length, first + AROUND);
  const line = document.createElement("p");
  line.className = "context";
  const escaped = found.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const marked = new RegExp(`(${escaped.join("|")})`, "i");
  if (start) line.append("…");
  text.slice(start, end).split(marked).forEach((piece, index) => {
    line.append(index % 2 ? Object.assign(document.createElement("mark"), { textContent: piece }) : piece);
  });
  if (end < text.length) line.append("…");
  return line;
}

function entry(match, address) {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = `${address}#${match.section.id}`;
  link.textContent = match.title;
  item.append(link, snippet(match));
  return item;
}

async function showSections(result) {
  const link = result.querySelector("a");
  if (!link || link.hash) return; // a heading that was found leads to its section already
  const html = await (await fetch(link.href)).text();
  const page = new DOMParser().parseFromString(html, "text/html");
  const [typed, words] = searched();
  let found = bestSections(page, typed);
  if (!found.length) {
    found = bestSections(page, words);
    result.parentElement.append(result); // behind the pages that hold what was typed
  }
  if (!found.length) return;
  const list = document.createElement("ul");
  list.className = "search-sections";
  list.append(...found.map((match) => entry(match, link.href)));
  result.append(list);
}

const results = document.getElementById("search-results");
if (results) {
  const seen = new WeakSet();
  new MutationObserver((changes) => {
    const added = changes.flatMap(({ addedNodes }) => [...addedNodes]);
    added.filter((node) => node.matches?.("ul.search > li") && !seen.has(node)).forEach((node) => {
      seen.add(node); // once moved, it is added again
      showSections(node);
    });
  }).observe(results, { childList: true, subtree: true });
}
