/**
 * What has to be known to set up a client.
 * @typedef {{ gatewayUrl: string, serviceName: string, key: string }} Access
 *
 * A whole file or a whole command. Its title says where it belongs: a path, or what it is pasted into.
 * @typedef {{ title: string, text: string }} Block
 *
 * @typedef {{ id: string, title: string, blocks: Block[] }} Snippet
 */

/** In tokens. Clients guess a smaller one for a model that they don't know, and forget what was said before its time. */
export const contextWindow = 1_000_000;

/** What clients ask for at most where they want to be told; models that write less refuse more. */
export const outputLimit = 32_000;

export const lines = (/** @type {string[]} */ ...all) => all.join('\n');

export const exports = (/** @type {Record<string, string | number>} */ variables) =>
  Object.entries(variables).map(([name, value]) => `export ${name}=${value}`);

export const toJson = (/** @type {unknown} */ value) => JSON.stringify(value, null, 2);
