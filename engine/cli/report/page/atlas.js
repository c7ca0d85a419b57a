// The tree of a catalogue, cut again as thresholds move. Peaks are numbered by falling density: of two
// numbers the lesser is the greater peak.
const bytes = text => Uint8Array.from(atob(text), letter => letter.charCodeAt(0)).buffer;
const reals = text => new Float64Array(bytes(text));
const words = text => new Uint32Array(bytes(text));
const tree = {
  density: reals(packed.density),
  mass: reals(packed.mass),
  cells: words(packed.cells),
  deaths: words(packed.deaths),
  saddle: reals(packed.saddle),
  parts: packed.prominence && reals(packed.prominence.parts),
  elder: packed.prominence && words(packed.prominence.elder),
};
const NONE = 0xffffffff;
const persistence = (rho, saddle) => about.isDifference ? rho - saddle : rho / saddle;

// The end of each chain of targets; a peak without a target ends its own.
const ends = target => {
  const end = Uint32Array.from(target);
  const find = peak => {
    let root = peak;
    while (end[root] !== root) root = end[root];
    while (end[peak] !== root) [end[peak], peak] = [root, end[peak]];
    return root;
  };
  for (let peak = 0; peak < end.length; peak++) find(peak);
  return end;
};

// Whether a part above a saddle is shot noise, in a clump of this mass.
const isShotNoise = (significance, mass, ofClump, least) => {
  const needed = mass < 0.02 * ofClump ? 2 * least : mass < 0.03 * ofClump ? least : Math.min(least, 1);
  return significance < needed;
};

// The clump of each patch.
const clumpsOf = (relevance, significance) => {
  const n = tree.density.length;
  const target = Uint32Array.from({ length: n }, (_, peak) => peak);
  const dying = [];
  for (let i = 0; i < tree.saddle.length; i++) {
    const peak = tree.deaths[3 * i];
    if (persistence(tree.density[peak], tree.saddle[i]) < relevance) target[peak] = tree.deaths[3 * i + 2];
    else dying.push(peak);
  }
  let clump = ends(target);
  while (tree.parts && significance > 0) {
    const mass = new Float64Array(n);
    for (let peak = 0; peak < n; peak++) mass[clump[peak]] += tree.mass[peak];
    const found = dying.filter(peak => {
      if (target[peak] !== peak) return false;
      const [own, above, ofElder, elderAbove] = tree.parts.subarray(4 * peak, 4 * peak + 4);
      return isShotNoise(own, above, mass[peak], significance)
        || isShotNoise(ofElder, elderAbove, Infinity, significance)
        && isShotNoise(ofElder, elderAbove, mass[tree.elder[peak]], significance);
    });
    if (found.length === 0) break;
    for (const peak of found) target[peak] = tree.elder[peak];
    clump = ends(target);
  }
  return clump;
};

// The highest level: the number of rounds in which these clumps merge. A clump takes its turn when all that
// die into it have merged; it waits while the clump at the other end of its saddle is lower.
const roundsOf = (merging, endpoint, heir) => {
  const n = tree.density.length;
  const before = new Uint32Array(n), label = Uint32Array.from({ length: n }, (_, peak) => peak);
  const waiting = new Map();
  const root = peak => {
    let end = peak;
    while (label[end] !== end) end = label[end];
    while (label[peak] !== end) [label[peak], peak] = [end, label[peak]];
    return end;
  };
  let ready = [];
  const takeTurn = peak => {
    const other = root(endpoint[peak]);
    if (other < peak) ready.push(peak);
    else waiting.set(other, [...(waiting.get(other) ?? []), peak]);
  };
  for (const peak of merging) before[heir[peak]] += 1;
  for (const peak of merging) if (before[peak] === 0) takeTurn(peak);
  let round = 0;
  while (ready.length > 0) {
    round += 1;
    const now = ready;
    ready = [];
    for (const peak of now) label[peak] = endpoint[peak];
    const parents = now.map(root);
    now.forEach((dead, i) => {
      const parent = parents[i], next = heir[dead];
      before[next] -= 1;
      if (before[next] === 0 && endpoint[next] !== NONE) takeTurn(next);
      const left = waiting.get(dead) ?? [];
      waiting.delete(dead);
      const still = left.filter(peak => parent > peak);
      ready.push(...left.filter(peak => parent < peak));
      if (still.length > 0) waiting.set(parent, [...(waiting.get(parent) ?? []), ...still]);
    });
  }
  return round;
};

