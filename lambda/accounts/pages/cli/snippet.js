/**
 * The facts needed to set up a client.
 * `contextWindow` is in tokens, where it is known. Clients assume a smaller one for a model that they don't know, and would
 * drop history too early.
 * @typedef {{ gatewayUrl: string, serviceName: string, key: string, contextWindow?: number | undefined }} Access
 *
 * A whole file or command. Its title says where it goes: a path, or the program to paste it into.
 * @typedef {{ title: string, text: string }} Block
 *
 * @typedef {{ id: string, title: string, blocks: Block[] }} Snippet
 */

/** The placeholder for a key. Like any word that is not a key, it makes its sender a guest. */
export const placeholderKey = 'YOUR_KEY';

/**
 * The longest answer, for clients that must be told: a quarter of a small window, so that there is room for the question.
 * Models that write less refuse a higher number.
 */
export const outputLimitOf = (/** @type {Access['contextWindow']} */ contextWindow = Number.POSITIVE_INFINITY) =>
  Math.min(32_000, Math.floor(contextWindow / 4));

export const lines = (/** @type {string[]} */ ...all) => all.join('\n');

/** Variables without a value are left out, as JSON does it. */
export const exports = (/** @type {Record<string, string | number | undefined>} */ variables) =>
  Object.entries(variables).flatMap(([name, value]) =>
    value === undefined ? [] : [`export ${name}=${`${value}`.includes(' ') ? `'${value}'` : value}`],
  );

export const toJson = (/** @type {unknown} */ value) => JSON.stringify(value, null, 2);
