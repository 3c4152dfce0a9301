// What a network is made of: who is connected with whom, unit by unit and module by module, and all of it in words.

const listed = (words, most = 12) =>
  words.length <= most ? words.join(", ") : `${words.slice(0, most).join(", ")} and ${words.length - most} more`;
export const counted = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;

export function readGraph({ units, edges, modules, layers, grey }) {
  const last = layers.length - 1;
  const into = units.layer.map(() => []);
  const outOf = units.layer.map(() => []);
  const between = new Map(); // edges from module to module, by "from to"
  for (let e = 0; e < edges.length; e += 2) {
    const [from, to] = [edges[e], edges[e + 1]];
    outOf[from].push(to);
    into[to].push(from);
    const [a, b] = [units.module[from], units.module[to]];
    if (a !== b && a >= 0 && b >= 0) between.set(`${a} ${b}`, (between.get(`${a} ${b}`) || 0) + 1);
  }
  const members = modules.map(() => []);
  units.module.forEach((m, u) => m >= 0 && members[m].push(u));

  const isEnd = (u) => units.layer[u] === 0 || units.layer[u] === last;
  const moduleName = (m) => (m < 0 ? "no module" : modules[m].name);
  const colour = (m) => (m < 0 ? grey : modules[m].colour);

  const describeModule = (m) => {
    const others = (mine, other) =>
      [...between.keys()].map((key) => key.split(" ").map(Number)).filter((pair) => pair[mine] === m)
        .sort((p, q) => p[other] - q[other])
        .map((pair) => `${moduleName(pair[other])} (${counted(between.get(pair.join(" ")), "edge")})`);
    const ends = [0, last].map((layer) => members[m].filter((u) => units.layer[u] === layer).map((u) => units.name[u]));
    const [from, to] = [others(1, 0), others(0, 1)];
    return [
      `${modules[m].name}: ${modules[m].text}`,
      ...(modules[m].says ?? []),
      ends[0].length ? `inputs ${listed(ends[0])}` : "",
      ends[1].length ? `outputs ${listed(ends[1])}` : "",
      from.length ? `fed by ${listed(from)}` : "",
      to.length ? `feeds ${listed(to)}` : "",
    ].filter(Boolean).join(" · ");
  };
  const describeUnits = (list) => {
    if (isEnd(list[0])) return listed(list.map((u) => units.name[u]));
    return `${layers[units.layer[list[0]]]}: ${listed(list.map((u) => units.number[u] + 1))}`;
  };
  const describeUnit = (u) => {
    const kind = units.layer[u] === 0 ? "input" : "output";
    return [
      isEnd(u) ? `${kind} ${units.name[u]}` : `${layers[units.layer[u]]}, unit ${units.number[u] + 1}`,
      units.says?.[u],
      moduleName(units.module[u]),
      into[u].length ? `from ${describeUnits(into[u])}` : "",
      outOf[u].length ? `to ${describeUnits(outOf[u])}` : "",
    ].filter(Boolean).join(" · ");
  };
  return { last, into, outOf, between, members, colour, describeModule, describeUnit };
}
