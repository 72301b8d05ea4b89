import type { z } from 'zod';
import { parseJson } from '../../lambda/settings/json.ts';
import { membersIn, quote, type Reply, readBody } from './probe.ts';
import { type Finding, fail, note, ok, okUnless, untested } from './report.ts';

export const checkShape = (reply: Reply, shape: z.ZodType): Finding =>
  okUnless(reply.status === 200 ? faultInBody(reply, shape) : `answered ${quote(reply)}`);

/** Whether the model calls tools, which agents depend on. */
export function checkCall(reply: Reply, answer: z.ZodType, call: z.ZodType): Finding {
  const finding = checkShape(reply, answer);
  if (finding.mark !== 'ok' || call.safeParse(parseJson(reply.text)).success) return finding;
  return note(
    'the model did not call the tool that it was given, as agents need it to: ' +
      "look up the upstream in docs/upstreams.md (many servers need a parser for their model's calls), or choose another model",
  );
}

export function faultInBody(reply: Reply, shape: z.ZodType): string | undefined {
  const type = reply.headers.get('content-type') ?? 'missing';
  if (!/^application\/json(;|$)/.test(type)) return `content-type is ${type}`;
  const value = parseJson(reply.text);
  if (value === undefined) return `no JSON: ${quote(reply)}`;
  const { error } = shape.safeParse(value);
  const [issue] = error?.issues ?? [];
  if (!issue) return undefined;
  return `${issue.path.join('.') || 'the body'}: ${issue.message}`;
}

/** Whether answers and streams report usage, which budgets and costs depend on. Not every upstream does. */
export function checkUsage(plain: Reply, stream: Reply): Finding {
  const [plainTokens, streamTokens] = [outputTokens(plain), outputTokens(stream)];
  if (plainTokens === undefined && streamTokens === undefined) {
    return untested('neither the answer nor the stream has usage; check whether the upstream itself reports any');
  }
  // A Messages stream reports next to no output tokens at its start, and all of them at its end.
  const lacking = Object.entries({ answer: plainTokens ?? 0, stream: streamTokens ?? 0 }).find(
    ([, tokens]) => tokens <= 1,
  );
  return lacking ? fail(`the ${lacking[0]} reports ${lacking[1]} output tokens`) : ok();
}

/** The highest count in any usage object of the body; undefined if there is none. */
function outputTokens(reply: Reply): number | undefined {
  const members = readBody(reply).values.flatMap((value) => membersIn(value));
  const counts = members.flatMap(({ place, value }) =>
    /(^|\.)usage\.(completion|output)_tokens$/.test(place) && typeof value === 'number' ? value : [],
  );
  return counts.length > 0 ? Math.max(...counts) : undefined;
}
