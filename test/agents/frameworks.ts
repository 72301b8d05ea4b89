import { withTool } from '../support/snippet-script.ts';
import { names, type Subject, textOf, usualWords } from './subject.ts';

const call = { tool: 'write_note', input: { text: 'done\n' } };

/** A library, whose setup block is a script. For tool calls, `asking` replaces the block's own question. */
const framework = ({ asking, ...rest }: Omit<Subject, 'task' | 'acts'> & { asking: string }): Subject => ({
  acts: { write: () => [[call]] },
  ...rest,
  task: (snippet, act) => {
    const block = textOf(snippet, 'JavaScript');
    const writing = `import { writeFileSync } from 'node:fs';\nconst write = ({ text }) => { writeFileSync('${names.note}', text); return 'written'; };\n`;
    return {
      files: { 'work/ask.mjs': act ? withTool(block, writing + asking) : block },
      command: 'node ask.mjs',
    };
  },
});

export const frameworks: readonly Subject[] = [
  {
    ...framework({
      client: 'claude-agent-sdk',
      packages: ['@anthropic-ai/claude-agent-sdk@0.3.330', 'zod@4.6.7'],
      says: {
        badKey: 'Claude Code returned an error result',
        spentQuota: 'Claude Code returned an error result',
        spentBudget: 'Claude Code returned an error result',
      },
      asking: `
const withBash = { ...options, allowedTools: ['Bash'] };
for await (const message of query({ prompt: 'Write a note.', options: withBash })) {
  if (message.type === 'result') console.log(message.result);
}`,
      quiet: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
    }),
    acts: {
      write: () => [[{ tool: 'Bash', input: { command: `echo done > ${names.note}`, description: 'Writes a note' } }]],
    },
  },
  framework({
    client: 'llamaindex',
    packages: ['llamaindex@0.12.1', '@llamaindex/openai@0.4.22', 'zod@3.25.76'],
    says: { ...usualWords, badKey: 'invalid_api_key' },
    asking: `
import { agent } from '@llamaindex/workflow';
import { tool } from 'llamaindex';
import { z } from 'zod';
const note = tool({ name: 'write_note', description: 'Writes', parameters: z.object({ text: z.string() }), execute: write });
console.log((await agent({ llm, tools: [note] }).run('Write a note.')).data.result);`,
  }),
  framework({
    client: 'mastra',
    packages: ['@mastra/core@1.71.0', 'zod@4.6.7'],
    says: usualWords,
    asking: `
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
const inputSchema = z.object({ text: z.string() });
const note = createTool({ id: 'write_note', description: 'Writes', inputSchema, execute: async (input) => write(input) });
console.log((await agent.generate('Write a note.', { toolsets: { notes: { write_note: note } } })).text);`,
    quiet: { MASTRA_TELEMETRY_DISABLED: '1' },
  }),
  framework({
    client: 'genkit',
    packages: ['genkit@1.42.0', '@genkit-ai/compat-oai@1.42.0'],
    says: usualWords,
    asking: `
import { z } from 'genkit';
const inputSchema = z.object({ text: z.string() });
const note = ai.defineTool({ name: 'write_note', description: 'Writes', inputSchema }, async (input) => write(input));
console.log((await ai.generate({ prompt: 'Write a note.', tools: [note] })).text);`,
  }),
];
