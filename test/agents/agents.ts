import { noteName, prompt, type Subject, textOf } from './subject.ts';

const writeNote = `echo done > ${noteName}`;
const titled = { command: writeNote, description: 'Writes a note' };

/** An agent of the terminal: its files stand where the titles say, and its command gets arguments. */
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
    calls: [{ tool: 'Bash', input: titled }],
    quiet: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
  }),
  agent({
    client: 'codex',
    packages: ['@openai/codex@0.169.0'],
    ask: 'exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox',
    calls: [
      { tool: 'exec_command', input: { cmd: writeNote } },
      { tool: 'shell_command', input: { command: writeNote } },
    ],
  }),
  agent({
    client: 'opencode',
    packages: ['opencode-ai@1.18.33'],
    ask: 'run --auto',
    calls: [{ tool: 'bash', input: titled }],
    quiet: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' },
  }),
  agent({
    client: 'qwen-code',
    packages: ['@qwen-code/qwen-code@0.24.4'],
    ask: '--yolo',
    calls: [{ tool: 'run_shell_command', input: { ...titled, is_background: false } }],
    quiet: { QWEN_TELEMETRY_ENABLED: 'false' },
  }),
  agent({
    client: 'pi',
    packages: ['@earendil-works/pi-coding-agent@0.87.1'],
    ask: '--print',
    calls: [{ tool: 'bash', input: { command: writeNote } }],
    quiet: { PI_OFFLINE: '1', PI_TELEMETRY: '0' },
  }),
  agent({
    client: 'continue',
    packages: ['@continuedev/cli@1.5.47'],
    ask: '--auto --print',
    calls: [{ tool: 'Bash', input: { command: writeNote } }],
    quiet: { CONTINUE_TELEMETRY_ENABLED: '0' },
  }),
  agent({
    client: 'cline',
    packages: ['cline@3.0.65'],
    ask: '--auto-approve true',
    calls: [{ tool: 'run_commands', input: { commands: [writeNote] } }],
    // Its hub would outlive it.
    quiet: { CLINE_SESSION_BACKEND_MODE: 'local', CLINE_TELEMETRY_DISABLED: '1' },
  }),
];