// Clumps and haloes at these thresholds, in the units of recut: counts, levels, and masses.
const cut = of => {
  const n = tree.density.length;
  const relevance = about.isDifference ? of.relevance * about.unit : of.relevance;
  const clump = clumpsOf(relevance, of.significance ?? 0);
  const ofHaloes = (of.halo_relevance || 0) * (about.isDifference ? about.unit : 1);
  const saddle = of.saddle > 0 ? of.saddle * about.unit + about.lift : Infinity;
  const halo = Uint32Array.from({ length: n }, (_, peak) => peak);
  const endpoint = new Uint32Array(n).fill(NONE), heir = new Uint32Array(n).fill(NONE);
  const key = new Float64Array(n), merging = [];
  const root = peak => {
    let end = peak;
    while (halo[end] !== end) end = halo[end];
    while (halo[peak] !== end) [halo[peak], peak] = [end, halo[peak]];
    return end;
  };
  for (let i = 0; i < tree.saddle.length; i++) {
    const peak = tree.deaths[3 * i];
    if (clump[peak] !== peak) continue;
    const sides = [clump[tree.deaths[3 * i + 1]], clump[tree.deaths[3 * i + 2]]];
    for (const side of sides) if (key[side] === 0) key[side] = tree.saddle[i];
    if (tree.saddle[i] > saddle || persistence(tree.density[peak], tree.saddle[i]) < ofHaloes) {
      endpoint[peak] = sides[1];
      heir[peak] = root(sides[1]);
      halo[peak] = heir[peak];
      merging.push(peak);
    }
  }
  const isListed = peak => clump[peak] === peak
    && !(key[peak] === 0 && persistence(tree.density[peak], about.densityThreshold) < relevance);
  const mass = new Float64Array(n), haloMass = new Float64Array(n), cells = new Float64Array(n);
  for (let peak = 0; peak < n; peak++) {
    mass[clump[peak]] += tree.mass[peak];
    const whole = root(clump[peak]);
    haloMass[whole] += tree.mass[peak];
    cells[whole] += tree.cells[peak];
  }
  const least = of.mass > 0 || !about.belowZero ? of.mass * about.massUnit : -Infinity;
  const clumps = [], haloes = [];
  for (let peak = 0; peak < n; peak++) {
    if (!isListed(peak)) continue;
    const whole = root(peak);
    if (!(haloMass[whole] > least && cells[whole] >= about.minCells)) continue;
    clumps.push(mass[peak]);
    if (whole === peak) haloes.push(haloMass[peak]);
  }
  return { clumps, haloes, levels: roundsOf(merging, endpoint, heir) };
};

