import { describe, expect, test } from '@jest/globals';
import { createModels } from '../../lambda/models.ts';
import { testRows } from '../support/test-rows.ts';

const models = createModels('svc', [
  { from: 'gpt-', prefix: true, to: 'svc' },
  { from: 'gpt-eyes', prefix: true, to: 'svc-vision' },
  { from: 'svc', prefix: false, to: 'svc-vision' },
]);

const svc = ['svc', 'svc-private', 'svc-text', 'opus', 'sonnet', 'haiku', 'opus[1m]', 'fam-9', 'vendor.anything'];
const more = ['claude-opus-4', 'anthropic.claude', 'gpt-5'];

describe('resolve', () => {
  testRows([
    ...[...svc, ...more].map((id) => [id, 'svc'] as const),
    ...['svc-vision', 'svc-image', 'gpt-eyes-2'].map((id) => [id, 'svc-vision'] as const),
  ])('each name is one of the models', (id, expected) => {
    expect(models.resolve(id)?.id).toBe(expected);
  });

  testRows(['', 'SVC', 'Opus', 'opus-4', 'svc-', 'fam', 'vendor', 'other', '__proto__', 'constructor'])(
    'any other is unknown',
    (id) => {
      expect(models.resolve(id)).toBeUndefined();
    },
  );

  test('the service name makes the ids', () => {
    const own = createModels('lumen', []);
    expect([own.text.id, own.vision.id]).toEqual(['lumen', 'lumen-vision']);
    expect(own.resolve('lumen-image')?.id).toBe('lumen-vision');
    expect(own.resolve('svc')).toBeUndefined();
  });
});
