import { type Finding, fail, ok, untested } from '../examination/row.ts';
import { readBody } from './judge-hiding.ts';
import type { Reply } from './probe.ts';

/** The names of the figures, in all dialects. Tokens from a cache may be counted apart. */
const inputNames = ['prompt_tokens', 'input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'];
const outputNames = ['completion_tokens', 'output_tokens'];

/** Whether an answer reports its tokens, which not every upstream does. */
export function judgeUsage(plain: Reply): Finding {
  const { values } = readBody(plain);
  return (
    judgeFigures(values, values) ?? untested('the answer has no usage; check whether the upstream itself reports any')
  );
}

/** Whether a stream reports its tokens at its end. If the plain answer does, they were lost on the way. */
export function judgeStreamUsage(stream: Reply, plain: Reply): Finding {
  const { values } = readBody(stream);
  // The start of a messages stream has a usage as well, which counts next to nothing.
  const finding = judgeFigures(values, values.slice(-4));
  if (finding !== undefined) return finding;
  return highest(readBody(plain).values, outputNames) === undefined
    ? untested('neither the stream nor the plain answer has usage; check whether the upstream itself reports any')
    : fail('it has none, unlike the plain answer');
}

/** A question and its answer have some tokens each: a 0 would make them free in the operator's figures. */
function judgeFigures(all: readonly unknown[], last: readonly unknown[]): Finding | undefined {
  const output = highest(last, outputNames);
  if (output === undefined) return undefined;
  if (output === 0) return fail('it reports 0 output tokens');
  return highest(all, inputNames) === 0 ? fail('it reports 0 input tokens') : ok();
}

/** The highest figure of these names in the usages anywhere within values; undefined if there is none. */
function highest(values: readonly unknown[], names: readonly string[]): number | undefined {
  const figures = values.flatMap(usagesIn).flatMap((usage) => names.map((name) => usage[name]));
  const counts = figures.filter((figure) => typeof figure === 'number');
  return counts.length > 0 ? Math.max(...counts) : undefined;
}

function usagesIn(value: unknown): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === 'usage' && typeof inner === 'object' && inner !== null
      ? [inner as Record<string, unknown>]
      : usagesIn(inner),
  );
}
