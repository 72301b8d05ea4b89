import {
  type Access,
  type Block,
  lines,
  placeholderKey,
  type Snippet,
  toJson,
} from '../lambda/accounts/pages/cli/snippet.js';
import { createSnippets } from '../lambda/accounts/pages/cli/snippets.js';
import { claudeCodeModel, createAgentSnippets } from '../lambda/accounts/pages/cli/snippets-agents.js';
import type { Outcome } from './command-line.ts';

/** The clients' names, in the order of the page /cli. */
export const clientNames: readonly string[] = createSnippets({ gatewayUrl: '', serviceName: '', key: '' }).map(
  ({ id }) => id,
);

type Told = Omit<Access, 'gatewayUrl' | 'key'> & { readonly url: string; readonly appUrl?: string | undefined };

/** The setup blocks for a client, as on the page /cli. Without a key, also those for signing in, where a gateway offers that. */
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

/** Setup blocks for clients that run a command to get their key. The person signs in on `APP_URL`, in a browser. */
export function createSignInSnippets({ appUrl, ...access }: Omit<Access, 'key'> & { appUrl: string }): Snippet[] {
  const { gatewayUrl, serviceName: model, contextWindow } = access;
  const command = `curl -fsS ${appUrl}/cli/login.sh | sh`;
  // The key goes to the clients, so don't print it in the terminal.
  const signIn = `${command} >/dev/null`;
  const codex = createAgentSnippets({ ...access, key: '' }).find(({ id }) => id === 'codex');
  const [config] = codex?.blocks ?? [];
  return [
    {
      id: 'claude-code',
      title: 'Claude Code, signed in',
      blocks: [
        {
          title: '~/.claude/settings.json',
          text: toJson({
            apiKeyHelper: command,
            env: {
              ANTHROPIC_BASE_URL: gatewayUrl,
              ...claudeCodeModel(model),
              CLAUDE_CODE_MAX_CONTEXT_TOKENS: contextWindow && `${contextWindow}`,
            },
          }),
        },
        { title: 'Terminal', text: lines(signIn, 'claude') },
      ],
    },
    {
      id: 'codex',
      title: 'Codex, signed in',
      blocks: [
        {
          title: config?.title ?? '',
          text: lines(
            config?.text.replace('env_key = "GATEWAY_KEY"\n', '') ?? '',
            '',
            '[model_providers.gateway.auth]',
            'command = "sh"',
            `args = ["-c", "${command}"]`,
          ),
        },
        { title: 'Terminal', text: lines(signIn, 'codex') },
      ],
    },
    {
      id: 'opencode',
      title: 'opencode, signed in',
      blocks: [{ title: 'Terminal', text: lines(`opencode auth login ${appUrl}`, 'opencode') }],
    },
  ];
}
