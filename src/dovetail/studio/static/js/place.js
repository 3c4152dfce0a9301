// Where one is: "#/networks?file=a.safetensors" is the view "networks" with a parameter. A reload keeps it.

export function readPlace() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
  return { name: path, parameters: Object.fromEntries(new URLSearchParams(query)) };
}

// The address of a view, for links.
export function placeOf(name, values = {}) {
  const kept = Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const query = new URLSearchParams(kept);
  return `#/${name}${query.size ? `?${query}` : ""}`;
}

function note(name, values, how) {
  const place = placeOf(name, values);
  if (readPlace().name === name && place !== location.hash) history[how](null, "", place);
}

// Notes what is shown in the address, without showing the view anew.
export function setParameters(name, values) {
  note(name, values, "replaceState");
}

// The same for what somebody has chosen: a step of its own, which the back button takes back.
export function choose(name, values) {
  note(name, values, "pushState");
}

// Goes to a view.
export function goTo(name, values = {}) {
  location.hash = placeOf(name, values);
}
