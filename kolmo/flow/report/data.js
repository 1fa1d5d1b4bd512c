"use strict";
// The network, read from the element kolmo-data, and how its numbers are written.
const page = (() => {
  const data = JSON.parse(document.getElementById("kolmo-data").textContent);
  const n = data.variables.length;
  const digit = new Uint8Array(128);
  [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"].forEach((c, i) => { digit[c.charCodeAt(0)] = i; });
  const unpack = ({ codes, characters }) => {
    const out = new Uint32Array(codes.length / characters);
    for (let i = 0, at = 0; i < out.length; ++i) {
      let code = 0;
      for (let c = 0; c < characters; ++c) code = code * 64 + digit[codes.charCodeAt(at++)];
      out[i] = code;
    }
    return out;
  };
  const numbers = (grid) => (grid ? Float64Array.from(unpack(grid), (code) => (code ? grid.low + (code - 1) * grid.step : NaN))
    : new Float64Array(n * n).fill(NaN));

  const value = numbers(data.value), mean = numbers(data.mean), std = numbers(data.std), q95 = numbers(data.q95);
  const lags = unpack(data.lag), levels = unpack(data.p);
  const profiles = numbers(data.profiles);
  const profiled = data.profiled ? new Map(Array.from(unpack(data.profiled), (cell, i) => [cell, i])) : null;

  const biasCorrected = (cell) => value[cell] - mean[cell];
  const measures = {
    bias: { name: "Bias-corrected transfer entropy", units: data.units, of: biasCorrected },
    z: { name: "z, in standard deviations of the surrogates", units: "", of: (cell) => biasCorrected(cell) / std[cell] },
    value: { name: "Transfer entropy", units: data.units, of: (cell) => value[cell] },
  };
  if (!data.compared) { delete measures.bias; delete measures.z; }

  const number = (x, digits = 3) => {
    if (!Number.isFinite(x)) return "\u2013";
    if (x === 0) return "0";
    const size = Math.floor(Math.log10(Math.abs(x)));
    const text = size < -5 || size >= digits ? x.toExponential(digits - 1).replace(/\.?0+e/, "e") : String(Number(x.toPrecision(digits)));
    return text.replaceAll("-", "\u2212");
  };
  const lagText = (lag) => (data.unit === undefined ? String(lag) : `${lag} (${Number((lag * data.step).toPrecision(6))} ${data.unit})`);

  return {
    data, n, measures, number, lagText,
    name: (variable) => data.variables[variable],
    exists: (cell) => lags[cell] > 0 && Math.floor(cell / n) !== cell % n,
    significant: (cell) => lags[cell] > 0 && (lags[cell] - 1) % 2 === 1,
    lag: (cell) => Math.floor((lags[cell] - 1) / 2),
    link(cell) {
      const [p, adjusted, floor] = levels[cell] ? data.levels[levels[cell] - 1] : [NaN, NaN];
      return {
        source: Math.floor(cell / n), target: cell % n, lag: this.lag(cell), significant: this.significant(cell),
        value: value[cell], bias: biasCorrected(cell), z: biasCorrected(cell) / std[cell], q95: q95[cell],
        p, pText: floor ? floor.replace("<=", "\u2264") : number(p), adjusted,
      };
    },
    // The transfer entropy at lags 1, 2, ..., or null if the page does not hold it.
    profile(cell) {
      const at = profiled ? profiled.get(cell) : cell;
      if (at === undefined || !data.lags) return null;
      return Array.from(profiles.subarray(at * data.lags, (at + 1) * data.lags));
    },
    describe(cell) {
      const l = this.link(cell);
      const lines = [`${this.name(l.source)} \u2192 ${this.name(l.target)}`,
        `TE ${number(l.value)} ${data.units} at lag ${lagText(l.lag)}`];
      if (data.compared) lines.push(`bias-corrected ${number(l.bias)}, z ${number(l.z)}`);
      if (data.tested) {
        lines.push(`p ${l.pText}, adjusted ${number(l.adjusted)}`);
        if (!l.significant) lines.push("not significant");
      }
      return lines.join("\n");
    },
  };
})();

// An element with attributes and children, which are elements or text.
const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, text] of Object.entries(attributes)) element.setAttribute(name, text);
  element.append(...children);
  return element;
};
const draw = (tag, attributes = {}, ...children) => {
  const element = document.createElementNS(document.querySelector("svg").namespaceURI, tag);
  for (const [name, text] of Object.entries(attributes)) element.setAttribute(name, text);
  element.append(...children);
  return element;
};
