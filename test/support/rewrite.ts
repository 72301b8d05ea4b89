import type { AnswerFormat, Dialect } from '../../lambda/dialects/dialect.ts';
import { dialects } from '../../lambda/dialects/index.ts';
import type { ExpectedAnswer } from '../../lambda/dialects/model/expected-answer.ts';
import type { Usage } from '../../lambda/dialects/model/findings.ts';
import { createScrubber } from '../../lambda/hiding/scrub.ts';
import { createScanner, scanLeniently } from '../../lambda/json/scan.ts';
import { type Rewriting, rewriteAnswer as rewrite } from '../../lambda/stream/rewrite-answer.ts';
import { createStreamRewriter, type StreamRewriter } from '../../lambda/stream/rewrite-stream.ts';
import { upstreamIdentity } from './upstream-identity.ts';

const { textModel, visionModel, host, names } = upstreamIdentity;
export const scrubber = createScrubber([textModel, visionModel, host, ...names], 'svc');
export const hiding = { scrubber, showsGenerated: false, publicModel: 'svc', explain: scrubber.scrub };

export { dialects };

export function dialectNamed(name: string): Dialect {
  const dialect = dialects.find((one) => one.name === name);
  if (!dialect) throw new Error(`no dialect ${name}`);
  return dialect;
}

/** An answer format of this dialect, with these options. */
export function formatOf(dialect: Dialect, expected: Partial<ExpectedAnswer> = {}): AnswerFormat {
  return { dialect, expected: { choices: 1, stops: new Set(), ...expected } };
}

interface Rewritten {
  readonly output: string;
  /** The output after each chunk, and at the end. */
  readonly pieces: readonly string[];
  readonly rewriter: StreamRewriter;
  readonly usage: Usage;
  /** How many events were parsed because they differed in shape from the previous one. */
  readonly read: number;
}

/** Feeds a stream, cut at these offsets, to a fresh rewriter. */
export function rewriteStream(
  dialect: Dialect,
  bytes: Uint8Array,
  cuts: readonly number[] = [],
  expected: Partial<ExpectedAnswer> = {},
  otherHiding: Partial<Rewriting> = {},
): Rewritten {
  const usage: Usage = {};
  let read = 0;
  const counting = { ...hiding, ...otherHiding, onRead: () => (read += 1) };
  const rewriter = createStreamRewriter(formatOf(dialect, expected), counting, usage);
  const edges = [0, ...cuts, bytes.length];
  const pieces = edges.slice(1).map((end, index) => rewriter.push(bytes.subarray(edges[index], end)));
  pieces.push(rewriter.finish());
  return { output: pieces.join(''), pieces, rewriter, usage, read };
}

/** Rewrites a plain answer, given as text or parsed. */
export function rewriteAnswer(
  dialect: Dialect,
  answer: unknown,
  expected: Partial<ExpectedAnswer> = {},
  otherHiding: Partial<Rewriting> = {},
): string {
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  const json = scanLeniently(createScanner(), text);
  return rewrite(json, formatOf(dialect, expected), { ...hiding, ...otherHiding }, {});
}

/** The same, parsed as a client would. */
export function answerOf(...given: Parameters<typeof rewriteAnswer>) {
  return JSON.parse(rewriteAnswer(...given));
}
