// Light, dark, or as the system has it. The choice is kept; `data-theme` on the page says what is shown.

const NEXT = { auto: "light", light: "dark", dark: "auto" };
const KEY = "dovetail-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

function choice() {
  const kept = localStorage.getItem(KEY);
  return kept in NEXT ? kept : "auto";
}

function apply() {
  const shown = choice() === "auto" ? (system.matches ? "dark" : "light") : choice();
  const changed = document.documentElement.dataset.theme !== shown;
  document.documentElement.dataset.theme = shown;
  if (changed) document.dispatchEvent(new CustomEvent("themechange"));
}

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
  apply();
  label();
}
