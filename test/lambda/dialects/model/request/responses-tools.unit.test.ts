import { describe, expect, test } from '@jest/globals';
import { toolNamed } from '../../../../../lambda/dialects/model/tools.ts';
import { refusalOf, toChat } from './translate.ts';

const parameters = { type: 'object', properties: { z: { type: 'string' }, a: { type: 'number' } } };
const run = { type: 'function', name: 'run', description: 'runs', parameters, strict: false };
const bare = { type: 'function', name: 'bare' };
const patch = { type: 'custom', name: 'apply_patch', description: 'patches' };
const grammar = { type: 'grammar', syntax: 'lark', definition: 'start: "a"\n' };
const files = {
  type: 'namespace',
  name: 'mcp__files',
  description: 'files',
  tools: [{ type: 'function', name: 'read' }],
};
const search = { type: 'tool_search', execution: 'client', description: 'finds', parameters };

const written = (name: string, more: object = {}) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: {} }, ...more },
});
const freeText = {
  ...{ type: 'object', properties: { input: { type: 'string' } }, required: ['input'], additionalProperties: false },
};
const ran = written('run', { description: 'runs', parameters, strict: false });

const translate = (more: object) => toChat('responses', { model: 'svc', input: 'go', ...more });
const refused = (more: object) => refusalOf('responses', { model: 'svc', input: 'go', ...more });

describe('the tools of a responses request', () => {
  test.each<[what: string, more: object, tools: unknown, leftOut?: string]>([
    ['members that are null', { tools: [{ ...bare, parameters: null, strict: null }] }, [written('bare')]],
    [
      'a grammar, which can’t be enforced',
      { tools: [run, { ...patch, format: grammar }, { ...patch, name: 'exec', format: grammar }] },
      [
        ran,
        ...['apply_patch', 'exec'].map((name) =>
          written(name, {
            description: 'patches\n\nThe input must match this grammar (lark):\nstart: "a"\n',
            parameters: freeText,
          }),
        ),
      ],
      'tools[1].format',
    ],
    [
      'a grammar without a description',
      { tools: [{ type: 'custom', name: 'exec', format: { ...grammar, definition: 'x' } }] },
      [written('exec', { description: 'The input must match this grammar (lark):\nx', parameters: freeText })],
      'tools[0].format',
    ],
    [
      'a namespace, and a client’s tool search',
      { tools: [files, search] },
      [written('mcp__files__read'), written('tool_search', { description: 'finds', parameters })],
      'tools[0].description',
    ],
    [
      'tools that run at the vendor',
      { tools: [{ type: 'web_search', external_web_access: false }, run, { type: 'image_generation' }] },
      [ran],
      'tools[0], tools[2]',
    ],
    [
      'additional tools in the input',
      { input: [{ type: 'additional_tools', role: 'developer', tools: [run, { type: 'web_search' }] }] },
      [ran],
      'input[0].tools[1]',
    ],
    [
      'the same tool twice, and another tool of the same name',
      { tools: [run, run, { ...run, description: 'walks' }] },
      [ran],
      'tools[2]',
    ],
  ])('%s', (...[, more, tools, leftOut]) => {
    const chat = translate(more);
    expect(chat.body.tools).toEqual(tools);
    expect(chat.leftOut).toBe(leftOut);
  });

  test('a known member that is left out is not refused, even if unknown ones are', () => {
    const request = { model: 'svc', input: 'go', tools: [files] };
    expect(toChat('responses', request, { unknown: 'refuse' }).leftOut).toBe('tools[0].description');
  });

  test('a schema is copied byte for byte', () => {
    const schema = '{ "type":"object",  "properties":{"n":{"maximum":12345678901234567890,"\\u0061":1e2}} }';
    const body = `{"model":"svc","input":"go","tools":[{"type":"function","name":"f","parameters":${schema}}]}`;
    expect(toChat('responses', body).text).toContain(`"parameters":${schema}`);
  });

  test('calls lead back to the client’s tools', () => {
    const { tools } = translate({ tools: [files, { ...patch, name: 'exec' }, search, run] });
    const names = ['mcp__files__read', 'exec', 'tool_search', 'run', 'mcp__other__read'];
    expect(names.map((name) => toolNamed(tools, name))).toEqual([
      { kind: 'function', name: 'read', namespace: 'mcp__files' },
      { kind: 'custom', name: 'exec' },
      { kind: 'tool_search', name: 'tool_search' },
      { kind: 'function', name: 'run' },
      { kind: 'function', name: 'mcp__other__read' },
    ]);
  });
});

