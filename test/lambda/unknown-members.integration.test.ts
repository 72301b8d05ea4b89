import { afterAll, describe, expect } from '@jest/globals';
import { json } from '../../local/upstream/script.ts';
import { type DialectName, dialectNames } from '../support/fixtures.ts';
import { startTestGateway } from '../support/gateway.ts';
import { messageOf } from '../support/strict-messages.ts';
import { testRows } from '../support/test-rows.ts';
import { wire } from '../support/wire.ts';

/** What next month's agents may send, which no part of the gateway knows. */
const invented = ['aurora', 'dream_2027_01_15', 'echoLocation', 'gravity-well.v2'];

const roomy = { GUEST_LIMIT: '1000', MEMBER_LIMIT: '900', BURST_LIMIT: '600' };
const limit = { UPSTREAM_OUTPUT_LIMIT: '9' };
const native = await startTestGateway({ environment: roomy });
const ofChat = await startTestGateway({ environment: { ...roomy, UPSTREAM_DIALECTS: 'chat' } });
const ofMessages = await startTestGateway({ environment: { ...roomy, ...limit, UPSTREAM_DIALECTS: 'messages' } });
const refuse = { ...roomy, ...limit, UPSTREAM_TRANSLATE_UNKNOWN: 'refuse' };
const strictOfChat = await startTestGateway({ environment: { ...refuse, UPSTREAM_DIALECTS: 'chat' } });
const strictOfMessages = await startTestGateway({ environment: { ...refuse, UPSTREAM_DIALECTS: 'messages' } });
const gateways = [native, ofChat, ofMessages, strictOfChat, strictOfMessages];
ofChat.upstream.otherwise(json(200, wire.chat.answer));
ofMessages.upstream.otherwise(json(200, messageOf([{ text: 'Hi' }])));
afterAll(async () => {
  for (const gateway of gateways) await gateway[Symbol.asyncDispose]();
});

const text = (dialect: DialectName, role: string) =>
  dialect === 'responses'
    ? { type: role === 'user' ? 'input_text' : 'output_text', text: 'a' }
    : { type: 'text', text: 'a' };

/** A request with the member at its top level, in a message, in a part, in a tool, and as a part or an item of its own type. */
function requestWith(dialect: DialectName, name: string) {
  const unknown = { [name]: { deep: [1, 1.0, '9007199254740993'] } };
  const block = { type: name, ...unknown };
  const user = { role: 'user', content: [{ ...text(dialect, 'user'), ...unknown }, block], ...unknown };
  const said = { role: 'assistant', content: [text(dialect, 'assistant'), block] };
  const messages = [user, said, { role: 'user', content: [text(dialect, 'user')] }];
  const described = { name: 'run', description: 'runs', ...unknown };
  const tools = {
    chat: [{ type: 'function', function: described, ...unknown }],
    responses: [{ type: 'function', ...described, parameters: { type: 'object' } }],
    messages: [{ ...described, input_schema: { type: 'object' } }],
  }[dialect];
  const history = dialect === 'responses' ? { input: [...messages, block] } : { messages };
  return { model: 'svc', ...(dialect === 'messages' && { max_tokens: 9 }), ...unknown, ...history, tools };
}

/** The places of the member in that request. */
function placesOf(dialect: DialectName, name: string): string[] {
  const list = dialect === 'responses' ? 'input' : 'messages';
  const tool = dialect === 'chat' ? [`tools[0].function.${name}`, `tools[0].${name}`] : [`tools[0].${name}`];
  return [
    name,
    ...[`${list}[0].content[0].${name}`, `${list}[0].content[1]`, `${list}[0].${name}`, `${list}[1].content[1]`],
    ...(dialect === 'responses' ? ['input[3]'] : []),
    ...tool,
  ];
}

const betas = (name: string) => ({
  'anthropic-beta': `${name}-2027-01-15`,
  'openai-beta': `${name}=v9`,
  [`anthropic-${name.toLowerCase()}`]: 'on',
});

describe.each(dialectNames)('an unknown member, in a request of %s', (dialect) => {
  const ask = async (gateway: (typeof gateways)[number], name: string) => {
    const headers = { 'x-api-key': await gateway.issueKey(), ...betas(name) };
    const response = await gateway.post(wire[dialect].path, requestWith(dialect, name), headers);
    await response.text();
    const { headers: sent = {}, body } = gateway.upstream.requests.at(-1) ?? {};
    return { status: response.status, leftOut: response.headers.get('x-svc-left-out'), sent, body: `${body}` };
  };

  testRows(invented)('is passed through to an upstream of the same dialect, byte for byte', async (name) => {
    native.upstream.answer(json(200, wire[dialect].answer));
    const { status, leftOut, sent, body } = await ask(native, name);
    expect([status, leftOut]).toEqual([200, null]);
    expect(body).toBe(JSON.stringify({ ...requestWith(dialect, name), model: 'acmecorp/thunder-70b-instruct' }));
    expect(sent).toMatchObject(betas(name));
  });

  const translating = Object.entries({ chat: ofChat, messages: ofMessages }).filter(([spoken]) => spoken !== dialect);
  testRows(invented)('is left out of a translation, which names its places', async (name) => {
    for (const [spoken, gateway] of translating) {
      const { status, leftOut, sent, body } = await ask(gateway, name);
      const places = placesOf(dialect, name).toSorted();
      expect([spoken, status, leftOut?.split(', ').toSorted()]).toEqual([spoken, 200, places]);
      expect(body).not.toContain(name);
      expect(Object.keys(sent).filter((header) => /beta|^anthropic-(?!version$)/.test(header))).toEqual([]);
    }
  });

  testRows(invented)('is refused where the operator says so', async (name) => {
    const strict = dialect === 'chat' ? strictOfMessages : strictOfChat;
    const asked = strict.upstream.requests.length;
    expect((await ask(strict, name)).status).toBe(400);
    expect(strict.upstream.requests).toHaveLength(asked);
  });
});
