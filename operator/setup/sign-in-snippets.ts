import { lines, type Snippet, toJson } from '../../lambda/accounts/pages/cli/snippet.js';
import { createAgentSnippets } from '../../lambda/accounts/pages/cli/snippets-agents.js';

interface Access {
  readonly gatewayUrl: string;
  /** The site of the page where people sign in: `APP_URL`. */
  readonly appUrl: string;
  readonly serviceName: string;
  readonly contextWindow?: number | undefined;
}

/** What to paste into a client that gets its key by a command, once its person has signed in from a terminal. */
export function createSignInSnippets({ gatewayUrl, appUrl, serviceName: model, contextWindow }: Access): Snippet[] {
  const command = `curl -fsS ${appUrl}/cli/login.sh | sh`;
  // The key is for the clients: a terminal need not show it.
  const signIn = `${command} >/dev/null`;
  const codex = createAgentSnippets({ gatewayUrl, serviceName: model, key: '', contextWindow }).find(
    ({ id }) => id === 'codex',
  );
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
              ANTHROPIC_MODEL: model,
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
