/**
 * The facts needed to set up a client.
 * @typedef {{ gatewayUrl: string, serviceName: string, key: string }} Access
 *
 * A whole file or command. Its title says where it goes: a path, or the program to paste it into.
 * @typedef {{ title: string, text: string }} Block
 *
 * @typedef {{ id: string, title: string, blocks: Block[] }} Snippet
 */

/** In tokens. Clients assume a smaller window for a model that they don't know, and would drop history too early. */
export const contextWindow = 1_000_000;

/** The longest answer, for clients that must be told. Models that write less refuse a higher number. */
export const outputLimit = 32_000;

export const lines = (/** @type {string[]} */ ...all) => all.join('\n');

export const exports = (/** @type {Record<string, string | number>} */ variables) =>
  Object.entries(variables).map(([name, value]) => `export ${name}=${value}`);

export const toJson = (/** @type {unknown} */ value) => JSON.stringify(value, null, 2);
