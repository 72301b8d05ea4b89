import { afterAll, describe, expect, test } from '@jest/globals';
import { json } from '../../local/upstream/script.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { faultsOf } from '../support/message-rules.ts';
import { messageOf } from '../support/strict-messages.ts';

const environment = {
  ...{ GUEST_LIMIT: '1000', MEMBER_LIMIT: '900', BURST_LIMIT: '600' },
  ...{ UPSTREAM_DIALECTS: 'messages', UPSTREAM_OUTPUT_LIMIT: '9' },
};
const gateway = await startTestGateway({ environment });
const elsewhere = await startTestGateway({
  environment: { ...environment, NETWORK_SALT: 'the salt of another deployment' },
});
for (const { upstream } of [gateway, elsewhere]) {
  upstream.otherwise(json(200, messageOf([{ thinking: 'Hm.' }, { redacted: 'blob' }, { text: 'Hi' }])));
}
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await elsewhere[Symbol.asyncDispose]();
});
const [key, keyOfAnother] = [await gateway.issueKey(), await gateway.issueKey({ member: 'another' })];

const question = { role: 'user', content: 'Who?' };

/** A request whose history contains these seals, in each of the members that can hold one. */
type Ask = (seals: readonly string[]) => { readonly path: string; readonly body: object };

const asks: Readonly<Record<string, Ask>> = {
  chat: (seals) => {
    const reasoning_details = seals.map((seal, index) => ({
      ...{ type: 'reasoning.text', text: 'Hm.', index },
      [index % 2 ? 'signature' : 'data']: seal,
    }));
    const said = { role: 'assistant', content: 'Hi', reasoning_details };
    return { path: '/v1/chat/completions', body: { model: 'svc', messages: [question, said, question] } };
  },
  responses: (seals) => {
    const reasoning = seals.map((encrypted_content) => ({ type: 'reasoning', summary: [], encrypted_content }));
    const include = ['reasoning.encrypted_content'];
    const said = { role: 'assistant', content: 'Hi' };
    return { path: '/v1/responses', body: { model: 'svc', include, input: [question, ...reasoning, said, question] } };
  },
};

async function send(ask: Ask, seals: readonly string[], { to = gateway, as = key } = {}) {
  const { path, body } = ask(seals);
  const response = await to.post(path, body, { authorization: `Bearer ${as}` });
  const answer = await response.text();
  return { status: response.status, answer, leftOut: response.headers.get('x-svc-left-out') };
}

/** The seals of an answer. */
async function sealsFor(ask: Ask, from: { to?: TestGateway; as?: string } = {}): Promise<readonly string[]> {
  const seals = (await send(ask, [], from)).answer.match(/svc1\.[\w-]+/g) ?? [];
  expect(seals).not.toEqual([]);
  return seals;
}

const sealFor = async (...given: Parameters<typeof sealsFor>): Promise<string> => `${(await sealsFor(...given))[0]}`;

/** The reasoning blocks that the upstream got back. */
function reasoningAsked(): unknown[] {
  const sent = JSON.parse(`${gateway.upstream.requests.at(-1)?.body}`);
  expect(faultsOf(sent)).toEqual([]);
  const blocks = sent.messages.flatMap(({ content }: { content: { type: string }[] }) => content);
  return blocks.filter(({ type }: { type: string }) => /thinking/.test(type));
}

describe.each(['chat', 'responses'])('of the seals that a client of %s sends', (name) => {
  const ask = asks[name] as Ask;
  const askOther = asks[name === 'chat' ? 'responses' : 'chat'] as Ask;

  test('its own are sent back to the upstream as the original blocks', async () => {
    const { status, leftOut } = await send(ask, await sealsFor(ask));
    expect([status, leftOut]).toEqual([200, null]);
    expect(reasoningAsked()).toMatchObject([{ type: 'thinking', thinking: 'Hm.' }, { type: 'redacted_thinking' }]);
  });

  test('none is that was cut, or is for another caller, deployment or dialect; all are reported as left out', async () => {
    const own = await sealFor(ask);
    const foreign = [
      await sealFor(ask, { as: keyOfAnother }),
      await sealFor(ask, { to: elsewhere, as: await elsewhere.issueKey() }),
      await sealFor(askOther),
      own.slice(0, -1),
      `${own.slice(0, own.length / 2)}${(await sealFor(ask)).slice(own.length / 2)}`,
    ];
    const { status, leftOut } = await send(ask, foreign);
    expect([status, leftOut?.split(', ')]).toEqual([200, foreign.map(() => expect.any(String))]);
    expect(reasoningAsked()).toEqual([]);
  });
});
