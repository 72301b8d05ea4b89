import type { z } from 'zod';
import { type Finding, fail, ok } from '../examination/row.ts';
import { parseJson, quote, type Reply } from './probe.ts';

/** Whether a reply is a success of this shape. */
export function judgeShape(reply: Reply, shape: z.ZodType): Finding {
  const fault = reply.status === 200 ? faultIn(reply, shape) : `answered ${quote(reply)}`;
  return fault === undefined ? ok(`${Math.round(reply.duration)} ms`) : fail(fault);
}

/** What is wrong with the type or shape of a body; undefined if nothing is. */
export function faultIn(reply: Reply, shape: z.ZodType): string | undefined {
  const type = reply.headers.get('content-type') ?? 'missing';
  if (!/^application\/json(;|$)/.test(type)) return `content-type is ${type}`;
  const value = parseJson(reply.text);
  if (value === undefined) return `no JSON: ${quote(reply)}`;
  const { error } = shape.safeParse(value);
  const [issue] = error?.issues ?? [];
  if (!issue) return undefined;
  return `${issue.path.join('.') || 'the body'}: ${issue.message}`;
}
