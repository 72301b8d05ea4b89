import { expect, test } from '@jest/globals';
import { judgeSilence } from '../../../operator/doctor/judge-silence.ts';
import type { Reply } from '../../../operator/doctor/probe.ts';

const interval = 15_000;

function streamOf(...pieces: readonly (readonly [at: number, text: string])[]): Reply {
  const text = pieces.map(([, piece]) => piece).join('');
  const arrivals = pieces.map(([at, piece]) => ({ at, bytes: Buffer.from(piece) }));
  const ask = { method: 'POST', path: '/v1/messages' } as const;
  return { ask, title: 'POST /v1/messages', status: 200, headers: new Headers(), text, arrivals, duration: 0 };
}

test.each<[string, Reply, 'ok' | 'fail' | 'untested', RegExp]>([
  ['a keep-alive', streamOf([15_010, ': keep-alive\n\n'], [29_000, 'data: a\n\n']), 'ok', /longer than 15 s$/],
  ['a ping', streamOf([15_010, 'event: ping\ndata: {}\n\n'], [29_000, 'data: a\n\n']), 'ok', /longer than 15 s$/],
  ['nothing', streamOf([200, 'data: a\n\n'], [31_000, 'data: b\n\n']), 'fail', /: nothing came for 30\.8 s, not a/],
  ['no need', streamOf([200, ': keep-alive\n\n'], [9_000, 'data: b\n\n']), 'untested', /silent for 8\.8 s at most/],
])('a silent model is bridged by %s', (_name, stream, mark, detail) => {
  expect(judgeSilence([streamOf([100, 'data: c\n\n']), stream], interval)).toEqual({
    mark,
    detail: expect.stringMatching(detail),
  });
});
