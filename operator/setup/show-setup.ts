import type { Access } from '../../lambda/accounts/pages/cli/snippet.js';
import { createSnippets } from '../../lambda/accounts/pages/cli/snippets.js';
import { CommandError, type Outcome } from '../command-line.ts';
import { createSignInSnippets } from './sign-in-snippets.ts';

/** The clients by name, in the order of the page at /cli. */
export const clientNames: readonly string[] = createSnippets({ gatewayUrl: '', serviceName: '', key: '' }).map(
  ({ id }) => id,
);

/**
 * What to paste into a client: with a key the same blocks as on the page at /cli, from the same source; with the site where
 * people sign in, those by which the client gets its key itself.
 */
export function showSetup(
  { url, serviceName, contextWindow }: Omit<Access, 'gatewayUrl' | 'key'> & { readonly url: string },
  client: string,
  { key, appUrl }: { readonly key: string; readonly appUrl?: string | undefined },
): Outcome {
  const access = { gatewayUrl: url.replace(/\/$/, ''), serviceName, contextWindow };
  const snippets =
    appUrl === undefined ? createSnippets({ ...access, key }) : createSignInSnippets({ ...access, appUrl });
  const snippet = snippets.find(({ id }) => id === client);
  if (!snippet) {
    throw new CommandError(
      `${client} takes no sign-in, only a key; these do: ${snippets.map(({ id }) => id).join(', ')}`,
    );
  }
  const { title, blocks } = snippet;
  return {
    json: { client, title, blocks },
    text: blocks.map(({ title, text }) => `${title}:\n\n${text}\n`).join('\n'),
  };
}
