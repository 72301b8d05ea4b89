import { expect, test } from '@jest/globals';
import { dynamoDbService, secretsManagerService } from '../../../lambda/aws/access.ts';
import { createSign } from '../../../lambda/aws/sign.ts';
import { signAsSdk } from '../../support/fake-service.ts';
import fc from '../../support/properties.ts';

const word = (letters: string, most: number) =>
  fc.string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength: most });
const [lower, digits] = ['abcdefghijklmnopqrstuvwxyz', '0123456789'];
const base64 = `${lower}${lower.toUpperCase()}${digits}+/=`;

const credentials = fc.record(
  {
    accessKeyId: word(lower.toUpperCase() + digits, 30),
    secretAccessKey: fc.string(),
    sessionToken: word(base64, 900),
  },
  { requiredKeys: ['accessKeyId', 'secretAccessKey'] },
);
const endpoint = fc.record({
  scheme: fc.constantFrom('http', 'https'),
  host: fc.domain(),
  port: fc.constantFrom('', ':80', ':443', ':8000'),
  path: fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 4 }),
});
const call = fc.record({
  operation: fc.constantFrom('GetItem', 'UpdateItem', 'GetSecretValue'),
  body: fc.string({ unit: 'grapheme', maxLength: 200 }),
  time: fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) }),
  attempt: fc.constantFrom('attempt=1; max=3', 'attempt=3; max=3'),
});

/** A process signs many calls, while the day and the credentials change now and then. */
const calls = fc.array(fc.tuple(call, credentials, fc.boolean()), { minLength: 1, maxLength: 5 });

test('every call is signed as the SDK signs it', async () => {
  const service = fc.constantFrom(dynamoDbService, secretsManagerService);
  const property = fc.asyncProperty(service, word(lower + digits, 20), endpoint, calls, async (...given) => {
    const [service, region, { scheme, host, port, path }, signed] = given;
    const url = new URL(`${scheme}://${host}${port}`);
    url.pathname = path.join('/');
    const sign = createSign(service, region, url);
    let latest = signed[0]?.[1];
    for (const [call, own, changes] of signed) {
      latest = changes || !latest ? own : latest;
      const list = sign(call, latest);
      const headers: Record<string, string> = Object.fromEntries(
        list.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), list[at + 1] ?? '']] : [])),
      );
      const request = { method: 'POST', path: url.pathname, headers, body: call.body };
      expect(headers.authorization).toBe(
        await signAsSdk(request, { service: service.name, region, credentials: latest }),
      );
      const second = new Date(call.time - (call.time % 1000)).toISOString().replace('.000', '');
      expect(headers['x-amz-date']).toBe(second.replaceAll(/[-:]/g, ''));
      expect(Object.keys(headers)).toEqual(expect.arrayContaining(['host', 'x-amz-date', 'x-amz-target']));
    }
  });
  await fc.assert(property, { numRuns: 300 });
});
