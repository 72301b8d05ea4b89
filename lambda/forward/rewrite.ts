import type { AnswerFormat, Dialect } from '../dialects/dialect.ts';
import type { ExpectedAnswer } from '../dialects/model/expected-answer.ts';
import type { Usage } from '../dialects/model/findings.ts';
import type { Sealing } from '../dialects/model/seal.ts';
import { GatewayError } from '../errors.ts';
import { createScrubber, type Scrubber } from '../hiding/scrub.ts';
import type { Json } from '../json/scan.ts';
import { type Rewriting, rewriteAnswer } from '../stream/rewrite-answer.ts';
import { isOverLimit, UpstreamFailure } from '../upstream/failure.ts';
import { type Fault, toFault } from '../upstream/fault.ts';
import type { Translated } from '../upstream/upstream-request.ts';
import { createExplainer } from './explain.ts';

/** How to rewrite an answer: plain data, so that it can be sent to a worker thread. */
export interface AnswerRewriting {
  /** The dialect of the answer. */
  readonly dialect: Dialect['name'];
  readonly expected: ExpectedAnswer;
  readonly names: Scrubber['names'];
  readonly showsGenerated: boolean;
  readonly publicModel: string;
  /** The keys that were sent to the upstream, which may echo them. */
  readonly concealed: readonly string[];
  /** Whether to count the bytes of text that the model wrote. */
  readonly countsText: boolean;
  readonly translation?: AnswerTranslation | undefined;
  /** Present if the upstream signs the reasoning that the client sees. Seals replace signatures that it would refuse. */
  readonly signing?: Sealing | undefined;
}

/** How to translate an answer that is not in the client's dialect. */
export interface AnswerTranslation extends Pick<Translated, 'answer' | 'sealing' | 'signsThinking'> {
  readonly now: number;
  /** For the answer of a token count: its `object` member. Undefined for an answer of a model. */
  readonly count?: { readonly object: string | undefined } | undefined;
}

/** A rewritten answer, or why there is none; either way with the usage. */
export interface RewrittenAnswer {
  readonly result: { readonly text: string } | { readonly fault: Fault };
  readonly usage: Usage;
  readonly textBytes: number;
}

export type RewriteText = (
  json: Json,
  format: AnswerFormat,
  hiding: Rewriting,
  usage: Usage,
  by: AnswerRewriting,
) => string;

interface RewriteWholeNeeds {
  readonly dialects: readonly Dialect[];
  /** Replaces hidden names. */
  readonly serviceName: string;
  readonly loadTranslating: () => Promise<{
    readonly rewriteAndTranslate: RewriteText;
    readonly rewriteSigned: RewriteText;
  }>;
}

export function createRewriteWhole({ dialects, serviceName, loadTranslating }: RewriteWholeNeeds) {
  let scrubber: Scrubber | undefined;

  /** Cached: names hardly ever change, and compiling their patterns is slow. */
  function scrubberOf(names: Scrubber['names']): Scrubber {
    const isKnown = scrubber?.names.length === names.length && scrubber.names.every((name, at) => name === names[at]);
    if (!scrubber || !isKnown) scrubber = createScrubber(names, serviceName);
    return scrubber;
  }

  async function chooseRewriting({ translation, signing }: AnswerRewriting): Promise<RewriteText> {
    if (translation) return (await loadTranslating()).rewriteAndTranslate;
    return signing ? (await loadTranslating()).rewriteSigned : rewritePassedThrough;
  }

  return async (json: Json, by: AnswerRewriting): Promise<RewrittenAnswer> => {
    const rewriteText = await chooseRewriting(by);
    const dialect = dialects.find(({ name }) => name === by.dialect);
    if (!dialect) throw new TypeError(`there are no answers of ${by.dialect}`);
    const explainer = createExplainer(scrubberOf(by.names), by.concealed);
    const usage: Usage = {};
    let textBytes = 0;
    const count = (text: string) => {
      textBytes += Buffer.byteLength(text);
    };
    const hiding: Rewriting = {
      scrubber: scrubberOf(by.names),
      showsGenerated: by.showsGenerated,
      publicModel: by.publicModel,
      explain: explainer.sentence,
      ...(by.countsText && { onText: count, onToolArguments: count }),
    };
    try {
      const text = rewriteText(json, { dialect, expected: by.expected }, hiding, usage, by);
      return { result: { text }, usage, textBytes };
    } catch (cause) {
      const isTooLong = isOverLimit(cause);
      const failure =
        cause instanceof GatewayError ? cause : new UpstreamFailure('unusable', { cause, charged: isTooLong });
      // If it was too much to read, all of it counts as text.
      return { result: { fault: toFault(failure) }, usage, textBytes: isTooLong ? json.text.length : textBytes };
    }
  };
}

const rewritePassedThrough: RewriteText = (json, format, hiding, usage) => rewriteAnswer(json, format, hiding, usage);
