// The server's answers, as values; what it refuses, as errors with its own words and its `status`.

async function ask(method, path, body) {
  const change = method !== "GET";
  let answer;
  try {
    answer = await fetch(path, {
      method,
      headers: change ? { "Content-Type": "application/json" } : {},
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new Error("The studio does not answer. Is it still running in its terminal?");
  }
  const value = await answer.json().catch(() => null);
  if (!answer.ok) {
    const error = new Error(value?.error ?? `The studio answered with status ${answer.status}.`);
    throw Object.assign(error, { status: answer.status });
  }
  return value;
}

// `parameters` become the query; those that are null or undefined are left out, lists are repeated.
export function get(path, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined) query.append(name, one);
    }
  }
  return ask("GET", query.size ? `${path}?${query}` : path);
}

export const post = (path, body = {}) => ask("POST", path, body);

export const remove = (path) => ask("DELETE", path);
