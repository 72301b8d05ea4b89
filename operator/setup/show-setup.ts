import type { Access } from '../../lambda/accounts/pages/cli/snippet.js';
import { createSnippets } from '../../lambda/accounts/pages/cli/snippets.js';
import type { Outcome } from '../command-line.ts';

/** The clients by name, in the order of the page at /cli. */
export const clientNames: readonly string[] = createSnippets({ gatewayUrl: '', serviceName: '', key: '' }).map(
  ({ id }) => id,
);

/** What to paste into a client: the same blocks as on the page at /cli, from the same source. */
export function showSetup(
  { url, serviceName, contextWindow }: Omit<Access, 'gatewayUrl' | 'key'> & { readonly url: string },
  client: string,
  key: string,
): Outcome {
  const snippets = createSnippets({ gatewayUrl: url.replace(/\/$/, ''), serviceName, contextWindow, key });
  const snippet = snippets.find(({ id }) => id === client);
  if (!snippet) throw new Error(`there is no client ${client}`);
  const { title, blocks } = snippet;
  return {
    json: { client, title, blocks },
    text: blocks.map(({ title, text }) => `${title}:\n\n${text}\n`).join('\n'),
  };
}
