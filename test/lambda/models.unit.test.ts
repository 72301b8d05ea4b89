import { describe, expect, test } from '@jest/globals';
import { createModels } from '../../lambda/models.ts';
import { testRows } from '../support/test-rows.ts';

const models = createModels('svc', [
  { from: 'gpt-', prefix: true, to: 'svc' },
  { from: 'gpt-eyes', prefix: true, to: 'svc-vision' },
  { from: 'svc', prefix: false, to: 'svc-vision' },
]);

describe('resolve', () => {
  testRows([
    ['svc', 'svc'],
    ['svc-vision', 'svc-vision'],
    ['svc-private', 'svc'],
    ['svc-text', 'svc'],
    ['svc-image', 'svc-vision'],
    ['opus', 'svc'],
    ['sonnet', 'svc'],
    ['haiku', 'svc'],
    ['opus[1m]', 'svc'],
    ['fam-9', 'svc'],
    ['vendor.anything', 'svc'],
    ['claude-opus-4', 'svc'],
    ['anthropic.claude', 'svc'],
    ['gpt-5', 'svc'],
    ['gpt-eyes-2', 'svc-vision'],
  ])('each name is one of the models', (id, expected) => {
    expect(models.resolve(id)?.id).toBe(expected);
  });

  testRows(['', 'SVC', 'Opus', 'opus-4', 'svc-', 'fam', 'vendor', 'other', '__proto__', 'constructor'])(
    'any other is unknown',
    (id) => {
      expect(models.resolve(id)).toBeUndefined();
    },
  );

  test('a message quotes no hidden name and no key from an unknown id', () => {
    const hiding = createModels('svc', [], (text) => /acme/i.test(text));
    expect(hiding.quote('gpt-5')).toBe(": 'gpt-5'");
    for (const id of ['AcmeCorp', 'acmecorp/thunder', 'sk-1234']) expect(hiding.quote(id)).toBe('');
  });

  test('the service name makes the ids', () => {
    const own = createModels('lumen', []);
    expect([own.text.id, own.vision.id]).toEqual(['lumen', 'lumen-vision']);
    expect(own.resolve('lumen-image')?.id).toBe('lumen-vision');
    expect(own.resolve('svc')).toBeUndefined();
  });
});
