"use strict";
// The page stands as it is without this: tables that cannot be sorted, and the first files of the list.

// How many files are shown at once, so that what follows the list is not far away.
const STEP = matchMedia("(max-width: 40rem)").matches ? 20 : 50;

function made(tag, properties = {}, ...parts) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...parts);
  return node;
}

// Lets a long address or name continue in the next line after one of its parts, not within a word.
function breakable(text) {
  return text.split(/(?<=[/_.?&=-])(?=[^/_.?&=-])/).flatMap((part, n) => (n ? [made("wbr"), part] : [part]));
}

function sortable(table, sort) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    if (!head.textContent) return;
    const button = made("button", { type: "button" }, head.textContent);
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const numeric = head.classList.contains("number");
      const down = head.getAttribute("aria-sort") === (numeric ? null : "ascending");
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      sort(column, down, numeric);
    });
  });
}

for (const table of document.querySelectorAll("table.sortable")) {
  sortable(table, (column, down, numeric) => {
    const key = (row) => {
      const cell = row.cells[column];
      const text = cell.dataset.sort ?? cell.textContent;
      return numeric ? Number(text) : text;
    };
    const compare = (a, b) => (numeric ? a - b : String(a).localeCompare(String(b)));
    const body = table.tBodies[0];
    const rows = [...body.rows].sort((a, b) => (down ? -1 : 1) * compare(key(a), key(b)));
    body.append(...rows);
  });
}

const NAME = 0, TITLE = 1, URL_ = 2, PAGE = 3, TYPE = 4, SIZE = 5, WHEN = 6;

function listFiles(table, { site, types, pages, files }) {
  const body = table.tBodies[0];
  const labels = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
  const order = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" }).compare;
  const keys = [
    (file) => file[TITLE] || file[NAME], (file) => pages[file[PAGE]], (file) => types[file[TYPE]],
    (file) => file[SIZE], (file) => file[WHEN],
  ];
  const orders = [["", "Order of finding"], ["0", "Name"], ["3", "Largest first"], ["4", "Newest first"]];
  const counts = types.map((_, type) => files.filter((file) => file[TYPE] === type).length);

  const find = made("input", { type: "search", placeholder: "Find in titles, names and URLs" });
  find.setAttribute("aria-label", "Find files");
  const type = made("select", {}, made("option", { value: "" }, "All types"),
    ...types.map((name, n) => made("option", { value: name }, `${name} (${counts[n].toLocaleString("en")})`)));
  type.setAttribute("aria-label", "Type");
  const sort = made("select", {}, ...orders.map(([value, name]) => made("option", { value }, name)));
  sort.setAttribute("aria-label", "Order");
  const status = made("p", { className: "note" });
  status.setAttribute("role", "status");
  const more = made("button", { type: "button", className: "more" });
  table.parentElement.before(made("div", { className: "controls" }, find, type, sort), status);
  table.parentElement.after(more);

  const whole = (address) => (address.startsWith("/") ? site + address : address);
  const link = (address, parts) =>
    /^https?:\/\//.test(address)
      ? made("a", { className: "address", href: address, rel: "noopener noreferrer" }, ...parts)
      : made("span", { className: "address" }, ...parts);
  const fileAddress = (name) => {
    const folders = name.split("/");
    const downwards = !folders.some((folder) => ["", ".", ".."].includes(folder));
    return "files/" + (downwards ? folders.map(encodeURIComponent).join("/") : encodeURIComponent(name));
  };
  const cell = (column, ...parts) => {
    const made_ = made("td", { className: table.tHead.rows[0].cells[column].className }, ...parts);
    made_.dataset.label = labels[column];
    return made_;
  };
  const row = (file) => {
    const page = pages[file[PAGE]];
    const name = made("a", { className: "file", href: fileAddress(file[NAME]) }, ...breakable(file[TITLE] || file[NAME]));
    const source = made("small", {}, ...(file[TITLE].includes(file[NAME]) ? [] : breakable(`${file[NAME]} · `)));
    if (file[URL_]) source.append(link(whole(file[URL_]), ["on the web"]));
    return made("tr", {},
      cell(0, name, source),
      cell(1, ...(page ? [link(whole(page), breakable(page))] : [])),
      cell(2, types[file[TYPE]]),
      cell(3, size(file[SIZE])),
      cell(4, made("span", { className: "date" }, file[WHEN])));
  };

  let chosen = files;
  let shown = 0;
  const show = () => {
    const next = chosen.slice(shown, shown + STEP);
    body.append(...next.map(row));
    shown += next.length;
    const left = chosen.length - shown;
    more.hidden = !left;
    more.textContent = `Show ${Math.min(STEP, left)} more of ${left.toLocaleString("en")}`;
  };
  const texts = new Map();
  const text = (file) => {
    if (!texts.has(file)) {
      texts.set(file, [file[TITLE], file[NAME], whole(file[URL_]), whole(pages[file[PAGE]])].join(" ").toLowerCase());
    }
    return texts.get(file);
  };
  let by = null;
  const refresh = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = types.indexOf(type.value);
    chosen = files.filter((file) =>
      (wanted < 0 || file[TYPE] === wanted) && words.every((word) => text(file).includes(word)));
    if (by) {
      const key = keys[by.column];
      const compare = by.numeric ? (a, b) => a - b : order;
      chosen.sort((a, b) => (by.down ? -1 : 1) * compare(key(a), key(b)));
    }
    shown = 0;
    body.replaceChildren();
    show();
    const bytes = chosen.reduce((sum, file) => sum + file[SIZE], 0);
    status.textContent = `${chosen.length.toLocaleString("en")} of ${files.length.toLocaleString("en")} files, ${size(bytes)}`;
  };
  find.addEventListener("input", refresh);
  type.addEventListener("change", refresh);
  sort.addEventListener("change", () => {
    const column = Number(sort.value);
    by = sort.value && { column, numeric: column === 3, down: column > 0 };
    for (const head of table.tHead.rows[0].cells) head.removeAttribute("aria-sort");
    refresh();
  });
  more.addEventListener("click", show);
  sortable(table, (column, down, numeric) => {
    by = { column, down, numeric };
    refresh();
  });
  // report.html?find=rents&type=CSV can be passed on as a link.
  const query = new URLSearchParams(location.search);
  find.value = query.get("find") ?? "";
  type.value = types.includes(query.get("type")) ? query.get("type") : "";
  refresh();
}

function size(bytes) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (bytes >= 999.5 && unit < units.length - 1) {
    bytes /= 1000;
    unit += 1;
  }
  return `${bytes.toFixed(unit ? 1 : 0)} ${units[unit]}`;
}

const list = document.getElementById("file-list");
if (list) listFiles(document.querySelector("table.files"), JSON.parse(list.textContent));
