import { createSseReader } from '../../lambda/stream/sse.ts';
import { parseJson, type Reply } from './probe.ts';

const telltale = /^(provider|system_fingerprint|native_finish_reason|x_.+)$/;
const stackTrace = /\bat [^"]{0,200}\.[cm]?[jt]s:\d+(:\d+)?/;

/**
 * The first trace in a body of who answered: a field or comment that names them, a model that is not public, a stack trace.
 * Undefined if nothing does.
 */
export function findTrace(reply: Reply, publicModels: readonly string[]): string | undefined {
  const { values, comments } = readBody(reply);
  const comment = comments.find((text) => text.trim() !== 'keep-alive');
  if (comment !== undefined) return `a comment says ${comment.trim().slice(0, 100)}`;
  for (const value of values) {
    const trace = search(value, publicModels, '');
    if (trace !== undefined) return trace;
  }
  const [line] = reply.status === 200 ? [] : (stackTrace.exec(reply.text) ?? []);
  return line === undefined ? undefined : `a stack trace: ${line}`;
}

/** The JSON values of a body, and the comments between them. */
export function readBody({ text, headers }: Pick<Reply, 'text' | 'headers'>) {
  if (!headers.get('content-type')?.startsWith('text/event-stream')) return { values: [parseJson(text)], comments: [] };
  const values: unknown[] = [];
  const reader = createSseReader({ onEvent: ({ data }) => values.push(parseJson(data)), onComment: () => {} });
  reader.push(Buffer.from(text));
  return { values, comments: [...text.matchAll(/^:(.*)$/gm)].map(([, comment = '']) => comment) };
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
