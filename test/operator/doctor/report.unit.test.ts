import { expect, test } from '@jest/globals';
import { createFold, fail, note, ok, renderRow } from '../../../operator/doctor/report.ts';

test('a fault of the gateway is said once, whichever checks meet it', () => {
  const fold = createFold();
  const refused = (shape: string, advice: string) => fail(`answered 502 ${shape}; ${advice}`);
  const openAi =
    '{"error":{"message":"The gateway could not get \\"access\\" to the model. This request was not charged.","type":"server_error"}}';
  const messages =
    '{"type":"error","error":{"type":"api_error","message":"The gateway could not get \\"access\\" to the model."}}';
  const other = '{"error":{"message":"The model did not answer in time."}}';
  const rows = [
    { area: 'chat', check: 'answers', ...refused(openAi, 'do this') },
    { area: 'chat', check: 'streams', ...refused(openAi, 'do this') },
    { area: 'messages', check: 'answers', ...refused(messages, 'do that') },
    { area: 'responses', check: 'answers', ...refused(other, 'do this') },
    { area: 'responses', check: 'counts', ...fail('it says nothing of a message') },
    { area: 'quota', check: 'limits', ...ok(openAi) },
    { area: 'quota', check: 'others', ...note(openAi) },
  ];
  const [first, ...rest] = rows.map(fold).map(({ detail }) => detail);
  expect(first).toBe(`answered 502 ${openAi}; do this`);
  expect(rest.slice(0, 2)).toEqual(['the same as chat: answers', 'the same as chat: answers']);
  expect(rest.slice(2)).toEqual(rows.slice(3).map(({ detail }) => detail));
  expect(rows.map(fold).every(({ mark }, place) => mark === rows[place]?.mark)).toBe(true);
});

test('nothing that a server sent is obeyed by a terminal', () => {
  const row = { area: 'hiding', check: 'no foreign header', ...fail('x-foreign: a\u009b2J\u001b[2J') };
  expect(renderRow(row)).toBe('✘ hiding     no foreign header           x-foreign: a?2J?[2J');
});
