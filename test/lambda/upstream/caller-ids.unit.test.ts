import { describe, expect, test } from '@jest/globals';
import { applyEdits } from '../../../lambda/json/edit.ts';
import { createScanner } from '../../../lambda/json/scan.ts';
import { keyOf } from '../../../lambda/settings/secrets.ts';
import { createHashId, hashCallerIds } from '../../../lambda/upstream/caller-ids.ts';
import { testRows } from '../../support/test-rows.ts';

const secret = keyOf('secret');
const hash = createHashId(secret, 'me');
const hashed = (body: string, hashId = hash) => {
  const json = createScanner().scan(body);
  return applyEdits(body, hashCallerIds(json, hashId));
};

describe('a hash of an id', () => {
  test('has at most 43 characters, and stays equal for one caller', () => {
    expect(hash('device')).toMatch(/^[\w-]{1,43}$/);
    expect(createHashId(secret, 'me')('device')).toBe(hash('device'));
  });

  test('differs by value, caller and secret, wherever caller and value are split', () => {
    const others = [
      hash('devic'),
      createHashId(secret, 'you')('device'),
      createHashId(keyOf('other'), 'me')('device'),
      createHashId(secret, 'med')('evice'),
    ];
    expect(new Set([hash('device'), ...others]).size).toBe(5);
  });
});

describe('a caller’s ids in a body', () => {
  test('are hashed in every place, and everything else stays byte for byte', () => {
    const body =
      '{ "user":"u", "safety_identifier" : "s","prompt_cache_key":"p","metadata":{"user_id":"d","topic":"t"},' +
      '"client_metadata":{"installation":"i","deep":[{"path":"/home/me","on":true,"count":7}]},"other":{"user":"u"},"n":1.0}';
    expect(hashed(body)).toBe(
      `{ "user":"${hash('u')}", "safety_identifier" : "${hash('s')}","prompt_cache_key":"${hash('p')}",` +
        `"metadata":{"user_id":"${hash('d')}","topic":"t"},"client_metadata":{"installation":"${hash('i')}",` +
        `"deep":[{"path":"${hash('/home/me')}","on":true,"count":"${hash('7')}"}]},"other":{"user":"u"},"n":1.0}`,
    );
  });

  test('are hashed however often they are repeated, in any spelling', () => {
    expect(hashed('{"user":"a","\\u0075ser":"\\u0061","user":"b"}')).toBe(
      `{"user":"${hash('a')}","\\u0075ser":"${hash('a')}","user":"${hash('b')}"}`,
    );
  });

  testRows(['{"user":null}', '{"metadata":"x"}', '{"metadata":null,"user":{"a":"b"}}', '{"client_metadata":[]}'])(
    'is left alone anywhere else',
    (body) => {
      expect(hashed(body)).toBe(body);
    },
  );

  testRows([
    ['client_metadata', (times: number) => `{"client_metadata":[${Array(times).fill('"a"').join()}]}`],
    [
      'lists in it',
      (times: number) =>
        `{"client_metadata":[${Array(times - 1)
          .fill('[             ]')
          .join()},"a"]}`,
    ],
    ['repeated members', (times: number) => `{${Array(times).fill('"user":"a"').join()}}`],
    ['a repeated user_id', (times: number) => `{"metadata":{${Array(times).fill('"user_id":1').join()}}}`],
  ])('are refused as soon as there are more than 1000, before each is hashed', (_, body) => {
    let hashes = 0;
    const count = () => `${++hashes}`;
    expect(hashed(body(1_000), count)).toContain(`"${hashes}"`);
    hashes = 0;
    const refusal = { code: 'invalid_request', message: expect.stringContaining('client_metadata') };
    expect(() => hashed(body(100_000), count)).toThrow(expect.objectContaining(refusal));
    expect(hashes).toBeLessThanOrEqual(1_000);
  });
});
