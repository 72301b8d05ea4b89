import { expect, test } from '@jest/globals';
import { readEvents } from '../../../support/client-view.ts';
import { call, end, say, think } from './cases/case.ts';
import { bytesOf, type Client, plainOf, type Setup, translateAnswer, translateStream } from './translated.ts';
import { assertStream } from './validate.ts';

const chunks = [think('Hm,'), think(' so.'), say('Hello'), end()];
const plain = plainOf({ name: '', chunks, says: [{ thought: 'Hm, so.' }, { text: 'Hello' }] }) ?? {};

const events = (client: Client, setup: Setup, given: readonly object[] = chunks) => {
  const read = readEvents(translateStream(client, bytesOf({ chunks: given }), setup).output);
  assertStream(client, read);
  return read.map(({ value }) => Object(value));
};

/** Seals that say which they are. */
const seals = () => {
  let count = 0;
  return () => {
    count += 1;
    return `seal ${count}`;
  };
};

test('thoughts are sealed for responses clients that ask for it', () => {
  const setup = () => ({ wantsSeal: true, sealThoughts: seals() });
  const [item] = events('responses', setup()).at(-1).response.output;
  expect(item).toMatchObject({ type: 'reasoning', encrypted_content: 'seal 1' });
  expect(Object(translateAnswer('responses', plain, setup())).output[0]).toMatchObject(item);
  const [unasked] = events('responses', { sealThoughts: seals() }).at(-1).response.output;
  expect(unasked).not.toHaveProperty('encrypted_content');
});

test('thoughts that were asked for and can not be sealed say null', () => {
  const [item] = events('responses', { wantsSeal: true }).at(-1).response.output;
  expect(item.encrypted_content).toBe(null);
});

test('thoughts are sealed in the signature of a block, before it stops', () => {
  const types = events('messages', { sealThoughts: seals() }).map(({ type, delta }) => delta?.type ?? type);
  expect(types.slice(3, 7)).toEqual(['thinking_delta', 'thinking_delta', 'signature_delta', 'content_block_stop']);
  const [block] = Object(translateAnswer('messages', plain, { sealThoughts: seals() })).content;
  expect(block).toEqual({ type: 'thinking', thinking: 'Hm, so.', signature: 'seal 1' });
});

test('each block of thoughts is sealed once, in its turn, also while it waits behind a call', () => {
  const given = [
    ...[think('A'), call({ index: 0, id: 'a', name: 'f', args: '{' }), think('B'), say('c'), think('D')],
    ...[call({ index: 0, args: '}' }), end()],
  ];
  const signatures = events('messages', { sealThoughts: seals() }, given).flatMap(
    ({ delta }) => delta?.signature ?? [],
  );
  expect(signatures).toEqual(['seal 1', 'seal 2', 'seal 3']);
});

test('thoughts that a messages client wants omitted stand in the seal only', () => {
  const setup = () => ({ showsThoughts: false, sealThoughts: seals() });
  expect(JSON.stringify(events('messages', setup()))).not.toContain('Hm');
  const types = events('messages', setup()).map(({ type, delta }) => delta?.type ?? type);
  expect(types.slice(2, 5)).toEqual(['content_block_start', 'signature_delta', 'content_block_stop']);
  const [block] = Object(translateAnswer('messages', plain, setup())).content;
  expect(block).toEqual({ type: 'thinking', thinking: '', signature: 'seal 1' });
});
