"use strict";
(() => {
  const list = document.getElementById("list");
  const open = () => {
    let id = "";
    try { id = decodeURIComponent(location.hash.slice(1)); } catch { return; }
    // A table, or `table::column`.
    const found = id && document.getElementById(id.split("::", 1)[0]);
    if (found && found.matches("details.table")) {
      found.hidden = false;
      fill(found);
      found.open = true;
      const column = id.includes("::") ? document.getElementById(id) : null;
      if (column) {
        column.closest("details.columns").open = true;
        column.tabIndex = -1;
      }
      (column || found).scrollIntoView(column ? { block: "center" } : true);
      (column || found.querySelector("summary")).focus({ preventScroll: true });
    }
  };
  addEventListener("hashchange", open);
  // A second click on the same link does not change the hash, so there is no event.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#t-']");
    if (link && link.hash === location.hash) open();
  });
  const ready = (part) => {
    if (!navigator.clipboard) return;
    for (const button of part.querySelectorAll("button.copy")) {
      button.hidden = false;
      button.addEventListener("click", async () => {
        try { await navigator.clipboard.writeText(button.previousElementSibling.textContent); } catch { return; }
        button.textContent = "Copied";
        setTimeout(() => { button.textContent = "Copy"; }, 1500);
      });
    }
  };
  // In a project with many tables, the details of a table are plain text until it is opened.
  const fill = (table) => {
    const later = table.querySelector(":scope > script.later");
    if (!later) return;
    later.insertAdjacentHTML("afterend", later.textContent);
    later.remove();
    ready(table);
  };
  document.addEventListener("toggle", (event) => { if (event.target.open) fill(event.target); }, true);
  ready(document);
  let opened = [];
  addEventListener("beforeprint", () => {
    const closed = [...document.querySelectorAll("details:not([open])")].filter((each) => !each.hidden);
    // A thousand tables would be a thousand pages.
    opened = closed.length <= 300 ? closed : [];
    for (const each of opened) { fill(each); each.open = true; }
  });
  addEventListener("afterprint", () => { for (const each of opened) each.open = false; });
  if (list) {
    const tables = [...list.children];
    const filter = document.getElementById("filter");
    const sort = document.getElementById("sort");
    const only = document.getElementById("only");
    const shown = document.getElementById("shown");
    const apply = () => {
      const text = filter.value.trim().toLowerCase();
      let count = 0;
      for (const table of tables) {
        const hit = table.dataset.name.includes(text) && (!only.checked || table.dataset.advice !== "0");
        table.hidden = !hit;
        count += hit;
      }
      shown.textContent = count === tables.length ? "" : `${count} of ${tables.length} tables`;
    };
    const order = () => {
      const key = sort.value;
      const sorted = [...tables].sort((a, b) => key === "name"
        ? a.dataset.name.localeCompare(b.dataset.name)
        : b.dataset[key] - a.dataset[key]);
      list.append(...sorted);
    };
    filter.addEventListener("input", apply);
    only.addEventListener("change", apply);
    sort.addEventListener("change", order);
  }
  open();
})();
