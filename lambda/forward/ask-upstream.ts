import { readErrorMessage } from '../dialects/answer.ts';
import { createScanner } from '../json/scan.ts';
import { describeCause, type Log } from '../report/log.ts';
import type { ExchangeRecord, Normalized, RequestSoFar } from '../request/request.ts';
import type { Hiding } from '../stream/hide.ts';
import type { Scrubber } from '../stream/scrub.ts';
import type { AnswerOfUpstream, AskUpstreams } from '../upstream/failover.ts';

/** A request that is checked, charged and ready to be sent. */
export type ReadyToForward = RequestSoFar & Normalized;

export interface AskDependencies {
  readonly askUpstreams: AskUpstreams;
  readonly hideInText: 'names' | 'none';
  readonly log: Log;
}

export type Exchange = ReturnType<typeof openExchange>;

/** The client that waits for the answer. */
interface Waiting {
  /** Aborts when nobody waits any more. */
  readonly signal: AbortSignal;
  /** Called when a try has failed, which is a sign of life too. */
  readonly alive?: () => void;
}

/**
 * Opens the exchange of a request. Each try is noted down in the record. The body is released when an answer begins or none will
 * come, if not earlier.
 */
export function openExchange(
  request: ReadyToForward,
  record: ExchangeRecord,
  scrubber: Scrubber,
  { askUpstreams, hideInText, log }: AskDependencies,
) {
  const { id, call, outgoing, memory } = request;
  const explainer = createExplainer(scrubber);
  let keptForAnswer = 0;
  const releaseBody = () => {
    outgoing.body = undefined;
    memory.leaveAllBut(keptForAnswer);
  };
  /** Resolves with the first answer of an upstream. */
  const ask = ({ signal, alive }: Waiting): Promise<AnswerOfUpstream> => {
    const asking = askUpstreams(outgoing, {
      signal,
      releaseBody,
      explain: explainer.sentenceIn,
      takeMemory: memory.take,
      onTry: ({ upstream, secrets }, { translated, leftOut }) => {
        record.tries += 1;
        record.upstream = upstream.prefix;
        record.translated = translated !== undefined;
        keptForAnswer = translated?.translation.keptBytes ?? 0;
        record.leftOut = leftOut?.leftOut;
        record.leftOutForLog = leftOut?.leftOutForLog;
        for (const secret of secrets) explainer.conceal(secret);
      },
      onFailure: ({ kind, upstreamStatus, cause, failureClass }, { upstream }, another) => {
        alive?.();
        record.upstreamStatus = upstreamStatus;
        // The request's own line reports and counts the last one.
        if (failureClass.staysCharged || !another) return;
        const fields = { requestId: id, upstream: upstream.prefix, kind, upstreamStatus, another };
        log.tryFailed(kind, { ...fields, ...describeCause(cause) });
      },
    });
    return asking.finally(releaseBody);
  };
  // Where there are prices, what the model writes is counted, for answers without usage.
  const count = (text: string) => {
    record.textBytes = (record.textBytes ?? 0) + Buffer.byteLength(text);
  };
  const hiding: Hiding = {
    scrubber,
    showsGenerated: hideInText === 'none',
    publicModel: call.model.id,
    explain: explainer.sentence,
    ...(request.inputTokens !== undefined && { onText: count, onProgram: count }),
  };
  return { request, record, ask, hiding };
}

/** In characters, as all of these. Shorter keys are words such as `none`, for upstreams that ask for no key. */
const shortestSecret = 8;
const longest = 2_000;
/** A message in a stream may be as long as its event. */
const longestRead = 65_536;
// The full stop or bracket after a link belongs to the sentence around it.
const links = /\b(https?:\/\/|www\.)\S*[^\s)\]}>"'`.,;:!?]/gi;
/** `sk-proj-abcd`, `sk-****abcd`. */
const keyLike = /\b(sk|pk|ltk)[-_][\w*.-]{4,}/gi;
/** What the maker of messages calls a request, an answer and calls: `req_011CSHoEeqs5C35K2UUqR7Fy`. */
const ownIds = /\b(req|msg|(srv|mcp)?toolu)_\w{8,}/g;

// Upstreams quote the errors of others as JSON in JSON: each level adds backslashes to an escape, `\u0041`, then `\\u0041`.
const escapes = /(?<!\\)\\+(?:u([\da-f]{4})|\/)/gi;

function spellOut(text: string): string {
  return text.replace(escapes, (_, code?: string) => (code ? String.fromCharCode(Number.parseInt(code, 16)) : '/'));
}

/** Turns the messages of upstreams into what one request's client may read: without names, links, keys and ids. */
export function createExplainer(scrubber: Scrubber) {
  const concealed = new Set<string>();

  const sentence = (message: string): string | undefined => {
    let text = spellOut(message.slice(0, longestRead));
    for (const key of concealed) text = text.replaceAll(key, '(key removed)');
    const plain = scrubber
      .scrub(text)
      .replace(links, '(link removed)')
      .replace(keyLike, '(key removed)')
      .replace(ownIds, '(id removed)');
    return plain.slice(0, longest).trim() || undefined;
  };

  return {
    /** Hides a key that an upstream is sent, and so may repeat. */
    conceal: (key: string): void => {
      if (key.length >= shortestSecret) concealed.add(key);
    },
    sentence,
    /** The same for the message in an error body. */
    sentenceIn: (body: string): string | undefined => {
      try {
        return sentence(readErrorMessage(createScanner().scan(body)) ?? '');
      } catch {
        return undefined;
      }
    },
  };
}
