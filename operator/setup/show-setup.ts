import { createSnippets } from '../../lambda/wallet/pages/cli/snippets.js';
import type { Outcome } from '../outcome.ts';

/** The placeholder for a key. Like any word that is not a key, it makes its sender a guest. */
export const placeholderKey = 'YOUR_KEY';

/** The clients by name, in the order of the page at /cli. */
export const clientNames: readonly string[] = createSnippets({ gatewayUrl: '', serviceName: '', key: '' }).map(
  ({ id }) => id,
);

/** What to paste into a client: the same blocks as on the page at /cli, from the same source. */
export function showSetup(
  { url, serviceName }: { readonly url: string; readonly serviceName: string },
  client: string,
  key: string,
): Outcome {
  const snippets = createSnippets({ gatewayUrl: url.replace(/\/$/, ''), serviceName, key });
  const snippet = snippets.find(({ id }) => id === client);
  if (!snippet) throw new Error(`there is no client ${client}`);
  const { title, blocks } = snippet;
  return {
    json: { client, title, blocks },
    text: blocks.map(({ title, text }) => `${title}:\n\n${text}\n`).join('\n'),
  };
}
