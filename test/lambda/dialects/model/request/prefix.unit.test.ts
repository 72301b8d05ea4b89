import { describe, expect, test } from '@jest/globals';
import type { UpstreamOptions } from '../../../../../lambda/dialects/model/request/request-writer.ts';
import { createScanner } from '../../../../../lambda/json/scan.ts';
import fc, { many } from '../../../../support/properties.ts';
import { type ClientDialect, seals, toChat } from './translate.ts';

/** What one turn adds to the history: the model's answer, and what the client sends after it. */
type Step = (turn: number) => object[];

const text = (type: string, text: string) => ({ type, text });

const say = (role: string, ...content: object[]) => ({ type: 'message', role, content });
const goOn = say('user', text('input_text', 'go on'));
const beQuick = say('developer', text('input_text', 'be quick'));
const reasoningBlock = (encrypted_content: string | null = null) => ({
  ...{ type: 'reasoning', summary: [text('summary_text', 'hm "é"')], encrypted_content },
});
const call = (call_id: string, more: object = {}) => ({
  ...{ type: 'function_call', call_id, name: 'read', arguments: '{"a":1}', ...more },
});
const patch = (call_id: string) => ({ type: 'custom_tool_call', call_id, name: 'apply_patch', input: '*** x\n' });
const output = (call_id: string, output: unknown = 'done') => ({ type: 'function_call_output', call_id, output });
const image = { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' };
const said = say('assistant', text('output_text', 'ok'));

/** In the form of Codex. */
const codex: readonly Step[] = [
  () => [said, goOn],
  () => [reasoningBlock(seals.seal('responses', 'hm')), reasoningBlock(), said, said, goOn, beQuick],
  (turn) => [
    reasoningBlock(),
    said,
    call(`a${turn}`, { namespace: 'mcp__a' }),
    patch(`b${turn}`),
    output(`b${turn}`),
    output(`a${turn}`),
  ],
  (turn) => [call(`a${turn}`), beQuick, output(`a${turn}`, [text('input_text', 'see'), image]), goOn],
  (turn) => [
    call('same'),
    call(`b${turn}`),
    output(`b${turn}`, [image]),
    output('same', [text('input_text', 'a'), image]),
    beQuick,
  ],
  () => [said, beQuick, goOn],
];
const tools = [
  { type: 'namespace', name: 'mcp__a', description: '', tools: [{ type: 'function', name: 'read' }] },
  ...[{ type: 'custom', name: 'apply_patch' }, { type: 'web_search' }],
];
const askCodex = (history: readonly object[]) => ({
  ...{ model: 'svc', instructions: 'You are Codex.', stream: true, store: false, tools },
  input: [say('developer', text('input_text', '<permissions>')), goOn, ...history],
});

const message = (role: string, ...content: object[]) => ({ role, content });
const use = (id: string) => ({ type: 'tool_use', id, name: 'Read', input: { path: '/a b' } });
const result = (tool_use_id: string, content: unknown = 'done', is_error = false) => ({
  ...{ type: 'tool_result', tool_use_id, content, is_error },
});
const think = (signature: string) => ({ type: 'thinking', thinking: 'hm', signature });
const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } };
const next = message('user', text('text', 'go on'));
const rule = message('system', text('text', 'be quick'));
const effort = { ...message('system'), output_config: { effort: 'high' } };

/** In the form of Claude Code. */
const claude: readonly Step[] = [
  () => [message('assistant', text('text', 'ok')), next],
  () => [message('assistant', think('EqQB'), text('text', 'ok')), rule, next, rule],
  () => [message('assistant', text('text', 'ok')), effort, next],
  (turn) => [
    message('assistant', use(`a${turn}`), use(`b${turn}`)),
    message('user', result(`b${turn}`, 'no', true), result(`a${turn}`)),
  ],
  (turn) => [
    message('assistant', think(seals.seal('messages', 'hm')), use(`a${turn}`)),
    rule,
    message('user', result(`a${turn}`, [picture]), text('text', 'b')),
  ],
  (turn) => [
    message('assistant', use(`a${turn}`)),
    message('user', result(`a${turn}`, [text('text', 'a'), picture])),
    rule,
  ],
];

/** Cache marks move with each request, and the billing block changes. */
const askClaude = (history: readonly object[]) => ({
  ...{ model: 'svc', max_tokens: 32_000, stream: true },
  system: [text('text', `x-anthropic-billing-header: cch=${history.length}`), text('text', 'You are Claude Code.')],
  messages: [
    ...[next, ...history.slice(0, -1)],
    ...history.slice(-1).map((last) => {
      const { role, content } = last as ReturnType<typeof message>;
      return message(role, ...content.slice(0, -1), { ...content.at(-1), cache_control: { type: 'ephemeral' } });
    }),
  ],
  tools: [{ name: 'Read', input_schema: { type: 'object', properties: {} } }],
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
});

const upstream = fc.record<Partial<UpstreamOptions>>({
  systemTurns: fc.constantFrom('fold', 'keep'),
  toolImages: fc.constantFrom('after', 'inline'),
  replay: fc.constantFrom('back', 'back-as-reasoning', 'never'),
});

/** The body up to the end of its last message. */
function promptOf(text: string): string {
  const json = createScanner().scan(text);
  const messages = json.member(json.root, 'messages') ?? 0;
  return text.slice(0, json.end(messages) - 1);
}

describe('a conversation that goes on', () => {
  test.each<[agent: string, dialect: ClientDialect, steps: readonly Step[], ask: typeof askCodex | typeof askClaude]>([
    ['Codex', 'responses', codex, askCodex],
    ['Claude Code', 'messages', claude, askClaude],
  ])(
    'property: for %s, each turn’s prompt begins with the previous turn’s, byte for byte, so that caches hit',
    (...given) => {
      const [, dialect, kinds, ask] = given;
      const steps = fc.array(fc.constantFrom(...kinds), { minLength: 12, maxLength: 12 });
      fc.assert(
        fc.property(steps, upstream, (chosen, options) => {
          const added = chosen.map((step, turn) => step(turn));
          const written = added.map((_, turn) => toChat(dialect, ask(added.slice(0, turn).flat()), options));
          for (const [index, { text, body }] of written.slice(1).entries()) {
            expect(text.startsWith(promptOf(written[index]?.text ?? ''))).toBe(true);
            expect(body.tools).toEqual(written[index]?.body.tools);
          }
        }),
        { numRuns: many(15) },
      );
    },
  );
});
