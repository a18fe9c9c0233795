"use strict";
(() => {
  /* What only an open kernel needs is parsed when the first one is opened. */
  const parsed = new Map();
  function part(id) {
    if (!parsed.has(id)) parsed.set(id, JSON.parse(document.getElementById(id).textContent));
    return parsed.get(id);
  }
  const DATA = part("data");
  const root = document.documentElement;
  const overview = document.getElementById("overview");
  const detail = document.getElementById("detail");
  const reduced = matchMedia("(prefers-color-scheme: dark)");

  /* Everything that came from code goes through textContent: there is no innerHTML in this file. */
  function el(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === true) node.setAttribute(name, "");
      else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
    }
    node.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
    return node;
  }
  const STEERING = /[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
  const code = (char) => "\\u" + char.charCodeAt(0).toString(16).padStart(4, "0");
  const visible = (text) => String(text).replace(STEERING, code);
  function shown(text) {
    const nodes = [];
    let place = 0;
    for (const match of text.matchAll(STEERING)) {
      if (match[0] === "\r") continue;
      nodes.push(text.slice(place, match.index), el("span", { class: "esc" }, code(match[0])));
      place = match.index + match[0].length;
    }
    nodes.push(text.slice(place).replace(/\r$/, ""));
    return nodes;
  }

  /* Theme: as the system, or as chosen. */
  const themes = ["auto", "light", "dark"];
  let theme = "auto";
  try { theme = localStorage.getItem("porter-theme") || "auto"; } catch { /* files may have no storage */ }
  const toggle = document.getElementById("theme");
  function paint() {
    const dark = theme === "dark" || (theme === "auto" && reduced.matches);
    root.dataset.theme = dark ? "dark" : "light";
    root.style.colorScheme = dark ? "dark" : "light";
    toggle.textContent = theme[0].toUpperCase() + theme.slice(1);
    toggle.setAttribute("aria-label", "Colours: " + (theme === "auto" ? "as the system" : theme));
    redraw();
  }
  toggle.addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    try { localStorage.setItem("porter-theme", theme); } catch { /* as above */ }
    paint();
  });
  reduced.addEventListener("change", paint);
  addEventListener("beforeprint", () => { root.dataset.theme = "light"; redraw(); });
  addEventListener("afterprint", paint);

  /* Charts. Colours in specifications are names of custom properties, so that they follow the theme. */
  const RANGE = ["--ported", "--proven", "--built", "--f-review"];
  const drawn = new Map();
  const property = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const FILL = { "--manual": "--f-manual", "--review": "--f-review" };
  function coloured(value) {
    if (typeof value === "string") return value.startsWith("--") ? property(FILL[value] || value) : value;
    if (Array.isArray(value)) return value.map(coloured);
    if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, coloured(v)]));
    return value;
  }
  function config(narrow) {
    const ink = property("--ink"), soft = property("--soft"), line = property("--line");
    return {
      background: "transparent", autosize: { type: "fit-x", contains: "padding" }, font: "system-ui, sans-serif", view: { stroke: null },
      axis: { labelColor: soft, titleColor: soft, gridColor: line, domainColor: line, tickColor: line, labelFontSize: 12, titleFontSize: 12, titleFontWeight: 500 },
      axisY: { domain: false, ticks: false, labelPadding: 6 }, legend: { labelColor: ink, titleColor: soft, labelFontSize: 12, symbolType: "circle", ...(narrow ? { columns: 1, direction: "vertical" } : {}) },
    };
  }
  function draw(target, spec) {
    if (!window.porterEmbed || !target.isConnected || !target.clientWidth) return;
    const options = { actions: false, renderer: "svg", config: config(target.clientWidth < 380), mode: "vega-lite" };
    window.porterEmbed(target, coloured(spec), options).catch((error) => { target.textContent = "This chart could not be drawn: " + error.message; });
  }
  function redraw() { for (const [target, spec] of drawn) if (target.isConnected) draw(target, spec); else drawn.delete(target); }
  /* One after the other, the first frame first; all of them are there when the page is printed. */
  let queue = [];
  function next() { const target = queue.shift(); if (target) { draw(target, drawn.get(target)); setTimeout(next, 0); } }
  function figure(title, words, spec) {
    const target = el("div", { class: "chart", role: "img", "aria-label": words });
    const node = el("figure", {}, el("figcaption", {}, el("h3", {}, title), el("p", {}, words)), target);
    if (!window.porterEmbed) { target.replaceWith(el("p", { class: "quiet" }, "Charts need the package vl-convert-python: pip install porter[report].")); return node; }
    drawn.set(target, spec);
    queue.push(target);
    if (queue.length === 1) requestAnimationFrame(() => setTimeout(next, 0));
    return node;
  }
  /* The table of kernels. */
  const table = document.getElementById("table");
  const rows = table ? [...table.tBodies[0].rows] : [];
  rows.forEach((row, number) => { row.number = number; row.fits = true; row.words = (row.cells[0].textContent || "").toLowerCase(); });
  const more = document.getElementById("more");
  /* A row on a phone is a card, five times as tall: fewer of them stand before what follows the table. */
  let most = matchMedia("(max-width: 560px)").matches ? Math.min(DATA.rows, 60) : DATA.rows;
  /* Shows the first rows that fit, in the order of the table. */
  function reveal() {
    let shown = 0, left = 0;
    for (const row of table.tBodies[0].rows) {
      const hidden = !row.fits || shown >= most;
      if (row.fits) { if (hidden) left++; else shown++; }
      if (row.hidden !== hidden) row.hidden = hidden;
    }
    if (more) { more.hidden = !left; more.textContent = "Show the other " + left.toLocaleString("en"); }
  }
  more?.addEventListener("click", () => { most = Infinity; reveal(); });
  addEventListener("beforeprint", () => { if (table) { const before = most; most = Infinity; reveal(); most = before; } });
  const search = document.getElementById("search");
  const hazardous = document.getElementById("hazardous");
  const status = document.getElementById("shown");
  const boxes = [...document.querySelectorAll('input[name="state"]')];
  const ulps = (row) => DATA.ulps.indexOf(row.querySelector("[data-ulps]")?.textContent.trim());
  const values = {
    name: (row) => row.words, state: (row) => +row.dataset.rank, effort: (row) => +row.dataset.effort, hazards: (row) => +row.dataset.hazards,
    registers: (row) => +(row.dataset.registers ?? -1), waves: (row) => +(row.dataset.waves || -1), verdict: (row) => row.dataset.verdict || "", ulps,
  };
  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const states = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    let count = 0;
    for (const row of rows) {
      const fits = (!states.size || states.has(row.dataset.state)) && (!hazardous.checked || +row.dataset.hazards > 0) && words.every((word) => row.words.includes(word));
      row.fits = fits;
      count += fits;
    }
    reveal();
    remember(words, states);
    status.textContent = count === rows.length ? rows.length.toLocaleString("en") + " kernels" : count.toLocaleString("en") + " of " + rows.length.toLocaleString("en") + " kernels";
  }
  /* What is searched, filtered and sorted stands in the address, so that a view can be sent to somebody. */
  let sorted = "";
  function remember(words, states) {
    const said = new URLSearchParams();
    if (words.length) said.set("q", words.join(" "));
    if (states.size) said.set("state", [...states].join(","));
    if (hazardous.checked) said.set("hazards", "1");
    if (sorted) said.set("sort", sorted);
    const text = said.toString();
    if (detail.hidden && (text || location.hash.startsWith("#kernels?"))) history.replaceState(null, "", text ? "#kernels?" + text : "#kernels");
    address = text ? "#kernels?" + text : "#kernels";
  }
  let address = "#kernels";
  function recall(text) {
    const said = new URLSearchParams(text);
    const states = new Set((said.get("state") || "").split(","));
    search.value = said.get("q") || "";
    for (const box of boxes) box.checked = states.has(box.value);
    hazardous.checked = said.get("hazards") === "1";
    const [key, order] = (said.get("sort") || "").split(":");
    const button = key && [...table.tHead.querySelectorAll("button")].find((one) => one.dataset.key === key);
    if (button) { sort(button, order === "descending" ? "descending" : "ascending"); }
    filter();
  }
  function sort(button, wanted) {
    const head = button.closest("th");
    const first = button.dataset.key === "name" || button.dataset.key === "state" || button.dataset.key === "verdict" || button.dataset.key === "waves" ? "ascending" : "descending";
    const other = first === "ascending" ? "descending" : "ascending";
    const order = wanted || (head.getAttribute("aria-sort") === first ? other : first);
    sorted = button.dataset.key + ":" + order;
    for (const cell of table.tHead.rows[0].cells) cell.setAttribute("aria-sort", cell === head ? order : "none");
    const sign = order === "ascending" ? 1 : -1;
    const value = values[button.dataset.key];
    const keyed = rows.map((row) => [value(row), row]);
    keyed.sort((a, b) => (a[0] < b[0] ? -sign : a[0] > b[0] ? sign : a[1].number - b[1].number));
    table.tBodies[0].append(...keyed.map((pair) => pair[1]));
    if (!wanted) filter(); else reveal();
  }
  if (table) {
    reveal();
    let waiting = 0;
    search.addEventListener("input", () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(filter); });
    [...boxes, hazardous].forEach((box) => box.addEventListener("change", filter));
    table.tHead.addEventListener("click", (event) => { const button = event.target.closest("button"); if (button) sort(button); });
  }

  /* Sources: deflated, and unpacked when they are looked at. */
  async function unpacked(number) {
    const packed = part("files")[number - 1];
    if (!packed || !("DecompressionStream" in window)) return null;
    const bytes = Uint8Array.from(atob(packed), (char) => char.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return JSON.parse(await new Response(stream).text());
  }
  /* Pairs of lines [original, port]; null where a side has none. */
  function pairs(file) {
    const found = [];
    const total = file.new ? file.new.length : 0;
    if (!file.new) return file.old.map((_, index) => [index + 1, null]);
    let s = 1, p = 1;
    const stops = [...file.shifts, [total + 1, total - file.old.length]];
    for (const [stop, delta] of stops) {
      const source = stop - delta;
      while (p < stop && s < source) found.push([s++, p++]);
      while (s < source) found.push([s++, null]);
      while (p < stop) found.push([null, p++]);
    }
    return paired(found, file);
  }
  /* A changed line beside lines that only one side has: it belongs to the one that is most like it. */
  function paired(found, file) {
    for (let i = 0; i < found.length; i++) {
      const [s, p] = found[i];
      if (s === null || p === null || file.old[s - 1] === file.new[p - 1]) continue;
      let end = i + 1;
      while (end < found.length && found[end][0] === null && end - i < 40) end++;
      let best = i, most = likeness(file.old[s - 1], file.new[p - 1]);
      for (let j = i + 1; j < end; j++) { const like = likeness(file.old[s - 1], file.new[found[j][1] - 1]); if (like > most) { best = j; most = like; } }
      if (best !== i) { found[i] = [null, p]; found[best] = [s, found[best][1]]; }
      i = end - 1;
    }
    return found;
  }
  /* Share of tokens in common; blanks do not count. */
  function likeness(a, b) {
    const own = new Set(a.match(/\w+|[^\s\w]/g) || []), theirs = new Set(b.match(/\w+|[^\s\w]/g) || []);
    let both = 0;
    for (const token of own) both += theirs.has(token);
    return both / (own.size + theirs.size - both || 1);
  }
  const WORDS = /(\/\/.*|\/\*.*?(?:\*\/|$))|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(^\s*#\s*\w+)|\b(__\w+__|template|typename|const|constexpr|static|inline|void|int|unsigned|float|double|bool|char|long|short|auto|if|else|for|while|do|return|struct|class|namespace|using|extern|volatile|switch|case|break|continue|sizeof|true|false|nullptr|half|size_t|u?int\d+_t)\b|\b([A-Za-z_]\w*)(?=\s*(?:\(|<<<))/g;
  const CLASSES = ["c-c", "c-s", "c-p", "c-k", "c-f"];
  function highlighted(text) {
    if (text.length > 600) return shown(text);
    const nodes = [];
    let place = 0;
    for (const match of text.matchAll(WORDS)) {
      const group = match.slice(1).findIndex((part) => part !== undefined);
      nodes.push(...shown(text.slice(place, match.index)), el("span", { class: CLASSES[group] }, ...shown(match[0])));
      place = match.index + match[0].length;
    }
    nodes.push(...shown(text.slice(place)));
    return nodes;
  }
  /* Tokens that the other side has not got, in their order, are marked: the longest common sequence of tokens stays plain. */
  const TOKENS = /[A-Za-z_]\w*|\d[\w.']*|\s+|<<<|>>>|::|->|./gs;
  const MOST_TOKENS = 400;
  function changedPart(text, other) {
    const own = text.match(TOKENS) || [], theirs = other.match(TOKENS) || [];
    let start = 0, end = 0;
    const most = Math.min(own.length, theirs.length);
    while (start < most && own[start] === theirs[start]) start++;
    while (end < most - start && own[own.length - 1 - end] === theirs[theirs.length - 1 - end]) end++;
    const a = own.slice(start, own.length - end), b = theirs.slice(start, theirs.length - end);
    const kept = a.length <= MOST_TOKENS && b.length <= MOST_TOKENS ? common(a, b) : new Array(a.length).fill(false);
    const nodes = [], marks = [...own.map((_, i) => i < start || i >= own.length - end || kept[i - start])];
    for (let i = 0; i < own.length; ) {
      let j = i;
      while (j < own.length && marks[j] === marks[i]) j++;
      const part = own.slice(i, j).join("");
      nodes.push(...(marks[i] ? highlighted(part) : [el("em", {}, ...highlighted(part))]));
      i = j;
    }
    return nodes;
  }
  function common(a, b) {
    const width = b.length + 1, lengths = new Uint16Array((a.length + 1) * width), kept = new Array(a.length).fill(false);
    for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--)
      lengths[i * width + j] = a[i] === b[j] ? lengths[(i + 1) * width + j + 1] + 1 : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
    for (let i = 0, j = 0; i < a.length && j < b.length; )
      if (a[i] === b[j]) { kept[i] = true; i++; j++; } else if (lengths[(i + 1) * width + j] >= lengths[i * width + j + 1]) i++; else j++;
    return kept;
  }
  function outside(path, at) {
    const part = (text) => text.split("/").map(encodeURIComponent).join("/");
    const nodes = [];
    if (DATA.root) nodes.push(el("a", { class: "out", href: "vscode://file" + part(DATA.root + "/" + path) + ":" + at, "aria-label": "Open " + visible(path) + ":" + at + " in VS Code" }, "open"));
    if (DATA.link) nodes.push(el("a", { class: "out", rel: "noreferrer", href: DATA.link.replaceAll("{commit}", DATA.commit || "HEAD").replaceAll("{path}", part(path)).replaceAll("{line}", at) }, "host"));
    return nodes;
  }
  const WEIGHT = { manual: 2, review: 1, none: 0 };
  const MARK = { manual: "here", review: "here soft", none: "here fine" };
  /* The port's lines by their share of an estimate: on the charts' scale, and in words. */
  function heated(node, share) {
    if (!share) return;
    node.classList.add("heat");
    node.style.setProperty("--share", Math.round(100 * share) + "%");
    node.title = "Estimate, not measured: " + percent(share) + " of the time";
    node.prepend(el("span", { class: "share" }, percent(share)));
  }
  const percent = (share) => (share < 0.01 ? "<1" : String(Math.round(100 * share))) + "\u00a0%";
  function codeView(file, path, places, first, last, heat = new Map()) {
    const byLine = new Map();
    for (const place of places) byLine.set(place[2], [...(byLine.get(place[2]) || []), place]);
    const old = el("div", { class: "lines" }), ported = el("div", { class: heat.size ? "lines heated" : "lines" });
    let inside = false;
    for (const [s, p] of pairs(file)) {
      if (s !== null) inside = s >= first && s <= last;
      if (!inside) continue;
      const before = s === null ? null : file.old[s - 1], after = p === null ? null : file.new?.[p - 1];
      const differs = file.new && before !== after;
      const here = (s !== null && byLine.get(s)) || [];
      const worst = here.reduce((a, b) => (WEIGHT[b[1]] > WEIGHT[a] ? b[1] : a), "none");
      line(old, s, before, differs, after, "del", here.length ? MARK[worst] : "");
      if (file.new) { line(ported, p, after, differs, before, "add", ""); if (p !== null) heated(ported.lastChild, heat.get(p)); }
      const told = here.filter((place) => place[1] !== "none" || place[6]);
      for (const place of told) old.append(el("div", { class: "note " + place[1], id: "at-" + s }, el("b", {}, place[0]), " ", visible(place[4])));
      if (file.new) for (const place of told) ported.append(el("div", { class: "note " + place[1], "aria-hidden": "true", style: "visibility:hidden" }, el("b", {}, place[0]), " ", visible(place[4])));
    }
    const sides = el("div", { class: file.new ? "sides" : "sides one" },
      el("div", { class: "side", tabindex: "0", role: "region", "aria-label": "Original" }, el("h3", {}, "Original: ", el("bdi", {}, visible(path))), old),
      file.new ? el("div", { class: "side", tabindex: "0", role: "region", "aria-label": "Port" }, el("h3", {}, "Port: ", el("bdi", {}, visible(file.output || path))), ported) : null);
    requestAnimationFrame(() => { for (const side of sides.children) side.classList.toggle("more-right", side.scrollWidth > side.clientWidth + 1); });
    return el("div", { class: "code" }, sides);
  }
  function line(target, number, text, differs, other, kind, mark) {
    if (text === null || text === undefined) { target.append(el("span", { class: "ln gap" }, "\u00a0"), el("span", { class: "tx gap" }, "\u00a0")); return; }
    const nodes = differs && typeof other === "string" ? changedPart(text, other) : highlighted(text);
    target.append(el("span", { class: "ln" }, String(number)), el("span", { class: "tx " + (differs ? kind : "") + " " + mark }, ...nodes, text === "" ? "\u00a0" : ""));
  }

  /* One kernel. */
  const count = (number, word) => (number ? number.toLocaleString("en") + " " + word : null);
  /* One card per code and outcome: what it is about once, then the places. */
  function findings(places) {
    const groups = new Map();
    for (const place of places) {
      const key = [place[0], place[1], place[5], place[6] ? 1 : 0].join();
      groups.set(key, [...(groups.get(key) || []), place]);
    }
    const order = [...groups.values()].sort(([a], [b]) => !!a[6] - !!b[6] || WEIGHT[b[1]] - WEIGHT[a[1]] || a[2] - b[2]);
    const list = el("ul", { class: "findings" });
    for (const own of order) {
      const [id, effort, , , , fixed, suppressed] = own[0];
      const [name, title, explanation, hazard] = DATA.rules[id] || [id, "", "", false];
      const parts = explanation.split("\n\n").slice(1);
      const what = suppressed ? "accepted" : effort === "manual" ? "by hand" : effort === "review" ? (fixed ? "rewritten; look at it" : "look at it") : "rewritten, nothing to do";
      const messages = new Map();
      for (const place of own) { const text = place[4] + (place[6] ? " (accepted: " + place[6] + ")" : ""); messages.set(text, [...(messages.get(text) || []), place[2]]); }
      list.append(el("li", { class: "finding " + (suppressed ? "off" : effort) },
        el("p", {}, el("b", {}, id), " ", title || name, " ", hazard ? el("span", { class: "tag" }, "64 lanes") : null, " ", el("span", { class: "t-" + effort }, (own.length > 1 ? own.length + " places, " : "") + what)),
        el("ul", { class: "said" }, ...[...messages].map(([text, lines]) => el("li", {}, el("span", { class: "at" }, (lines.length > 1 ? "lines " : "line ") + [...new Set(lines)].join(", ")), el("bdi", {}, visible(text))))),
        parts.length ? el("details", { open: effort !== "none" && !suppressed }, el("summary", {}, "Why, and what to do"), ...parts.map((part) => el("p", { class: "why" }, part))) : null));
    }
    return list;
  }
  function facts(rows) {
    return el("dl", { class: "cards" }, ...rows.filter(Boolean).map(([name, value, extra]) => el("div", {}, el("dt", {}, name), el("dd", {}, value, extra ? el("small", {}, " " + extra) : null))));
  }
  function instances(kernel) {
    const built = kernel.instances.filter((one) => one[1]);
    if (built.length < 2 && !(built.length && kernel.cases.length)) return null;
    const ran = built.filter((one) => one[2]).length;
    return el("div", {}, el("p", {}, ran + " of " + built.length + " compiled instances were run; what is said of one does not hold for another."),
      el("ul", { class: "said" }, ...kernel.instances.map(([name, made, verdict]) => el("li", {}, el("span", { class: verdict ? tone(verdict) : "quiet" }, verdict ? verdict.replaceAll("-", " ") : "not run"), el("span", {}, el("code", {}, visible(name)), made ? "" : el("span", { class: "quiet" }, " (run; its name is not among those compiled)"))))));
  }
  const bytes = (n) => (n >= 1024 ? (n / 1024).toLocaleString("en", { maximumFractionDigits: 1 }) + " KiB" : n + " B");
  function builds(kernel) {
    const nodes = [];
    for (const build of kernel.builds) {
      nodes.push(el("h3", {}, el("bdi", {}, visible(build.name)), build.target ? el("span", { class: "quiet" }, " for " + build.target) : null));
      nodes.push(facts([
        build.vgprs !== null && ["VGPRs", String(build.vgprs), build.agprs ? "+ " + build.agprs + " AGPRs" : ""],
        build.sgprs !== null && ["SGPRs", String(build.sgprs)], build.lds_bytes !== null && ["LDS per block", bytes(build.lds_bytes)],
        build.scratch_bytes !== null && ["Scratch per lane", bytes(build.scratch_bytes), build.spills ? build.spills + " registers spilled" : build.scratch_bytes ? "no register spilled: arrays of its own" : ""],
        build.waves_per_simd !== null && ["Waves per SIMD", String(build.waves_per_simd), build.limited_by ? "limited by " + build.limited_by : ""],
      ]));
      for (const note of build.notes) nodes.push(el("p", { class: "quiet" }, visible(note)));
    }
    return nodes;
  }
  function ulpChart(item) {
    const values = [];
    for (const run of item.runs) for (const output of run.outputs) output.ulps.forEach((elements, index) => {
      values.push({ side: run.side + " on " + run.device, output: output.name, ulps: DATA.ulps[Math.min(index, DATA.ulps.length - 1)], rank: index, elements });
    });
    if (!values.some((value) => value.elements)) return null;
    const sides = [...new Set(values.map((value) => value.side))];
    const words = sides.map((side) => { const own = values.filter((v) => v.side === side); const all = own.reduce((a, v) => a + v.elements, 0); const exact = own.filter((v) => v.rank === 0).reduce((a, v) => a + v.elements, 0); return side + ": " + (all ? Math.round((1000 * exact) / all) / 10 : 0) + " % of " + all.toLocaleString("en") + " elements exact"; }).join("; ") + ".";
    return figure("Distance from the reference", words, {
      data: { values }, width: "container", height: 180, description: words,
      mark: { type: "bar", cornerRadiusEnd: 2 },
      encoding: {
        x: { field: "ulps", type: "ordinal", sort: DATA.ulps, title: "units in the last place", axis: { labelAngle: 0, labelOverlap: "greedy" } },
        y: { aggregate: "sum", field: "elements", type: "quantitative", title: "elements", scale: { type: "symlog" }, axis: { values: [0, 1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9], labelExpr: "datum.value < 1000 ? datum.value : format(datum.value, '~s')" } },
        xOffset: { field: "side" }, color: { field: "side", type: "nominal", scale: { domain: sides, range: RANGE }, legend: { title: null, orient: "top" } },
        tooltip: [{ field: "side" }, { field: "ulps" }, { aggregate: "sum", field: "elements", title: "elements" }],
      },
    });
  }
  function errorChart(item) {
    const values = [];
    for (const run of item.runs) for (const output of run.outputs) for (const [kind, value] of [["largest", output.max_error], ["root mean square", output.rms_error]])
      if (value > 0) values.push({ side: run.side + " on " + run.device, what: output.name + ", " + kind, error: value });
    if (!values.length) return null;
    const sides = [...new Set(values.map((value) => value.side))];
    const words = values.map((v) => v.side + ", " + v.what + ": " + v.error.toExponential(1)).join("; ") + ".";
    return figure("Error against the reference", words, {
      data: { values }, width: "container", height: { step: 26 }, description: words, mark: { type: "point", filled: true, size: 90 },
      encoding: {
        y: { field: "what", type: "nominal", title: null, axis: { labelLimit: 200 } }, x: { field: "error", type: "quantitative", title: "absolute error", scale: { type: "log" }, axis: { format: ".0e", tickCount: 5 } },
        color: { field: "side", type: "nominal", scale: { domain: sides, range: RANGE }, legend: { title: null, orient: "top" } }, tooltip: [{ field: "side" }, { field: "what" }, { field: "error" }],
      },
    });
  }
  /* Counters have units of their own: one small chart each. */
  function counterCharts(item) {
    const names = [...new Set(item.runs.flatMap((run) => Object.keys(run.counters)))];
    return names.map((name) => {
      const values = item.runs.filter((run) => name in run.counters).map((run) => ({ side: run.side + " on " + run.device, value: run.counters[name] }));
      const words = values.map((v) => v.side + ": " + v.value.toLocaleString("en", { maximumFractionDigits: 2 })).join("; ") + ".";
      const title = name.replaceAll("_", " ");
      return figure(title[0].toUpperCase() + title.slice(1), words, {
        data: { values }, description: words, width: "container", height: { step: 22 }, mark: { type: "bar", cornerRadiusEnd: 2 },
        encoding: { y: { field: "side", type: "nominal", title: null }, x: { field: "value", type: "quantitative", title: null, axis: { tickCount: 4, format: "~s" } }, color: { field: "side", type: "nominal", scale: { domain: values.map((v) => v.side), range: RANGE }, legend: null } },
      });
    });
  }
  function command(text) {
    const button = el("button", { type: "button", class: "plain" }, "Copy");
    button.addEventListener("click", () => navigator.clipboard?.writeText(text).then(() => { button.textContent = "Copied"; }));
    return el("div", { class: "command" }, el("code", {}, visible(text)), button);
  }
  const tone = (status) => (status === "passed" ? "v-good" : status === "not-run" ? "v-none" : "v-bad");
  function cases(kernel) {
    const nodes = [];
    for (const item of kernel.cases) {
      nodes.push(el("h3", {}, "Case ", el("bdi", {}, visible(item.name)), ": ", el("span", { class: tone(item.status) }, item.status.replaceAll("-", " "))));
      if (item.reason) nodes.push(el("p", {}, visible(item.reason)));
      const heads = ["code", "device", "lanes", "came to", "because"];
      const row = (status, cells) => el("tr", {}, ...cells.map((cell, index) => el("td", { "data-label": heads[index], class: heads[index] === "lanes" ? "n" : heads[index] === "came to" ? tone(status) : null }, cell)));
      const lines = [...item.runs.map((run) => row(run.status, [run.side, el("code", {}, visible(run.device)), String(run.lanes ?? "unknown"), run.status.replaceAll("-", " "), visible(run.reason)])),
        ...item.pairs.map((pair) => row(pair[1], ["compared", visible(pair[0]), "", pair[1].replaceAll("-", " "), visible(pair[2])]))];
      if (lines.length) nodes.push(el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Runs of case " + visible(item.name) }, el("table", { class: "small labelled" }, el("thead", {}, el("tr", {}, ...heads.map((name) => el("th", { scope: "col", class: name === "lanes" ? "n" : null }, name)))), el("tbody", {}, ...lines))));
      const plots = [ulpChart(item), errorChart(item), ...counterCharts(item)].filter(Boolean);
      if (plots.length) nodes.push(el("div", { class: "plots" }, ...plots));
      if (item.hidden.length) nodes.push(el("h3", {}, "What that does not show"), el("ul", { class: "hidden-things" }, ...item.hidden.map((text) => el("li", {}, visible(text)))));
      if (item.command) nodes.push(el("h3", {}, "To run it again"), command(item.command));
    }
    return nodes;
  }
  const time = (ns) => (ns < 1e3 ? ns.toFixed(0) + " ns" : ns < 1e6 ? (ns / 1e3).toPrecision(3) + " us" : (ns / 1e6).toPrecision(3) + " ms");
  /* Estimates: each with its band; the one that takes longest colours the code. */
  function estimates(kernel) {
    const heads = ["case", "shape", "warps", "estimate", "between", "limit", "waves per SIMD"];
    const body = kernel.estimates.map((one) => [one.case, one.shape, one.warp, time(one.nanoseconds), time(one.nanoseconds / one.band) + " \u2013 " + time(one.nanoseconds * one.band), one.limit + (one.tested ? "" : " (not tested)"), String(one.waves_per_simd)]);
    const nodes = [el("p", { class: "quiet" }, "Estimates for " + kernel.estimates[0].chip + " from runs on a model; nothing was measured. Left out: " + visible(DATA.left_out) + "."),
      el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Estimates" }, el("table", { class: "small labelled" }, el("thead", {}, el("tr", {}, ...heads.map((name) => el("th", { scope: "col" }, name)))),
        el("tbody", {}, ...body.map((row) => el("tr", {}, ...row.map((text, index) => el("td", { "data-label": heads[index] }, el("bdi", {}, visible(text)))))))))];
    const most = longest(kernel);
    if (most.costs.length) nodes.push(el("h3", {}, "What costs the time of ", el("bdi", {}, visible(most.case + " (" + most.shape + ")")), ", by the estimate"),
      el("ul", { class: "said" }, ...most.costs.map(([cause, share, remedy]) => el("li", {}, el("span", { class: "at" }, percent(share)), el("span", {}, visible(cause + ": " + remedy))))));
    if (most.elsewhere >= 0.01) nodes.push(el("p", { class: "quiet" }, percent(most.elsewhere) + " of the estimate lies in other files: headers and libraries."));
    return nodes;
  }
  const longest = (kernel) => kernel.estimates.reduce((a, b) => (b.nanoseconds > a.nanoseconds ? b : a));
  function visibleNeighbour(anchor, step) {
    const order = table ? [...table.tBodies[0].rows].filter((row) => row.fits).map((row) => row.querySelector("a").getAttribute("href")) : [];
    const place = order.indexOf("#" + anchor);
    return place < 0 ? null : order[place + step] || null;
  }
  function crumbs(anchor) {
    const before = visibleNeighbour(anchor, -1), after = visibleNeighbour(anchor, 1);
    return el("nav", { class: "crumbs", "aria-label": "Kernels" }, el("a", { class: "plain", href: address }, "\u2190 All kernels"), before ? el("a", { class: "plain", href: before }, "Previous") : null, after ? el("a", { class: "plain", href: after }, "Next") : null);
  }
  async function showKernel(kernel) {
    const [label, meaning] = DATA.states[kernel.state];
    const [rewritten, review, manual] = kernel.counts;
    const head = el("h1", { tabindex: "-1" }, el("bdi", {}, visible(kernel.name)));
    const left = [count(manual, "by hand"), count(review, "to review"), count(rewritten, "rewritten")].filter(Boolean).join(", ") || "nothing to do";
    const parts = [crumbs(kernel.id), head,
      el("p", { class: "signature" }, el("bdi", {}, visible(kernel.path)), ":" + kernel.line, ...outside(kernel.path, kernel.line), kernel.signature ? " (" + visible(kernel.signature) + ")" : ""),
      el("p", { class: "lead" }, el("span", { class: "badge" }, el("i", { class: "dot s-" + kernel.state }), el("strong", {}, label)), ": " + meaning + ". Places: " + left + "."),
      kernel.through.length ? el("p", {}, "Work is also left in what it calls: ", el("code", {}, visible(kernel.through.join(", "))), ".") : null];
    if (kernel.places.length) parts.push(el("h2", {}, "Findings"), findings(kernel.places));
    parts.push(el("h2", {}, "Original and port"));
    const holder = el("div", {}, el("p", { class: "quiet" }, "Unpacking ..."));
    parts.push(holder);
    if (kernel.launches.length) parts.push(el("p", { class: "quiet" }, "Launched at ", el("code", {}, visible(kernel.launches.join("; ")))));
    const told = instances(kernel);
    if (told) parts.push(el("h2", {}, "Instances"), told);
    parts.push(el("h2", {}, "Build"), ...(kernel.errors.length ? [el("ul", { class: "errors" }, ...kernel.errors.map((text) => el("li", {}, el("code", {}, visible(text)))), kernel.more ? el("li", { class: "quiet" }, "... and " + kernel.more + " more") : null)] : []), ...(kernel.builds.length ? builds(kernel) : kernel.errors.length ? [] : [el("p", { class: "quiet" }, "Not built: registers, LDS and occupancy are unknown.")]));
    if (kernel.estimates.length) parts.push(el("h2", {}, "Estimates, not measured"), ...estimates(kernel));
    parts.push(el("h2", {}, "Runs"), ...(kernel.cases.length ? cases(kernel) : [el("p", { class: "quiet" }, kernel.estimates.length ? "The runs behind the estimates compare no results: nothing is known about those." : "Not run: there is no case for this kernel, so nothing is known about its results.")]));
    detail.replaceChildren(...parts.filter(Boolean));
    document.title = visible(kernel.name) + ": porting gaps";
    head.focus({ preventScroll: true });
    const heat = new Map(kernel.estimates.length ? longest(kernel).lines : []);
    await showCode(holder, kernel.file, kernel.path, kernel.places, Math.max(1, kernel.line - 2), kernel.last + 1, heat);
    if (heat.size) { const most = longest(kernel); holder.prepend(el("p", { class: "quiet" }, "Lines of the port are coloured by their share of the estimate for ", el("bdi", {}, visible(most.case + " (" + most.shape + ")")), ".")); }
  }
  async function showCode(holder, number, path, places, first, last, heat) {
    const file = number ? await unpacked(number) : null;
    if (!file) { holder.replaceChildren(el("p", { class: "quiet" }, "The source is not at hand: run `porter report` where the paths of its JSON lead to it, or give --source and --port.")); return; }
    const view = codeView(file, path, places, first, last, heat);
    if (first === 1 && last >= file.old.length) { holder.replaceChildren(view); return; }
    const all = el("button", { type: "button", class: "plain" }, "Show the whole file");
    all.addEventListener("click", () => holder.replaceChildren(codeView(file, path, part("places")[number - 1].places, 1, Infinity, heat)));
    holder.replaceChildren(view, el("p", {}, all));
  }
  async function showFile(number, at) {
    const file = part("places")[number - 1];
    const head = el("h1", { tabindex: "-1" }, el("bdi", {}, visible(file.path)), ...outside(file.path, at || 1));
    const holder = el("div", {});
    detail.replaceChildren(crumbs(""), head, holder, el("h2", {}, "Findings"), findings(file.places));
    document.title = visible(file.path) + ": porting gaps";
    head.focus({ preventScroll: true });
    await showCode(holder, number, file.path, file.places, 1, Infinity);
    if (at) document.getElementById("at-" + at)?.scrollIntoView({ block: "center" });
  }

  /* The address says what is shown. */
  let kept = 0;
  const title = document.title;
  async function route() {
    const hash = location.hash.slice(1);
    if (table && hash.startsWith("kernels?") && location.hash !== address) recall(hash.slice(8));
    const kernel = /^k\d+$/.test(hash) ? part("kernels-data").find((one) => one.id === hash) : null;
    const file = /^f(\d+)(?::(\d+))?$/.exec(hash);
    if (!kernel && !(file && part("places")[file[1] - 1])) {
      const returning = overview.hidden;
      detail.hidden = true;
      overview.hidden = false;
      detail.replaceChildren();
      document.title = title;
      const back = kept;
      kept = 0;
      const section = hash && document.getElementById(hash.split("?")[0]);
      if (returning && back && (!section || hash.startsWith("kernels"))) scrollTo({ top: back, behavior: "instant" });
      else if (section && (returning || hash.startsWith("kernels?"))) section.scrollIntoView({ behavior: "instant" });
      redraw();
      return;
    }
    if (!overview.hidden) kept = scrollY;
    overview.hidden = true;
    detail.hidden = false;
    scrollTo({ top: 0, behavior: "instant" });
    await (kernel ? showKernel(kernel) : showFile(+file[1], file[2]));
  }
  addEventListener("hashchange", route);
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName || "") && document.activeElement.type !== "checkbox";
    if (event.key === "Escape") { if (!detail.hidden) location.hash = address; else if (typing && search.value) { search.value = ""; filter(); } return; }
    if (typing) return;
    if (event.key === "/" && search && detail.hidden) { event.preventDefault(); search.focus(); }
    if ((event.key === "n" || event.key === "p") && !detail.hidden) { const next = visibleNeighbour(location.hash.slice(1), event.key === "n" ? 1 : -1); if (next) location.hash = next; }
  });

  /* What a table or a side holds beyond its frame is said in words, too. */
  const framed = () => { for (const box of document.querySelectorAll(".scroll")) box.classList.toggle("more-right", box.scrollWidth > box.clientWidth + 1); };
  addEventListener("resize", framed);
  document.addEventListener("toggle", framed, true);

  const charts = document.getElementById("charts");
  for (const chart of DATA.charts) charts.append(figure(chart.title, chart.words, chart.spec));
  if (!DATA.charts.length) charts.remove();
  paint();
  route();
  framed();
})();
