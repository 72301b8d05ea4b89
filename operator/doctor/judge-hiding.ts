import { createSseReader } from '../../lambda/stream/sse.ts';
import { parseJson, type Reply } from './probe.ts';

const telltale = /^(provider|system_fingerprint|native_finish_reason|x_.+)$/;

/** What in a body tells who answered: a field that names it, or a model that is not a public one. Undefined where nothing does. */
export function findTrace({ text, headers }: Reply, publicModels: readonly string[]): string | undefined {
  const values = headers.get('content-type')?.startsWith('text/event-stream') ? valuesIn(text) : [parseJson(text)];
  for (const value of values) {
    const trace = search(value, publicModels, '');
    if (trace !== undefined) return trace;
  }
  return undefined;
}

function valuesIn(stream: string): unknown[] {
  const values: unknown[] = [];
  const reader = createSseReader({ onEvent: ({ data }) => values.push(parseJson(data)), onComment: () => {} });
  reader.push(Buffer.from(stream));
  return values;
}

function search(value: unknown, publicModels: readonly string[], path: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const place = path === '' ? name : `${path}.${name}`;
    if (!Array.isArray(value) && telltale.test(name)) return `${place} is there`;
    if (name === 'model' && typeof inner === 'string' && !publicModels.includes(inner)) return `${place} is ${inner}`;
    const trace = search(inner, publicModels, place);
    if (trace !== undefined) return trace;
  }
  return undefined;
}
