import type { Asked, Dialect, Question } from '../../lambda/dialects/dialect.ts';
import { createDialects } from '../../lambda/dialects/index.ts';
import { createScanner } from '../../lambda/json/scan.ts';
import type { Usage } from '../../lambda/stream/marks.ts';
import { type RewrittenAnswer, rewriteAnswer as rewrite } from '../../lambda/stream/rewrite-answer.ts';
import { createStreamRewriter, type StreamRewriter } from '../../lambda/stream/rewrite-stream.ts';
import { createScrubber } from '../../lambda/stream/scrub.ts';
import { atOnce } from './at-once.ts';
import { upstreamIdentity } from './upstream-identity.ts';

const { textModel, visionModel, host, names } = upstreamIdentity;
export const scrubber = createScrubber([textModel, visionModel, host, ...names], 'svc');
export const hiding = { scrubber, publicModel: 'svc', explain: scrubber.scrub };

export const dialects = createDialects({ signsThinking: false, streamUsage: false });

export function dialectNamed(name: string): Dialect {
  const dialect = dialects.find((one) => one.name === name);
  if (!dialect) throw new Error(`no dialect ${name}`);
  return dialect;
}

/** A question in this dialect with default options, except the given ones. */
export function questionIn(dialect: Dialect, asked: Partial<Asked> = {}): Question {
  return { dialect, asked: { choices: 1, stops: new Set(), ...asked } };
}

export interface Rewritten {
  readonly output: string;
  /** What came out after each piece, and at the end. */
  readonly pieces: readonly string[];
  readonly rewriter: StreamRewriter;
  readonly usage: Usage;
}

/** Feeds a stream to a fresh rewriter, cut at these offsets. */
export function rewriteStream(
  dialect: Dialect,
  bytes: Uint8Array,
  cuts: readonly number[] = [],
  asked: Partial<Asked> = {},
): Rewritten {
  const usage: Usage = {};
  const rewriter = createStreamRewriter(questionIn(dialect, asked), hiding, usage);
  const edges = [0, ...cuts, bytes.length];
  const pieces = edges.slice(1).map((end, index) => rewriter.push(bytes.subarray(edges[index], end)));
  pieces.push(rewriter.finish());
  return { output: pieces.join(''), pieces, rewriter, usage };
}

/** Rewrites a plain answer, given as text or parsed. */
export function rewriteAnswer(dialect: Dialect, answer: unknown, asked: Partial<Asked> = {}): RewrittenAnswer {
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  const usage: Usage = {};
  return atOnce(rewrite(text, questionIn(dialect, asked), hiding, createScanner(), usage));
}
