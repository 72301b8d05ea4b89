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

/** What an answer is rewritten by: plain data, which a thread can be sent. */
export interface AnswerRewriting {
  /** The dialect of the answer. */
  readonly dialect: Dialect['name'];
  readonly expected: ExpectedAnswer;
  readonly names: Scrubber['names'];
  readonly showsGenerated: boolean;
  readonly publicModel: string;
  /** The keys that the upstream was sent, and may repeat. */
  readonly concealed: readonly string[];
  /** Whether what the model writes is counted. */
  readonly countsText: boolean;
  readonly translation?: AnswerTranslation | undefined;
  /** Present where the upstream signs the thoughts that the client gets: what seals those that it would refuse. */
  readonly signing?: Sealing | undefined;
}

/** How an answer is translated that is not in the client's dialect. */
export interface AnswerTranslation extends Pick<Translated, 'answer' | 'sealing' | 'signsThinking'> {
  readonly now: number;
  /** Of a count of tokens, what it calls itself; undefined for an answer of a model. */
  readonly count?: { readonly object: string | undefined } | undefined;
}

/** A rewritten answer, or why there is none; and what it used, even so. */
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
  /** Stands for whatever is hidden. */
  readonly serviceName: string;
  readonly loadTranslating: () => Promise<{
    readonly rewriteAndTranslate: RewriteText;
    readonly rewriteSigned: RewriteText;
  }>;
}

/** Rewrites whole answers. */
export function createRewriteWhole({ dialects, serviceName, loadTranslating }: RewriteWholeNeeds) {
  let scrubber: Scrubber | undefined;

  /** Names hardly ever change, and the patterns for them take long to make. */
  function scrubberOf(names: Scrubber['names']): Scrubber {
    const isKnown = scrubber?.names.length === names.length && scrubber.names.every((name, at) => name === names[at]);
    if (!scrubber || !isKnown) scrubber = createScrubber(names, serviceName);
    return scrubber;
  }

  async function chooseRewriting({ translation, signing }: AnswerRewriting): Promise<RewriteText> {
    if (translation) return (await loadTranslating()).rewriteAndTranslate;
    return signing ? (await loadTranslating()).rewriteSigned : rewritePassedOn;
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
      // Of what could not be read, all counts as text.
      return { result: { fault: toFault(failure) }, usage, textBytes: isTooLong ? json.text.length : textBytes };
    }
  };
}

const rewritePassedOn: RewriteText = (json, format, hiding, usage) => rewriteAnswer(json, format, hiding, usage);
