import type { Dialect, Endpoint } from '../dialects/dialect.ts';
import { notOffered } from '../dialects/model/check-body.ts';
import { GatewayError } from '../errors.ts';
import type { Job } from '../jobs/jobs.ts';
import type { Upstream } from '../settings/read-upstreams.ts';
import { speaks, spokenTo } from './destination.ts';
import { failureOf } from './failed-answer.ts';
import { classifyStatus, type FailureClass, UpstreamFailure } from './failure.ts';
import { withinFirstEventLimit } from './first-event.ts';
import type { SendRequest, UpstreamAnswer } from './http-client.ts';
import { type Candidate, canRenew, type Pool } from './pool.ts';
import {
  bodyOf,
  buildHttpRequest,
  type HttpRequest,
  needsPreparing,
  type Prepare,
  type PreparedRequest,
  type Translated,
  type UpstreamRequest,
} from './upstream-request.ts';

interface Dependencies {
  readonly pool: Pool;
  readonly send: SendRequest;
  readonly prepare: Prepare;
  /** Whether a body contains data that only the provider account that created it can read. Rarely needed, so the body is scanned anew. */
  readonly isAccountBound: Job<Dialect['name'], boolean>;
  readonly now: () => number;
}

/** What a try reports about the request that it sends. */
type Sent = Pick<HttpRequest, 'translated' | 'leftOut'>;

/** Observes the tries of one request. */
export interface Observer {
  /** Aborts when nobody needs the answer any more. */
  readonly signal: AbortSignal;
  /** Extracts the message for the client from an upstream's error body. */
  explain(body: string): string | undefined;
  /** Called once the request's body is no longer needed. */
  releaseBody(): void;
  /** Accounts for memory in addition to the client's body: a prepared body, and the parts of it that the answer repeats. */
  takeMemory(bytes: number): void;
  onTry(candidate: Candidate, sent: Sent): void;
  /** Called for each failed try; `another` says whether a next one follows. */
  onFailure(failure: UpstreamFailure, candidate: Candidate, another: boolean): void;
}

/** An upstream's answer, and how to translate it if the client asked in another dialect. */
export interface AnswerOfUpstream extends UpstreamAnswer {
  readonly translated: Translated | undefined;
  /** Whether the upstream checks the signatures of its reasoning when it comes back. */
  readonly signsThinking: boolean;
}

/**
 * Asks the candidates one after the other. Returns the first successful answer, or throws the last failure. An upstream that can't carry
 * the request is skipped: if none can, throws the first refusal.
 */
export type AskUpstreams = (outgoing: UpstreamRequest, observer: Observer) => Promise<AnswerOfUpstream>;

export function createFailover(dependencies: Dependencies): AskUpstreams {
  const { pool, isAccountBound } = dependencies;
  const { prepareFor, prepareWithoutReasoning, tryOne } = createTries(dependencies);

  const holdsSealed = (outgoing: UpstreamRequest, signal: AbortSignal) => {
    const { text, conversation } = bodyOf(outgoing);
    return isAccountBound(text, outgoing.dialect.name, { caller: conversation.caller, signal });
  };

  return async (outgoing, observer) => {
    const { signal } = observer;
    const { caller } = bodyOf(outgoing).conversation;
    const mayAnswer = (upstream: Upstream) => spokenTo(upstream, outgoing) !== undefined;
    let left: readonly Candidate[] = await pool.candidates(bodyOf(outgoing).conversation, mayAnswer);
    let firstFailure: UpstreamFailure | undefined;
    let lastFailure: UpstreamFailure | undefined;
    let refusal: GatewayError | undefined;
    // Whether the body holds data that the next candidate may not be able to read: if the conversation's own key rests, not even the first.
    let holdsForeign = left[0]?.isOwn === false && (await holdsSealed(outgoing, signal));
    let movedOnce = false;
    for (;;) {
      signal.throwIfAborted();
      const [candidate, ...others] = left;
      if (candidate === undefined) throw lastFailure ?? refusal ?? noCandidate(outgoing.endpoint);
      try {
        await prepareFor(candidate, outgoing, observer);
      } catch (error) {
        if (!(error instanceof GatewayError) || error.status >= 500) throw error;
        refusal ??= error;
        left = stillToTry(others, candidate, 'upstream');
        continue;
      }
      try {
        return await tryOne(candidate, outgoing, observer, others.length === 0);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof UpstreamFailure)) throw error;
        if (error.refusesReasoning) {
          observer.onFailure(error, candidate, true);
          await prepareWithoutReasoning(candidate, outgoing, observer);
          continue;
        }
        const renewed = error.upstreamStatus === 401 ? await pool.renew(candidate) : undefined;
        if (renewed) {
          observer.onFailure(error, candidate, true);
          left = [renewed, ...others];
          continue;
        }
        // Another account can't read what the conversation's own account has encrypted or signed. That is not the caller's mistake: the
        // own key is tried, or else its failure is the one to report. A translated request holds no such data.
        const { next, rests, restsForSeveral, once = false, mayBeForeign } = error.failureClass;
        const isUnreadable = mayBeForeign && holdsForeign && !candidate.isOwn && speaks(candidate.upstream, outgoing);
        if (firstFailure && isUnreadable) throw firstFailure;
        if (rests || (restsForSeveral && pool.isMetBySeveral(candidate, caller))) pool.rest(candidate, error);
        left = isUnreadable
          ? others.filter(({ isOwn }) => isOwn)
          : stillToTry(others, candidate, once && movedOnce ? undefined : next);
        movedOnce ||= once;
        const another = left.length > 0;
        observer.onFailure(error, candidate, another);
        if (!another) throw error;
        // Checked now, because the next try may release the body.
        if (!firstFailure) holdsForeign ||= await holdsSealed(outgoing, signal);
        firstFailure ??= error;
        lastFailure = error;
      }
    }
  };
}

