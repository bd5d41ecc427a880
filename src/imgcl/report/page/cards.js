// What was entered: labels by card, in the order they came; kept in the browser under the key of the batch.
const content = JSON.parse(document.getElementById("content").textContent);
const cards = content.cards;
const before = content.classes; // labels of earlier batches, by class
const reserved = new Set(content.reserved);

// labels: card -> class; history: what undo takes back, [card, the label it had or null]; extra: classes typed here.
const entered = { labels: {}, history: [], extra: [], at: 0 };
let kept = true; // whether the browser keeps what is entered

function restore() {
  try {
    const stored = JSON.parse(localStorage.getItem(content.key) ?? "null");
    if (stored && typeof stored === "object") Object.assign(entered, stored);
  } catch {
    kept = false;
  }
  entered.at = Math.min(Math.max(0, entered.at | 0), cards.length - 1);
}

function keep() {
  try {
    localStorage.setItem(content.key, JSON.stringify(entered));
  } catch {
    kept = false;
  }
}

const labelOf = (card) => entered.labels[card] ?? null;
const labelled = () => Object.keys(entered.labels).length;

function setLabel(card, label) {
  entered.history.push([card, labelOf(card)]);
  if (label === null) delete entered.labels[card];
  else entered.labels[card] = label;
}

function takeBack() {
  const last = entered.history.pop();
  if (!last) return null;
  if (last[1] === null) delete entered.labels[last[0]];
  else entered.labels[last[0]] = last[1];
  return last[0];
}

// Classes in the order of their keys: those of the file first, then those typed here.
function classNames() {
  return [...Object.keys(before).sort(), ...entered.extra];
}

function classCounts() {
  const counts = new Map(classNames().map((name) => [name, before[name] ?? 0]));
  Object.values(entered.labels).forEach((name) => counts.set(name, (counts.get(name) ?? 0) + 1));
  return counts;
}

// The file as it was, with the labels that were entered; quotes where CSV needs them.
function csvText() {
  const cell = (text) => (/[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const rows = content.rows.map((row) => [...row]);
  Object.entries(entered.labels).forEach(([card, label]) => {
    rows[cards[card].row][1] = label;
  });
  return `${[content.columns, ...rows].map((row) => row.map(cell).join(",")).join("\n")}\n`;
}
