// Below each page that the search finds: the sections that hold the words, with a piece of their text; best pages first.
// Sphinx's own summary is off (html_show_search_summary): it quotes the page's navigation and leads to its top.
const SECTIONS = 3; // at most, for each page
const AROUND = 80; // characters of text before the word that was found, and after it

const escaped = (word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const anywhere = (word) => new RegExp(escaped(word), "i");
const startOfWord = (word) => new RegExp(`${/^\w/.test(word) ? "(?<!\\w)" : ""}${escaped(word)}`, "i");

// What to look for, best first: the query and its parts as they were typed, then the words that Sphinx makes of them.
function searched() {
  const query = (new URLSearchParams(location.search).get("q") || "").toLowerCase().trim();
  const typed = new Set([query, ...query.split(/\s+/)].filter(Boolean));
  const stemmer = new Stemmer(); // this and splitQuery are Sphinx's, so that both look for the same words
  return [[...typed].map(startOfWord), splitQuery(query).map((word) => anywhere(stemmer.stemWord(word)))];
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
  const found = words.filter((word) => word.test(text) || word.test(title));
  const places = found.map((word) => text.search(word)).filter((place) => place >= 0);
  return { section, title, text, found, first: places.length ? Math.min(...places) : 0 };
}

function bestSections(sections, words) {
  const all = sections.map((section) => matches(section, words));
  const most = Math.max(0, ...all.map(({ found }) => found.length));
  return most ? all.filter(({ found }) => found.length === most).slice(0, SECTIONS) : [];
}

function snippet({ text, found, first }) {
  const start = Math.max(0, first - AROUND);
  const end = Math.min(text.length, first + AROUND);
  const line = document.createElement("p");
  line.className = "context";
  const marked = new RegExp(`(${found.map(({ source }) => source).join("|")})`, "i");
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

// How good a page is: words that one section holds together, whether title or first lines hold the query, how often.
function rank(sections, typed) {
  const held = sections.map((section) => matches(section, typed).found.length);
  const times = sections[0].textContent.match(new RegExp(typed[0].source, "gi")) || [];
  const about = [ownText(sections[0]), headingText(sections[0])].findLastIndex((text) => typed[0].test(text)) + 1;
  return [Math.max(...held), about, times.length];
}

const ranks = new Map(); // of the results; those without one stand behind the others

function compare(one, other) {
  const index = one.findIndex((value, position) => value !== other[position]);
  return index < 0 ? 0 : other[index] - one[index];
}

// Sphinx gives a word the same weight wherever it stands; its order remains between pages that are as good.
function place(result, own) {
  ranks.set(result, own);
  const order = (each) => ranks.get(each) || [-1];
  const list = result.parentElement;
  list.append(...[...list.children].sort((one, other) => compare(order(one), order(other))));
}

async function showSections(result, arrival) {
  const link = result.querySelector("a");
  if (!link) return;
  const [typed, words] = searched();
  if (link.hash) {
    const held = typed.filter((word) => word.test(link.textContent)).length;
    place(result, [held, 0, 0, -arrival]); // it leads to its section already
    return;
  }
  const html = await (await fetch(link.href)).text();
  const page = new DOMParser().parseFromString(html, "text/html");
  const sections = [...page.querySelectorAll("article section[id]")];
  if (!sections.length) return;
  place(result, [...rank(sections, typed), -arrival]);
  let found = bestSections(sections, typed);
  if (!found.length) found = bestSections(sections, words);
  if (!found.length) return;
  const list = document.createElement("ul");
  list.className = "search-sections";
  list.append(...found.map((match) => entry(match, link.href)));
  result.append(list);
}

const results = document.getElementById("search-results");
if (results) {
  const seen = new Set();
  new MutationObserver((changes) => {
    const added = changes.flatMap(({ addedNodes }) => [...addedNodes]);
    added.filter((node) => node.matches?.("ul.search > li") && !seen.has(node)).forEach((node) => {
      seen.add(node); // once moved, it is added again
      showSections(node, seen.size);
    });
  }).observe(results, { childList: true, subtree: true });
}
