import { noteName, prompt, type Subject, textOf } from './subject.ts';

const writeNote = `echo done > ${noteName}`;
const titled = { command: writeNote, description: 'Writes a note' };

/** A terminal agent: its files go where the titles say, and its command gets arguments. */
const agent = ({ ask, ...rest }: Omit<Subject, 'task'> & { ask: string }): Subject => ({
  ...rest,
  task: (snippet) => ({
    files: Object.fromEntries(
      snippet.blocks.flatMap(({ title, text }) => (title.startsWith('~/') ? [[title.slice(2), text]] : [])),
    ),
    command: `${textOf(snippet, 'Terminal')} ${ask} '${prompt}'`,
  }),
});

export const agents: readonly Subject[] = [
  agent({
    client: 'claude-code',
    packages: ['@anthropic-ai/claude-code@2.1.330'],
    ask: '--print --allowedTools Bash --',
    says: { badKey: 'Failed to authenticate. API Error: 401', spentQuota: 'API Error: Request rejected (429)' },
    calls: [{ tool: 'Bash', input: titled }],
    quiet: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
  }),
  agent({
    client: 'codex',
    packages: ['@openai/codex@0.169.0'],
    ask: 'exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox',
    says: {
      badKey: 'unexpected status 401 Unauthorized',
      spentQuota: 'Quota exceeded. Check your plan and billing details.',
      brokenStream: 'stream closed before response.completed',
    },
    calls: [
      { tool: 'exec_command', input: { cmd: writeNote } },
      { tool: 'shell_command', input: { command: writeNote } },
    ],
  }),
  agent({
    client: 'opencode',
    packages: ['opencode-ai@1.18.33'],
    ask: 'run --auto',
    says: { badKey: 'The API key is unknown', spentQuota: '', brokenStream: 'The answer broke off before its end' },
    calls: [{ tool: 'bash', input: titled }],
    quiet: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' },
  }),
  agent({
    client: 'qwen-code',
    packages: ['@qwen-code/qwen-code@0.24.4'],
    ask: '--yolo',
    says: {
      badKey: 'Responses API error 401',
      spentQuota: 'Possible quota limitations in place or slow response times detected',
      brokenStream: 'upstream_error: The answer broke off before its end',
    },
    calls: [{ tool: 'run_shell_command', input: { ...titled, is_background: false } }],
    quiet: { QWEN_TELEMETRY_ENABLED: 'false' },
  }),
  agent({
    client: 'pi',
    packages: ['@earendil-works/pi-coding-agent@0.87.1'],
    ask: '--print',
    says: { badKey: '401: {', spentQuota: '429: {', brokenStream: 'The answer broke off before its end' },
    calls: [{ tool: 'bash', input: { command: writeNote } }],
    quiet: { PI_OFFLINE: '1', PI_TELEMETRY: '0' },
  }),
  agent({
    client: 'continue',
    packages: ['@continuedev/cli@1.5.47'],
    ask: '--auto --print',
    says: {
      badKey: '401 The API key is unknown',
      spentQuota: '429 The quota of',
      brokenStream: 'The answer broke off before its end',
    },
    calls: [{ tool: 'Bash', input: { command: writeNote } }],
    quiet: { CONTINUE_TELEMETRY_ENABLED: '0' },
  }),
  agent({
    client: 'cline',
    packages: ['cline@3.0.65'],
    ask: '--auto-approve true',
    says: {
      badKey: 'The API key is unknown',
      spentQuota: 'The quota of',
      brokenStream: 'The answer broke off before its end',
    },
    calls: [{ tool: 'run_commands', input: { commands: [writeNote] } }],
    // Its hub would keep running after it.
    quiet: { CLINE_SESSION_BACKEND_MODE: 'local', CLINE_TELEMETRY_DISABLED: '1' },
  }),
];