/** Prepares and sends the request to one candidate. */
function createTries({ send, prepare, now }: Dependencies) {
  /** Translates or cleans the request for the upstream, if it needs that. */
  const prepareFor = async ({ upstream }: Candidate, outgoing: UpstreamRequest, { takeMemory, signal }: Observer) => {
    const body = bodyOf(outgoing);
    if (body.prepared?.upstream === upstream || !needsPreparing(upstream, outgoing)) return;
    const prepared = await prepare(outgoing, upstream, signal);
    takeMemory(sizeOf(prepared));
    body.prepared = prepared;
  };

  /** The same without reasoning, for an upstream that refused it. Replaces what was prepared before. */
  const prepareWithoutReasoning: typeof prepareFor = async ({ upstream }, outgoing, { takeMemory, signal }) => {
    const body = bodyOf(outgoing);
    const prepared = await prepare(outgoing, upstream, signal, true);
    takeMemory(sizeOf(prepared) - (body.prepared ? sizeOf(body.prepared) : 0));
    body.prepared = prepared;
  };

  /** Not inside `tryOne`: a closure there would retain the request while the last answer is awaited. */
  const readAnswer =
    (translated: Translated | undefined, { signsThinking }: Upstream, observer: Observer) =>
    async (answer: UpstreamAnswer): Promise<AnswerOfUpstream> => {
      const kind = classifyStatus(answer.status);
      if (kind === undefined) return { ...answer, translated, signsThinking };
      throw await failureOf(kind, answer, translated, observer.explain, now());
    };

  /** Not async: the frame of an async function would retain the body until the answer arrives. */
  const tryOne = (
    candidate: Candidate,
    outgoing: UpstreamRequest,
    observer: Observer,
    isLast: boolean,
  ): Promise<AnswerOfUpstream> => {
    const { signal, onTry, releaseBody } = observer;
    const request = buildHttpRequest(candidate, outgoing);
    onTry(candidate, request);
    const read = readAnswer(request.translated, candidate.upstream, observer);
    // May be sent again: a request with reasoning without it, and any request with a new token.
    const isRetained = request.translated?.reasoning === 'sent' || canRenew(candidate);
    if (isLast) return (isRetained ? send(request, signal) : send(request, signal, releaseBody)).then(read);
    const ask = (until: AbortSignal) => send(request, until).then(read);
    const limit = outgoing.stream ? candidate.upstream.firstEventTimeout : undefined;
    if (limit === undefined) return ask(signal);
    return withinFirstEventLimit(limit, signal, ask);
  };

  return { prepareFor, prepareWithoutReasoning, tryOne };
}

/** The error if there is no candidate. Earlier steps have checked that some upstream has a key. */
const noCandidate = (endpoint: Endpoint): GatewayError =>
  endpoint.compacts ? notOffered(endpoint) : new UpstreamFailure('credentials');

/** In bytes: the body, and the parts of it that the answer repeats. */
const sizeOf = ({ pieces, translated }: PreparedRequest): number =>
  pieces.reduce((total, piece) => total + piece.length, translated?.answer.keptBytes ?? 0);

/** The candidates left after a failure. If the upstream itself failed, none of its keys is tried. */
function stillToTry(
  others: readonly Candidate[],
  { upstream: failed }: Candidate,
  next: FailureClass['next'],
): readonly Candidate[] {
  if (next === undefined) return [];
  return next === 'key' ? others : others.filter(({ upstream }) => upstream !== failed);
}
