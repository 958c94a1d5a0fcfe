// Search without a server: the index is one file, loaded when somebody first looks for something.
const form = document.getElementById("search");
const query = document.getElementById("query");
const found = document.getElementById("found");
const MOST = 12;
let loading;

function load() {
  loading ??= Promise.all([
    import("/help/minisearch.js"),
    fetch("/help/search.json").then((answer) => answer.json()),
  ]).then(([{ default: MiniSearch }, sections]) => {
    const index = new MiniSearch({
      fields: ["heading", "page", "text"],
      storeFields: ["url", "page", "heading"],
      searchOptions: { boost: { heading: 4, page: 2 }, prefix: true, fuzzy: 0.15, combineWith: "AND" },
    });
    index.addAll(sections);
    return index;
  });
  return loading;
}

async function search() {
  const words = query.value.trim();
  const index = await load();
  if (words !== query.value.trim()) return;
  const results = words === "" ? [] : index.search(words).slice(0, MOST);
  found.replaceChildren(...results.map(lineOf));
  if (words !== "" && results.length === 0) found.append(document.createTextNode("Nothing found"));
  found.hidden = words === "";
}

function lineOf({ url, page, heading }) {
  const line = document.createElement("li");
  const link = document.createElement("a");
  link.href = url;
  link.textContent = heading;
  const where = document.createElement("small");
  where.textContent = page;
  link.append(where);
  line.append(link);
  return line;
}

query.addEventListener("focus", load, { once: true });
query.addEventListener("input", search);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  found.querySelector("a")?.click();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") found.hidden = true;
  if (event.key !== "/" || /^(INPUT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "")) return;
  event.preventDefault();
  query.focus();
});
document.addEventListener("click", (event) => {
  if (!form.contains(event.target)) found.hidden = true;
});
// On a narrow screen the contents are closed until somebody wants them.
if (matchMedia("(max-width: 52rem)").matches) document.querySelector(".menu")?.removeAttribute("open");
