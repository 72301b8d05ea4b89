import type { Call, Rounds } from '../support/model.ts';
import { brokenStream, names, nextPrompt, prompt, type Subject, textOf, upstreamLimit, usualWords } from './subject.ts';

interface Agent extends Omit<Subject, 'task' | 'acts'> {
  /** The command's arguments for one prompt. */
  readonly ask: string;
  /** The same for a second prompt in the same conversation. */
  readonly askAgain?: string;
  /** Calls of the agent's own tools. */
  readonly shell: (command: string) => Call;
  readonly edit?: (path: string, before: string, after: string) => Rounds;
  readonly look?: (path: string) => Call;
  readonly search?: () => Rounds;
  /** Adapts its setup block to this run. */
  readonly rewrite?: (text: string) => string;
}

/** Where setup blocks choose a model. */
const chosenModel = /(ANTHROPIC_MODEL=svc|^model = "svc|"model": "gateway\/svc|"name": "svc|--model svc)/m;

/** A terminal agent. The setup block's files go where their titles say, and the command gets arguments. */
const agent = ({ ask, askAgain, shell, edit, look, search, rewrite = String, ...rest }: Agent): Subject => ({
  ...rest,
  task: (snippet, act) => {
    // Only the vision model accepts images.
    const adapt = (text: string) => rewrite(text).replace(chosenModel, act === 'look' ? '$1-vision' : '$1');
    const terminal = adapt(textOf(snippet, 'Terminal'));
    const first = `${terminal} ${ask} '${prompt}'`;
    return {
      files: Object.fromEntries(
        snippet.blocks.flatMap(({ title, text }) => (title.startsWith('~/') ? [[title.slice(2), adapt(text)]] : [])),
      ),
      command: act === 'goOn' ? `${first} && ${terminal} ${askAgain} '${nextPrompt}'` : first,
    };
  },
  acts: {
    write: () => [[shell(`echo done > ${names.note}`)]],
    writeBoth: () => [[shell(`echo done > ${names.note}`), shell(`echo done > ${names.second}`)]],
    tenTurns: () => Array.from({ length: 9 }, (_, turn) => [shell(`echo ${turn + 1} >> ${names.note}`)]),
    ...(rest.window && { printMuch: () => Array.from({ length: 3 }, () => [shell('seq 1 6000 | head -c 25000')]) }),
    ...(askAgain && { goOn: () => [[shell(`echo done > ${names.note}`)]] }),
    ...(edit && { edit: (work) => edit(`${work}/${names.letter}`, 'Dear Ada', 'Dear Grace') }),
    ...(look && { look: (work) => [[look(`${work}/${names.picture}`)]] }),
    ...(search && { search }),
  },
});

const claudeCode: Agent = {
  client: 'claude-code',
  packages: ['@anthropic-ai/claude-code@2.1.330'],
  ask: "--print --allowedTools 'Bash Edit Read' --",
  askAgain: '--continue --print --',
  says: {
    badKey: 'Failed to authenticate. API Error: 401',
    spentQuota: 'API Error: Request rejected (429) · The quota of',
    spentBudget: 'API Error: Request rejected (429) · This request may cost up to',
    tooLong: 'Prompt is too long',
  },
  shell: (command) => ({ tool: 'Bash', input: { command, description: 'Writes a note' } }),
  edit: (file_path, old_string, new_string) => [
    [{ tool: 'Read', input: { file_path } }],
    [{ tool: 'Edit', input: { file_path, old_string, new_string } }],
  ],
  look: (file_path) => ({ tool: 'Read', input: { file_path } }),
  search: () => [
    [{ tool: 'ToolSearch', input: { query: 'select:NotebookEdit', max_results: 1 } }],
    [{ tool: 'NotebookEdit', input: { notebook_path: '/nowhere.ipynb', new_source: '' } }],
  ],
  finds: 'NotebookEdit',
  window: 130_000,
  shortens: true,
  quiet: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
};

const patchOf = (path: string, before: string, after: string): string =>
  ['*** Begin Patch', `*** Update File: ${path}`, '@@', `-${before}`, `+${after}`, '*** End Patch'].join('\n');

const codex: Agent = {
  client: 'codex',
  packages: ['@openai/codex@0.169.0'],
  ask: 'exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox',
  askAgain: 'exec resume --last --skip-git-repo-check',
  says: {
    badKey: 'unexpected status 401 Unauthorized',
    spentQuota: 'Quota exceeded. Check your plan and billing details.',
    spentBudget: 'Quota exceeded. Check your plan and billing details.',
    brokenStream: 'stream closed before response.completed',
    tooLong: "Codex ran out of room in the model's context window",
  },
  shell: (cmd) => ({ tool: 'exec_command', input: { cmd } }),
  edit: (...change) => [[{ tool: 'exec_command', input: { cmd: `apply_patch <<'EOF'\n${patchOf(...change)}\nEOF` } }]],
};
const inCode = (line: string): Call => ({ tool: 'functions__exec', input: { input: line } });

/** Codex as it treats a model that it knows: with freeform tools in place of JSON. */
const codexAs = (as: string, rest: Partial<Agent>): Agent => ({
  ...{ ...codex, as, ...rest },
  rewrite: (text) => text.replace('model = "svc"', `model = "${as}"`),
});

/** For this one a patch and a search tool … */
const codexAsGpt5 = codexAs('gpt-5.5', {
  edit: (...change) => [[{ tool: 'apply_patch', input: { input: patchOf(...change) } }]],
  search: () => [[{ tool: 'tool_search', input: { query: 'agent' } }]],
  finds: 'multi_agent_v1__spawn_agent',
});

/** … and for this one a single tool, which takes code. */
const codexAsGpt6 = codexAs('gpt-6-sol', {
  shell: (cmd) => inCode(`text(await tools.exec_command(${JSON.stringify({ cmd })}));`),
  edit: (...change) => [[inCode(`text(await tools.apply_patch(${JSON.stringify(patchOf(...change))}));`)]],
});

const opencode: Agent = {
  client: 'opencode',
  packages: ['opencode-ai@1.18.33'],
  ask: 'run --auto',
  askAgain: 'run --continue',
  says: {
    ...{ badKey: usualWords.badKey, spentQuota: '', spentBudget: '', brokenStream },
    tooLong: upstreamLimit,
  },
  shell: (command) => ({ tool: 'bash', input: { command, description: 'Writes a note' } }),
  edit: (filePath, oldString, newString) => [
    [{ tool: 'read', input: { filePath } }],
    [{ tool: 'edit', input: { filePath, oldString, newString } }],
  ],
  look: (filePath) => ({ tool: 'read', input: { filePath } }),
  quiet: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' },
};

const qwenCode: Agent = {
  client: 'qwen-code',
  packages: ['@qwen-code/qwen-code@0.24.4'],
  ask: '--yolo',
  askAgain: '--yolo --continue',
  says: {
    badKey: 'Responses API error 401',
    spentQuota: 'Possible quota limitations in place or slow response times detected',
    spentBudget: 'Possible quota limitations in place or slow response times detected',
    brokenStream: 'upstream_error: The answer broke off before its end',
    tooLong: upstreamLimit,
  },
  shell: (command) => ({
    tool: 'run_shell_command',
    input: { command, description: 'Writes a note', is_background: false },
  }),
  edit: (file_path, old_string, new_string) => [
    [{ tool: 'read_file', input: { file_path } }],
    [{ tool: 'edit', input: { file_path, old_string, new_string } }],
  ],
  look: (file_path) => ({ tool: 'read_file', input: { file_path } }),
  quiet: { QWEN_TELEMETRY_ENABLED: 'false' },
};

const pi: Agent = {
  client: 'pi',
  packages: ['@earendil-works/pi-coding-agent@0.87.1'],
  ask: '--print',
  askAgain: '--continue --print',
  says: { ...usualWords, badKey: '401: {', brokenStream },
  shell: (command) => ({ tool: 'bash', input: { command } }),
  edit: (path, oldText, newText) => [[{ tool: 'edit', input: { path, edits: [{ oldText, newText }] } }]],
  look: (path) => ({ tool: 'read', input: { path } }),
  quiet: { PI_OFFLINE: '1', PI_TELEMETRY: '0' },
};

const continueCli: Agent = {
  client: 'continue',
  packages: ['@continuedev/cli@1.5.47'],
  ask: '--auto --print',
  says: { ...usualWords, brokenStream },
  shell: (command) => ({ tool: 'Bash', input: { command } }),
  quiet: { CONTINUE_TELEMETRY_ENABLED: '0' },
};

const cline: Agent = {
  client: 'cline',
  packages: ['cline@3.0.65'],
  ask: '--auto-approve true',
  says: { ...usualWords, brokenStream },
  shell: (command) => ({ tool: 'run_commands', input: { commands: [command] } }),
  // Its hub would keep running after the agent exits.
  quiet: { CLINE_SESSION_BACKEND_MODE: 'local', CLINE_TELEMETRY_DISABLED: '1' },
};

export const agents: readonly Subject[] = [claudeCode, codex, opencode, qwenCode, pi, continueCli, cline].map(agent);

/** An agent that is configured for another dialect than its setup block's. */
const speaking = (own: Agent, as: string, from: string, to: string): Agent => ({
  ...{ ...own, as },
  rewrite: (text) => text.replace(from, to).replace('/v1"', to === 'anthropic-messages' ? '"' : '/v1"'),
});

/** An agent that is told that its model reasons: it asks for reasoning, and sends it back. */
const reasoning = (own: Agent, option: string, before: string): Agent => ({
  ...own,
  rewrite: (text) => (own.rewrite ?? String)(text).replace(before, `${option}, ${before}`),
});
const dropping = (own: Agent): Agent => ({ ...own, dropsReasoning: true });

const codexThatLooks: Agent = {
  ...codex,
  look: (path) => ({ tool: 'view_image', input: { path } }),
  window: 70_000,
};
const opencodeBy = (as: string, provider: string) => speaking(opencode, as, '@ai-sdk/openai-compatible', provider);
const opencodeReasons = '"reasoning": true, "options": { "reasoningEffort": "high" }';

const ofResponses: readonly Agent[] = [
  ...[codexThatLooks, codexAsGpt5, codexAsGpt6],
  reasoning(qwenCode, '"reasoning": { "effort": "high" }', '"contextWindowSize"'),
  reasoning(opencodeBy('responses', '@ai-sdk/openai'), opencodeReasons, '"limit"'),
  reasoning(
    speaking(pi, 'responses', 'openai-completions', 'openai-responses'),
    '"reasoning": true',
    '"contextWindow"',
  ),
];

/** Agents that speak responses or messages, some only if configured to. */
export const translatedToChat: readonly Subject[] = [
  ...[claudeCode, ...ofResponses, opencodeBy('messages', '@ai-sdk/anthropic')],
  speaking(pi, 'messages', 'openai-completions', 'anthropic-messages'),
].map(agent);

/** An agent that speaks messages, and some that speak responses or chat completions. */
export const overMessages: readonly Subject[] = [
  ...[claudeCode, ...ofResponses],
  dropping(reasoning(opencode, opencodeReasons, '"limit"')),
  reasoning(
    opencodeBy('OpenRouter’s package', '@openrouter/ai-sdk-provider'),
    ...(['"options": { "reasoning_effort": "high" }', '"limit"'] as const),
  ),
  reasoning(pi, '"reasoning": true', '"contextWindow"'),
  ...[dropping(continueCli), dropping(cline)],
].map(agent);
