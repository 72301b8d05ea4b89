import { z } from 'zod';
import { type Finding, fail, ok, untested } from '../examination/row.ts';
import { readBody } from './judge-hiding.ts';
import type { Reply } from './probe.ts';

const count = z.int().positive();
const usage = z.union([z.object({ completion_tokens: count }), z.object({ output_tokens: count })]);

/** Whether an answer reports its tokens, which not every upstream does. */
export function judgeUsage(plain: Reply): Finding {
  return readBody(plain).values.some(hasUsage)
    ? ok()
    : untested('the answer has no usage; check whether the upstream itself reports any');
}

/** Whether a stream reports its tokens at its end. If the plain answer does, they were lost on the way. */
export function judgeStreamUsage(stream: Reply, plain: Reply): Finding {
  // The start of a messages stream has a usage as well, which counts next to nothing.
  if (readBody(stream).values.slice(-4).some(hasUsage)) return ok();
  const plainHas = readBody(plain).values.some(hasUsage);
  return plainHas
    ? fail('it has none, unlike the plain answer')
    : untested('neither the stream nor the plain answer has usage; check whether the upstream itself reports any');
}

function hasUsage(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, inner]) =>
    name === 'usage' ? usage.safeParse(inner).success : hasUsage(inner),
  );
}
