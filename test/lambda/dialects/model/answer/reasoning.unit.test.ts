import { describe, expect, test } from '@jest/globals';
import { signedBlocksIn } from '../../../../../lambda/dialects/model/seal.ts';
import { readEvents } from '../../../../support/client-view.ts';
import { begin, chunk, end, more, say, think } from './cases/case.ts';
import { bytesOf, type Client, clients, plainOf, type Setup, translateAnswer, translateStream } from './translated.ts';
import { assertStream, fold } from './validate.ts';

const chunks = [think('Hm,'), think(' so.'), say('Hello'), end()];
const plain = plainOf({ name: '', chunks, says: [{ reasoning: 'Hm, so.' }, { text: 'Hello' }] }) ?? {};

const events = (client: Client, setup: Setup, given: readonly object[] = chunks) => {
  const read = readEvents(translateStream(client, bytesOf({ chunks: given }), setup).output);
  assertStream(client, read);
  return read.map(({ value }) => Object(value));
};

const seal = (reasoning: string) => `sealed: ${reasoning}`;

test('reasoning is sealed for responses clients that ask for it, unless it is too long', () => {
  const setup = { wantsSeal: true, seal };
  const [item] = events('responses', setup).at(-1).response.output;
  expect(item).toMatchObject({ type: 'reasoning', encrypted_content: 'sealed: Hm, so.' });
  expect(Object(translateAnswer('responses', plain, setup)).output[0]).toMatchObject(item);
  for (const without of [{ seal }, { wantsSeal: true }]) {
    const [unsealed] = events('responses', without).at(-1).response.output;
    expect(unsealed).not.toHaveProperty('encrypted_content');
  }
});

test('for messages, reasoning is sealed in the signature of its block, before the block stops', () => {
  const types = events('messages', { seal }).map(({ type, delta }) => delta?.type ?? type);
  expect(types.slice(3, 7)).toEqual(['thinking_delta', 'thinking_delta', 'signature_delta', 'content_block_stop']);
  const [block] = Object(translateAnswer('messages', plain, { seal })).content;
  expect(block).toEqual({ type: 'thinking', thinking: 'Hm, so.', signature: 'sealed: Hm, so.' });
});

test('each reasoning block is sealed once, in order, even if it waits behind a call', () => {
  const given = [...[think('A'), begin('a', 0, 'f', '{'), think('B'), say('c'), think('D'), more('}'), end()]];
  const signatures = events('messages', { seal }, given).flatMap(({ delta }) => delta?.signature ?? []);
  expect(signatures).toEqual(['sealed: A', 'sealed: B', 'sealed: D']);
});

test('reasoning that a messages client wants omitted is only in the seal', () => {
  const setup = { showsReasoning: false, seal };
  expect(events('messages', setup).filter(({ delta }) => delta?.thinking)).toEqual([]);
  const types = events('messages', setup).map(({ type, delta }) => delta?.type ?? type);
  expect(types.slice(2, 5)).toEqual(['content_block_start', 'signature_delta', 'content_block_stop']);
  const [block] = Object(translateAnswer('messages', plain, setup)).content;
  expect(block).toEqual({ type: 'thinking', thinking: '', signature: 'sealed: Hm, so.' });
});

test('reasoning can’t be mistaken for signed blocks, which are sent upstream as they are', () => {
  const block = '{"type":"text","text":""}]}],"model":"another"';
  for (const thinking of [[think(`\u0001${block}`)], [think('\u0001'), think(block)]]) {
    const given = [...thinking, say('Hi'), end()];
    const [sealed] = events('messages', { seal: (reasoning) => reasoning }, given).flatMap(
      ({ delta }) => delta?.signature ?? [],
    );
    expect(sealed).toBe(block);
    expect(signedBlocksIn(sealed)).toBeUndefined();
  }
});

test.each(clients)('reasoning under two names reaches a client of %s once, even if it is held back', (client) => {
  const given = [chunk({ reasoning_content: 'Thun', reasoning: 'Thun' }), say('a'), end()];
  const { output } = translateStream(client, bytesOf({ chunks: given }));
  expect(JSON.stringify(fold(client, readEvents(output)))).toContain('"Thun"');
});

describe('a seal holds what the upstream sent, and the client reads it with names hidden', () => {
  const raw = 'I am Thunder, said "AcmeCorp".\nThun';
  const pieces = ['I am Thun', 'der, said', ' "Acme', 'Corp', '".\n', 'Thun'];
  const shown = pieces.join('').replaceAll(/Thunder|AcmeCorp/g, 'svc');
  const twice = pieces.map((piece) => chunk({ reasoning_content: piece, reasoning: piece }));
  const details = pieces.map((text) => chunk({ reasoning_details: [{ type: 'reasoning.text', text, format: 'x' }] }));
  const parts = pieces.map((text) => chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text }] }] }));
  const plainReasoning = plainOf({ name: '', chunks, says: [{ reasoning: raw }, { text: 'Hi' }] }) ?? {};

  test.each([
    ['under one name', pieces.map((piece) => think(piece))],
    ['under two names at once', twice],
    ['in details', details],
    ['in parts of the content', parts],
  ])('in a stream, %s', (_name, reasoning) => {
    const given = [...reasoning, say('Hi'), end()];
    const seals = events('messages', { seal }, given).flatMap(({ delta }) => delta?.signature ?? []);
    const [item] = events('responses', { wantsSeal: true, seal }, given).at(-1).response.output;
    expect(item).toMatchObject({ summary: [{ text: shown }], encrypted_content: `sealed: ${raw}` });
    expect(seals).toEqual([`sealed: ${raw}`]);
  });

  test('in a plain answer', () => {
    const [block] = Object(translateAnswer('messages', plainReasoning, { seal })).content;
    expect(block).toEqual({ type: 'thinking', thinking: shown, signature: `sealed: ${raw}` });
    const [item] = Object(translateAnswer('responses', plainReasoning, { wantsSeal: true, seal })).output;
    expect(item).toMatchObject({ summary: [{ text: shown }], encrypted_content: `sealed: ${raw}` });
  });

  test('wherever the stream is split', () => {
    const given = [think('A Thun'), begin('a', 0, 'f', '{}'), think('der B'), say('Hi'), end()];
    const bytes = bytesOf({ chunks: given });
    const whole = translateStream('messages', bytes, { seal }).output;
    expect(whole).toContain('sealed: A Thun"');
    expect(whole).toContain('sealed: der B"');
    const places = [...bytes.keys()].slice(1);
    for (let first = 0; first < 17; first += 1) {
      const cuts = places.filter((at) => at % 17 === first);
      expect(translateStream('messages', bytes, { seal }, cuts).output).toBe(whole);
    }
  });
});
