import { describe, expect, test } from '@jest/globals';
import { createScanner } from '../../../../lambda/json/scan.ts';
import type { ChatUpstream } from '../../../../lambda/translate/request/writing.ts';
import fc from '../../../support/properties.ts';
import { type ClientDialect, seals, toChat } from './translate.ts';

/** What the model does in one go, and what the client then has to say besides the results of the calls. */
interface Step {
  readonly thoughts: readonly string[];
  readonly text: string | undefined;
  readonly calls: readonly ('function' | 'custom' | 'namespaced')[];
  readonly results: 'text' | 'texts' | 'image';
  readonly rule: 'none' | 'before' | 'after';
  readonly user: boolean;
  readonly sealed: boolean;
}

const words = fc.string({ maxLength: 12, unit: 'binary' });

const anyStep = fc.record<Step>({
  thoughts: fc.array(words, { maxLength: 2 }),
  text: fc.option(words, { nil: undefined }),
  calls: fc.array(fc.constantFrom('function', 'custom', 'namespaced'), { maxLength: 3 }),
  results: fc.constantFrom('text', 'texts', 'image'),
  rule: fc.constantFrom('none', 'before', 'after'),
  user: fc.boolean(),
  sealed: fc.boolean(),
});

/** The model says something or calls something, or there would be no turn. */
const step = anyStep.map((each) => (each.calls.length > 0 ? each : { ...each, text: each.text ?? 'ok' }));

const conversation = fc.array(step, { minLength: 20, maxLength: 20 });

const upstream = fc.record<Partial<ChatUpstream>>({
  systemTurns: fc.constantFrom('fold', 'keep'),
  toolImages: fc.constantFrom('after', 'inline'),
  replay: fc.constantFrom('back', 'back-as-reasoning', 'never'),
});

/** The requests of a session as Codex sends them: each repeats the one before, and adds to it. */
function codexRequests(steps: readonly Step[]): object[] {
  const part = (text: string) => ({ type: 'input_text', text });
  const say = (role: string, text: string) => ({ type: 'message', role, content: [part(text)] });
  const input: object[] = [
    ...[say('developer', '<permissions>'), say('user', '<environment_context>'), say('user', 'Fix it.')],
  ];
  const rule = say('developer', 'be quick');
  const image = { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' };
  const outputs = { text: 'done', texts: [part('a'), part('b')], image: [part('see'), image] };
  const request = () => ({
    ...{ model: 'svc', instructions: 'You are Codex.', input: [...input], stream: true, store: false },
    tools: [
      { type: 'namespace', name: 'mcp__a', description: '', tools: [{ type: 'function', name: 'read' }] },
      { type: 'custom', name: 'apply_patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: x' } },
      { type: 'web_search' },
    ],
  });
  return [
    request(),
    ...steps.map(({ thoughts, text, calls, results, rule: place, user, sealed }, turn) => {
      for (const thought of thoughts) {
        const encrypted_content = sealed ? seals.seal('responses', `${thought}!`) : null;
        input.push({ type: 'reasoning', summary: [{ type: 'summary_text', text: thought }], encrypted_content });
      }
      if (text !== undefined) input.push({ role: 'assistant', content: [{ type: 'output_text', text }] });
      const made = calls.map((kind, index) => ({ kind, call_id: `call_${turn}_${index}` }));
      for (const { kind, call_id } of made) {
        const namespace = kind === 'namespaced' ? 'mcp__a' : undefined;
        if (kind === 'custom') input.push({ type: 'custom_tool_call', call_id, name: 'apply_patch', input: '*** x\n' });
        else input.push({ type: 'function_call', call_id, name: 'read', namespace, arguments: '{"a":1}' });
      }
      if (place === 'before') input.push(rule);
      for (const { kind, call_id } of made.toReversed()) {
        const type = `${kind === 'custom' ? 'custom_tool' : 'function'}_call_output`;
        input.push({ type, call_id, output: outputs[results] });
      }
      if (user || made.length === 0) input.push(say('user', 'go on'));
      if (place === 'after') input.push(rule);
      return request();
    }),
  ];
}

/** The same of Claude Code, whose cache marks move on with each request. */
function claudeRequests(steps: readonly Step[]): object[] {
  const block = (text: string) => ({ type: 'text', text });
  const messages: { role: string; content: object[] }[] = [
    { role: 'user', content: [block('<system-reminder>'), block('Fix it.')] },
  ];
  const rule = { role: 'system', content: [block('be quick')] };
  const source = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' };
  const outputs = { text: 'done', texts: [block('a'), block('b')], image: [{ type: 'image', source }] };
  const marked = (blocks: readonly object[]) =>
    blocks.map((block, index) =>
      index === blocks.length - 1 ? { ...block, cache_control: { type: 'ephemeral' } } : block,
    );
  const request = (turn: number) => ({
    ...{ model: 'svc', max_tokens: 32_000, stream: true },
    system: [block(`x-anthropic-billing-header: cch=${turn}`), block('You are Claude Code.')],
    messages: messages.map(({ role, content }, index) => ({
      role,
      content: index === messages.length - 1 ? marked(content) : content,
    })),
    tools: [{ name: 'Read', input_schema: { type: 'object', properties: {} } }],
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  });
  return [
    request(0),
    ...steps.map(({ thoughts, text, calls, results, rule: place, user, sealed }, turn) => {
      const made = calls.map((_kind, index) => `toolu_${turn}_${index}`);
      const said = [
        ...thoughts.map((thinking) => ({
          type: 'thinking',
          thinking,
          signature: sealed ? seals.seal('messages', thinking) : 'EqQB',
        })),
        ...(text === undefined ? [] : [block(text)]),
        ...made.map((id) => ({ type: 'tool_use', id, name: 'Read', input: { path: '/a b' } })),
      ];
      messages.push({ role: 'assistant', content: said });
      if (place === 'before') messages.push(rule);
      const content = made.map((tool_use_id, index) => ({
        type: 'tool_result',
        tool_use_id,
        content: outputs[results],
        is_error: index === 1,
      }));
      const more = user || made.length === 0 ? [block('go on')] : [];
      messages.push({ role: 'user', content: [...content, ...more] });
      if (place === 'after') messages.push(rule);
      return request(turn + 1);
    }),
  ];
}

/** The body up to the end of its last message. */
function promptOf(text: string): string {
  const json = createScanner().scan(text);
  const messages = json.member(json.root, 'messages') ?? 0;
  return text.slice(0, json.end(messages) - 1);
}

describe('a conversation that goes on', () => {
  test.each<[agent: string, dialect: ClientDialect, requests: (steps: readonly Step[]) => object[]]>([
    ['Codex', 'responses', codexRequests],
    ['Claude Code', 'messages', claudeRequests],
  ])(
    'property: for %s, the prompt of each turn begins with that of the turn before, byte for byte',
    (_agent, dialect, requests) => {
      fc.assert(
        fc.property(conversation, upstream, (steps, options) => {
          const written = requests(steps).map((request) => toChat(dialect, request, options));
          for (const [index, { text, body }] of written.slice(1).entries()) {
            const before = written[index];
            expect(text.startsWith(promptOf(before?.text ?? ''))).toBe(true);
            expect(body.tools).toEqual(before?.body.tools);
          }
        }),
        { numRuns: 60 },
      );
    },
  );
});
