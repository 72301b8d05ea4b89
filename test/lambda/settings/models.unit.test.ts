import { describe, expect, test } from '@jest/globals';
import { createModels } from '../../../lambda/settings/models.ts';
import { testRows } from '../../support/test-rows.ts';

const modelAliases = [
  { from: 'gpt-', prefix: true, to: 'svc' },
  { from: 'gpt-eyes', prefix: true, to: 'svc-vision' },
  { from: 'text-embedding-', prefix: true, to: 'svc-embedding' },
  { from: 'svc', prefix: false, to: 'svc-vision' },
];
const models = createModels({ serviceName: 'svc', modelAliases, offersEmbeddings: false });
const withEmbeddings = createModels({ serviceName: 'svc', modelAliases, offersEmbeddings: true });

const svc = ['svc', 'svc-private', 'svc-text', 'opus', 'sonnet', 'haiku', 'opus[1m]', 'fam-9', 'vendor.anything'];
const more = ['claude-opus-4', 'anthropic.claude', 'gpt-5'];

describe('resolve', () => {
  testRows([
    ...[...svc, ...more].map((id) => [id, 'svc'] as const),
    ...['svc-vision', 'svc-image', 'gpt-eyes-2'].map((id) => [id, 'svc-vision'] as const),
  ])('each name resolves to one of the models', (id, expected) => {
    expect(models.resolve(id)?.id).toBe(expected);
  });

  testRows(['svc-embedding', 'text-embedding-3-small'])('the embedding model resolves if it is offered', (id) => {
    expect(withEmbeddings.resolve(id)).toBe(withEmbeddings.embedding);
    expect(models.resolve(id)).toBeUndefined();
  });

  test('a variant in brackets resolves like its id', () => {
    const own = createModels({
      serviceName: 'svc',
      modelAliases: [{ from: 'opus', prefix: false, to: 'svc-vision' }],
      offersEmbeddings: false,
    });
    expect([own.resolve('opus[1m]')?.id, own.resolve('haiku[1m]')?.id]).toEqual(['svc-vision', 'svc']);
  });

  testRows([
    ...['', 'SVC', 'Opus', 'opus-4', 'svc-', 'fam', 'vendor', 'other', '__proto__', 'constructor'],
    ...['opus[1m', 'opus[]', 'opus[1m]x', 'svc[1m]', '[1m]'],
  ])('any other is unknown', (id) => {
    expect(models.resolve(id)).toBeUndefined();
  });

  test('ids derive from the service name', () => {
    const own = createModels({ serviceName: 'lumen', offersEmbeddings: true });
    expect(own.all.map(({ id }) => id)).toEqual(['lumen', 'lumen-vision', 'lumen-embedding']);
    expect(own.resolve('lumen-image')?.id).toBe('lumen-vision');
    expect(own.resolve('svc')).toBeUndefined();
  });
});