describe('tools that a search finds', () => {
  const deferred = { ...files, tools: [{ type: 'function', name: 'read', defer_loading: true }] };
  const call = { type: 'tool_search_call', call_id: 's1', execution: 'client', arguments: { query: 'read "all"' } };
  const found = (...tools: unknown[]) => ({ type: 'tool_search_output', call_id: 's1', execution: 'client', tools });
  const user = { role: 'user', content: 'go' };
  const searchTool = written('tool_search', { description: 'finds', parameters });

  test('are offered from then on, and listed by their names', () => {
    const before = translate({ tools: [search, deferred] });
    expect([before.body.tools, before.leftOut]).toEqual([[searchTool], 'tools[1].description']);
    const { body, messages } = translate({ tools: [search, deferred], input: [user, call, found(deferred, run)] });
    expect(body.tools).toEqual([searchTool, written('mcp__files__read'), ran]);
    const searched = 'assistant: null s1=tool_search({"query":"read \\"all\\""})';
    expect(messages).toEqual(['user: go', searched, 'tool s1: mcp__files__read\nrun']);
    const none = translate({ tools: [search], input: [user, call, found()] });
    expect(none.messages[2]).toBe('tool s1: No tools found.');
  });

  test('may be found twice', () => {
    const input = [user, call, found(run), { ...call, call_id: 's2' }, { ...found(run), call_id: 's2' }];
    const { body, leftOut } = translate({ tools: [search], input });
    expect(body.tools).toEqual([searchTool, ran]);
    expect(leftOut).toBeUndefined();
  });
});

describe('the tool choice of a responses request', () => {
  const forced = (name: string) => ({ type: 'function', function: { name } });
  const tools = [run, patch, files, search];
  const names = ['run', 'apply_patch', 'mcp__files__read', 'tool_search'];

  test.each<[choice: unknown, written: unknown, offered: string[], leftOut?: string]>([
    ['none', 'none', names],
    [{ type: 'function', name: 'run' }, forced('run'), names],
    [{ type: 'tool_search' }, forced('tool_search'), names],
    [{ type: 'function', name: 'read', namespace: 'mcp__files' }, forced('mcp__files__read'), names],
    [
      { type: 'allowed_tools', mode: 'required', tools: [{ type: 'custom', name: 'apply_patch' }] },
      'required',
      ['apply_patch'],
    ],
    [
      { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'web_search' }, { type: 'function', name: 'run' }] },
      'auto',
      ['run'],
      'tool_choice.tools[0]',
    ],
  ])('%j', (...[choice, written, offered, leftOut]) => {
    const chat = translate({ tools, tool_choice: choice });
    expect(chat.body.tool_choice).toEqual(written);
    expect((chat.body.tools as { function: { name: string } }[]).map((tool) => tool.function.name)).toEqual(offered);
    expect(chat.leftOut).toBe(['tools[2].description', ...(leftOut === undefined ? [] : [leftOut])].join(', '));
  });
});

describe('tools and choices that are refused', () => {
  const unknown = "is of a kind that this model can't take. Leave it out.";
  const vendor = 'runs at the vendor, and this model has none.';
  const missing = 'names a tool that is not among the tools. Add it to them.';
  const gone = 'leaves no tool that this model could call. Offer a function.';
  test.each<[more: object, message: string]>([
    [
      { tools: [run, { type: 'file_search', vector_store_ids: [] }] },
      `tools[1] (file_search) ${vendor} Leave it out of tools.`,
    ],
    [
      { tools: [{ type: 'local_shell' }] },
      'tools[0] (local_shell) is a tool whose calls this model does not know. Offer a function instead.',
    ],
    [{ tools: [{ ...files, tools: [files] }] }, `tools[0].tools[0] (namespace) ${unknown}`],
    [{ tools: [{ ...run, name: 'n'.repeat(1_000) }] }, 'tools[0].name has more than 1000 characters. Shorten it.'],
    [{ tools: [{ ...run, type: 't'.repeat(1_000) }] }, `tools[0] (…) ${unknown}`],
    [{ tools: [{ type: 'custom', name: 'x', format: { type: 'sonnet' } }] }, `tools[0].format (sonnet) ${unknown}`],
    [
      { tools: [{ type: 'tool_search' }] },
      'tools[0] is a tool search at the vendor, and this model has none. Set its execution to client.',
    ],
    [
      { tools: [{ ...run, defer_loading: true }] },
      'tools[0].defer_loading needs a tool_search among the tools, or no search could load the tool.',
    ],
    [
      { tools: [{ ...patch, format: { type: 'grammar', syntax: 'lark' } }] },
      'tools[0].format has no definition. Add it.',
    ],
    [
      { tools: [run, { type: 'web_search' }], tool_choice: { type: 'web_search' } },
      `tools[1] (web_search) ${vendor} In Codex: web_search = "disabled".`,
    ],
    [{ tools: [run], tool_choice: { type: 'function', name: 'walk' } }, `tool_choice ${missing}`],
    [
      { tools: [run], tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'web_search' }] } },
      `tool_choice ${gone}`,
    ],
    [{ tools: [{ type: 'web_search' }], tool_choice: 'required' }, `tool_choice ${gone}`],
  ])('%j', (more, message) => expect(refused(more)).toBe(message));
});
