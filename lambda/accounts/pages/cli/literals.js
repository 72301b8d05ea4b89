/**
 * How a language writes values.
 * @typedef {{ quote: string, space: string, name: (name: string) => string, words: Record<string, string> }} Style
 */

/** @type {Style} */
export const json = { quote: '"', space: '', name: (name) => `"${name}"`, words: {} };
/** @type {Style} */
export const script = {
  quote: "'",
  space: ' ',
  name: (name) => (/^[a-z_]\w*$/i.test(name) ? name : `'${name}'`),
  words: {},
};
/** @type {Style} */
export const python = { ...json, words: { true: 'True', false: 'False', null: 'None' } };

/** The longest line that is not broken, where that is possible. */
const widest = 80;

/**
 * Writes a value as people do: what fits on a line stands on one.
 * @param {unknown} value
 * @param {Style} style
 * @param {string} indent of the line that it begins on
 * @param {string} step of each level
 * @returns {string}
 */
function layOut(value, style, indent, step) {
  const line = onOneLine(value, style);
  if (indent.length + line.length <= widest || typeof value !== 'object' || value === null) return line;
  const inner = indent + step;
  const isArray = Array.isArray(value);
  const members = isArray
    ? value.map((one) => layOut(one, style, inner, step))
    : Object.entries(value).map(([name, member]) => `${style.name(name)}: ${layOut(member, style, inner, step)}`);
  const [open, close] = isArray ? '[]' : '{}';
  // JSON takes no comma after the last one.
  const last = style === json ? '' : ',';
  return `${open}\n${members.map((member) => inner + member).join(',\n')}${last}\n${indent}${close}`;
}

/**
 * @param {unknown} value
 * @param {Style} style
 * @returns {string}
 */
function onOneLine(value, style) {
  if (typeof value === 'string') return quoted(value, style);
  if (Array.isArray(value)) return `[${value.map((one) => onOneLine(one, style)).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return style.words[String(value)] ?? String(value);
  const members = Object.entries(value).map(([name, member]) => `${style.name(name)}: ${onOneLine(member, style)}`);
  return `{${style.space}${members.join(', ')}${style.space}}`;
}

const quoted = (/** @type {string} */ text, /** @type {Style} */ { quote }) =>
  quote === '"'
    ? JSON.stringify(text)
    : `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;

/** JSON as people write it. */
export const layOutJson = (/** @type {unknown} */ value, indent = '') => layOut(value, json, indent, '  ');

/**
 * The members of a body, each on a line.
 * @param {Record<string, unknown>} body
 * @param {Style} style
 * @param {{ indent: string, colon: string, plainNames?: boolean, last: string }} form
 */
export function layOutMembers(body, style, { indent, colon, plainNames = false, last }) {
  const members = Object.entries(body).map(
    ([name, member]) =>
      `${indent}${plainNames ? name : style.name(name)}${colon}${layOut(member, style, indent, style === python ? '    ' : '  ')}`,
  );
  return `${members.join(',\n')}${last}`;
}
