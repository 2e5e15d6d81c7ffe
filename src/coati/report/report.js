"use strict";
// Lets each table be sorted by a column. Without scripts the tables stand as they are.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    if (!head.textContent) return;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const numeric = head.classList.contains("number");
      const down = head.getAttribute("aria-sort") === (numeric ? null : "ascending");
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
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
  });
}
