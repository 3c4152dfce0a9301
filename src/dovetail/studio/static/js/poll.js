// Looking again and again, as long as somebody can see the page: a hidden tab asks nothing.

// Calls `look` at once and then every `pause` milliseconds, never twice at a time, and once more when the tab is shown
// again. `look` may return how long to wait this time, or false when there is nothing more to see. Returns what ends it.
export function poll(look, pause) {
  let ended = false;
  let busy = false;
  let timer = 0;

  function end() {
    ended = true;
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", turn);
  }

  async function turn() {
    clearTimeout(timer);
    if (ended || busy || document.hidden) return;
    busy = true;
    const next = await look();
    busy = false;
    if (next === false) end();
    else if (!ended) timer = setTimeout(turn, next ?? pause);
  }

  document.addEventListener("visibilitychange", turn);
  turn();
  return end;
}
