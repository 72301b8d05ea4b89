import { expect, test } from '@jest/globals';
import { createChannelMap } from '../../../lambda/stream/text-channels.ts';

test('channels are found by nothing, by their first four steps and by their whole name, in order', () => {
  const channels = createChannelMap<number>();
  const names = ['0/a', '0/b/1/x/y/z', '1/a', '0/b/1/x', '0/bc'];
  for (const [at, name] of names.entries()) channels.set(name, at);
  const found = Object.fromEntries(
    ['', '0/', '0/b/', '0/b/1/', '0/b/1/x', '1/a', '0/b/1/x/', '0/b/1/x/y/', '0/b', '2/'].map((prefix) => [
      prefix,
      channels.under(prefix),
    ]),
  );
  expect(found).toEqual({
    '': names,
    '0/': ['0/a', '0/b/1/x/y/z', '0/b/1/x', '0/bc'],
    '0/b/': ['0/b/1/x/y/z', '0/b/1/x'],
    '0/b/1/': ['0/b/1/x/y/z', '0/b/1/x'],
    '0/b/1/x': ['0/b/1/x'],
    '1/a': ['1/a'],
    '0/b/1/x/': ['0/b/1/x/y/z'],
    '0/b/1/x/y/': [],
    '0/b': [],
    '2/': [],
  });
});

test('one that is set again keeps its place, a deleted one is not found', () => {
  const channels = createChannelMap<number>();
  for (const name of ['0/a', '0/b', '0/a']) channels.set(name, name.length + channels.under('').length);
  expect([channels.get('0/a'), channels.get('0/b'), channels.get('0/c')]).toEqual([5, 4, undefined]);
  expect(channels.under('0/')).toEqual(['0/a', '0/b']);
  channels.delete('0/a');
  channels.delete('0/a');
  expect([channels.under(''), channels.under('0/a'), channels.get('0/a')]).toEqual([['0/b'], [], undefined]);
});
