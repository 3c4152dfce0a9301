// Light, dark, or as the system has it. The choice is kept; `data-theme` on the page says what is shown.

const NEXT = { auto: "light", light: "dark", dark: "auto" };
const KEY = "dovetail-theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const forced = matchMedia("(forced-colors: active)");

function choice() {
  const kept = localStorage.getItem(KEY);
  return kept in NEXT ? kept : "auto";
}

const tell = () => document.dispatchEvent(new CustomEvent("themechange"));

function show(theme) {
  const changed = document.documentElement.dataset.theme !== theme;
  document.documentElement.dataset.theme = theme;
  if (changed) tell();
}

const apply = () => show(choice() === "auto" ? (system.matches ? "dark" : "light") : choice());

// Makes a button switch the theme and say which it is.
export function startTheme(button) {
  const label = () => {
    button.textContent = `Theme: ${choice()}`;
    button.title = `Switch to ${NEXT[choice()]}`;
  };
  button.addEventListener("click", () => {
    localStorage.setItem(KEY, NEXT[choice()]);
    apply();
    label();
  });
  system.addEventListener("change", apply);
  forced.addEventListener("change", tell);
  addEventListener("beforeprint", () => show("light")); // as paper is
  addEventListener("afterprint", apply);
  apply();
  label();
}