// Cumulative mass functions as lines of an SVG with axes.
const drawFunctions = (svg, lists) => {
  const [left, top, right, bottom] = [90, 20, 840, 560];
  const all = lists.flatMap(list => list.masses).filter(mass => mass > 0);
  if (all.length === 0) { svg.replaceChildren(); return; }
  const low = Math.log10(all.reduce((a, b) => Math.min(a, b))) - 0.1;
  const high = Math.log10(all.reduce((a, b) => Math.max(a, b))) + 0.1;
  const most = Math.log10(lists.reduce((a, list) => Math.max(a, list.masses.length), 2)) + 0.15;
  const x = mass => left + (Math.log10(mass) - low) / (high - low) * (right - left);
  const y = n => bottom - Math.log10(n) / most * (bottom - top);
  const part = (name, attributes, text) => {
    const node = document.createElementNS(svg.namespaceURI, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const parts = [part('rect', { x: left, y: top, width: right - left, height: bottom - top, fill: 'none', stroke: 'currentColor' })];
  const label = { fill: 'currentColor', 'font-size': 18 };
  for (let power = Math.ceil(low); power <= high; power++) {
    parts.push(part('text', { x: x(10 ** power), y: bottom + 26, 'text-anchor': 'middle', ...label }, `1e${power}`));
  }
  for (let power = 0; power <= most; power++) {
    parts.push(part('text', { x: left - 8, y: y(10 ** power) + 6, 'text-anchor': 'end', ...label }, `${10 ** power}`));
  }
  for (const { masses, colour } of lists) {
    const falling = Float64Array.from(masses.filter(mass => mass > 0)).sort().reverse();
    let before = [Infinity, Infinity];
    const points = [];
    falling.forEach((mass, i) => {
      const at = [x(mass), y(i + 1)];
      if (i + 1 === falling.length || Math.abs(at[0] - before[0]) + Math.abs(at[1] - before[1]) > 1) {
        points.push(at.map(value => value.toFixed(1)).join(','));
        before = at;
      }
    });
    parts.push(part('polyline', { points: points.join(' '), fill: 'none', stroke: colour, 'stroke-width': 3 }));
  }
  svg.replaceChildren(...parts);
};

// Sliders go by equal ratios between the ends; numbers may be typed beyond.
const state = Object.fromEntries(about.thresholds.map(of => [of.id, of.own ?? 0]));
if (!('relevance' in state)) state.relevance = about.relevance;
if (!('mass' in state)) state.mass = 0;
// Haloes are made by one of these; 0 is neither.
const instead = { saddle: 'halo_relevance', halo_relevance: 'saddle' };
const own = cut(state);
const byId = id => document.getElementById(id);
const show = () => {
  const found = cut(state);
  const sum = found.haloes.reduce((a, b) => a + b, 0);
  const counts = { clumps: found.clumps.length, haloes: found.haloes.length, levels: found.levels, mass: sum };
  for (const [id, value] of Object.entries(counts)) {
    byId('n-' + id).textContent = id === 'mass' ? value.toPrecision(6) : value.toLocaleString('en').replaceAll(',', ' ');
    byId('n-' + id).dataset.value = value;
  }
  const grey = '#999999';
  drawFunctions(document.querySelector('#live svg'), [
    { masses: own.clumps, colour: grey },
    { masses: own.haloes, colour: grey },
    { masses: found.clumps, colour: '#0072b2' },
    { masses: found.haloes, colour: '#d55e00' },
  ]);
  const changed = about.thresholds.filter(of => state[of.id] !== (of.own ?? 0) && !(of.id in instead && state[of.id] === 0));
  const options = changed.map(of => ` --${of.option} ${state[of.id]}`).join('');
  byId('recut').textContent = `inselberg recut ${about.catalogue} -o recut.hdf5${options}`;
};
// Once per picture of the screen, however fast a slider moves.
let isAwaited = false;
const showSoon = () => {
  if (isAwaited) return;
  isAwaited = true;
  requestAnimationFrame(() => { isAwaited = false; show(); });
};
const place = ({ ends: [low, high] }, value) => Math.round(1000 * Math.log(Math.max(value, low) / low) / Math.log(high / low));
const setters = {};
const change = (id, value) => {
  setters[id](value);
  if (value > 0 && instead[id] in setters) setters[instead[id]](0);
};
for (const of of about.thresholds) {
  const [slider, number] = [byId(of.id + '-slider'), byId(of.id)];
  const [low, high] = of.ends;
  const set = value => {
    state[of.id] = value;
    slider.value = place(of, value);
    if (Number(number.value) !== value || number.value === '') number.value = value;
  };
  setters[of.id] = set;
  set(state[of.id]);
  slider.addEventListener('input', () => {
    change(of.id, Number((low * (high / low) ** (slider.value / 1000)).toPrecision(4)));
    showSoon();
  });
  number.addEventListener('change', () => {
    const value = Number(number.value);
    if (number.value !== '' && value >= 0) change(of.id, value);
    show();
  });
  byId('reset').addEventListener('click', () => { set(of.own ?? 0); show(); });
}
show();
