import { type Access, type Block, placeholderKey } from '../../lambda/accounts/pages/cli/snippet.js';
import { createSnippets } from '../../lambda/accounts/pages/cli/snippets.js';
import type { Outcome } from '../command-line.ts';
import { createSignInSnippets } from './sign-in-snippets.ts';

/** The clients by name, in the order of the page at /cli. */
export const clientNames: readonly string[] = createSnippets({ gatewayUrl: '', serviceName: '', key: '' }).map(
  ({ id }) => id,
);

type Told = Omit<Access, 'gatewayUrl' | 'key'> & { readonly url: string; readonly appUrl?: string | undefined };

/**
 * What to paste into a client: the same blocks as on the page at /cli, from the same source. Whoever has no key is also shown how
 * the client gets one by a sign-in, where people can sign in from a terminal.
 */
export function showSetup({ url, appUrl, ...told }: Told, client: string, key?: string): Outcome {
  const access = { ...told, gatewayUrl: url.replace(/\/$/, '') };
  const snippet = createSnippets({ ...access, key: key ?? placeholderKey }).find(({ id }) => id === client);
  if (!snippet) throw new Error(`there is no client ${client}`);
  const { title, blocks } = snippet;
  const ways = key === undefined && appUrl !== undefined ? createSignInSnippets({ ...access, appUrl }) : [];
  const signIn = ways.find(({ id }) => id === client)?.blocks;
  const render = (shown: readonly Block[]) => shown.map(({ title, text }) => `${title}:\n\n${text}\n`).join('\n');
  return {
    json: { client, title, blocks, ...(signIn && { signIn }) },
    text: render(blocks) + (signIn ? `\nOr without a key, by signing in:\n\n${render(signIn)}` : ''),
  };
}
