import { type Finding, note, ok } from '../examination/row.ts';
import type { AskOnce, Reply } from './ask.ts';

interface Options {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the server itself answered, rather than the platform. */
  readonly isOwn: (reply: Reply) => boolean;
}

/** Shows how the platform refuses requests, each kind of answer once. There is no right or wrong. */
export async function judgeThrottle(ask: AskOnce, count: number, { path, headers, isOwn }: Options): Promise<Finding> {
  const replies = await Promise.all(
    Array.from({ length: count }, () => ask({ path, headers }).catch((error: Error) => error.message)),
  );
  const foreign = replies.flatMap((reply) => (typeof reply === 'string' || !isOwn(reply) ? [describe(reply)] : []));
  if (foreign.length === 0) return ok(`all ${count} were answered by the server`);
  const kinds = [...new Set(foreign)];
  return note(`${foreign.length} of ${count}: ${kinds.slice(0, 3).join(' | ')}`);
}

const telling = /^(content-type|retry-after|x-amzn-errortype|lambda-web-.*)$/;

function describe(reply: Reply | string): string {
  if (typeof reply === 'string') return reply;
  const headers = Object.entries(reply.headers).filter(([name]) => telling.test(name) && !/request-id/.test(name));
  const shown = headers.map(([name, value]) => `${name}: ${value}`).join(', ');
  return `${reply.status} (${shown}) ${reply.text.slice(0, 120).replace(/\s+/g, ' ')}`.trim();
}
