import type { Dialect } from '../../lambda/dialects/dialect.ts';
import { createDialects } from '../../lambda/dialects/index.ts';
import type { Usage } from '../../lambda/stream/marks.ts';
import { createStreamRewriter, type StreamRewriter } from '../../lambda/stream/rewrite-stream.ts';
import { createScrubber } from '../../lambda/stream/scrub.ts';
import { upstreamIdentity } from './upstream-identity.ts';

const { textModel, visionModel, host, names } = upstreamIdentity;
export const scrubber = createScrubber([textModel, visionModel, host, ...names], 'svc');
export const hiding = { scrubber, publicModel: 'svc', explain: scrubber.scrub };

export const dialects = createDialects({ signsThinking: false });

export function dialectNamed(name: string): Dialect {
  const dialect = dialects.find((one) => one.name === name);
  if (!dialect) throw new Error(`no dialect ${name}`);
  return dialect;
}

export interface Rewritten {
  readonly output: string;
  /** What left with each piece, and at the end. */
  readonly pieces: readonly string[];
  readonly rewriter: StreamRewriter;
  readonly usage: Usage;
}

/** Feeds a stream to a fresh rewriter, cut at these offsets. */
export function rewriteStream(dialect: Dialect, bytes: Uint8Array, cuts: readonly number[] = []): Rewritten {
  const usage: Usage = { input: undefined, output: undefined };
  const rewriter = createStreamRewriter(dialect, hiding, usage);
  const edges = [0, ...cuts, bytes.length];
  const pieces = edges.slice(1).map((end, index) => rewriter.push(bytes.subarray(edges[index], end)));
  pieces.push(rewriter.finish());
  return { output: pieces.join(''), pieces, rewriter, usage };
}
