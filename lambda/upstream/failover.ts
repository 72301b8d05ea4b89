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
import type { Candidate, Pool } from './pool.ts';
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
  /** Whether a body contains what only the account that made it can read. Rarely needed, so the body is scanned again. */
  readonly isAccountBound: Job<Dialect['name'], boolean>;
  readonly now: () => number;
}

/** What becomes of a request for an upstream. */
type Sent = Pick<HttpRequest, 'translated' | 'leftOut'>;

/** Follows the tries of one request. */
export interface Observer {
  /** Aborts when the answer is no longer needed. */
  readonly signal: AbortSignal;
  /** Extracts the message for the client from an upstream's error body. */
  explain(body: string): string | undefined;
  /** Called once nobody needs the request's body again. */
  releaseBody(): void;
  /** Called with the size of a translated body and of what its answer repeats, which are kept beside the client's body. */
  takeMemory(bytes: number): void;
  onTry(candidate: Candidate, sent: Sent): void;
  /** Called for each failed try; `another` says whether one more follows. */
  onFailure(failure: UpstreamFailure, candidate: Candidate, another: boolean): void;
}

/** An upstream's answer, and how it becomes one for the client if that asked in another dialect. */
export interface AnswerOfUpstream extends UpstreamAnswer {
  readonly translated: Translated | undefined;
  /** Whether the upstream checks its thoughts when they come back. */
  readonly signsThinking: boolean;
}

/**
 * Asks upstream after upstream. Returns the first successful answer, or throws the failure of the last one tried. An upstream
 * that can't carry the request is not tried: where none can, the first refusal is thrown.
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
    // Whether the body may hold what the next candidate can't decrypt: the first is another account where the conversation's own key rests.
    let holdsForeign = left[0]?.isOwn === false && (await holdsSealed(outgoing, signal));
    let movedOnce = false;
    for (;;) {
      signal.throwIfAborted();
      const [candidate, ...others] = left;
      if (candidate === undefined) throw lastFailure ?? refusal ?? nobody(outgoing.endpoint);
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
        // Another account can't read what the first one created. That is not the caller's mistake, so the first failure counts.
        // A translation holds no such things.
        const { next, rests, restsForSeveral, once = false, mayBeForeign } = error.failureClass;
        const isUnreadable = mayBeForeign && holdsForeign && speaks(candidate.upstream, outgoing);
        if (firstFailure && isUnreadable) throw firstFailure;
        if (rests || (restsForSeveral && pool.isMetBySeveral(candidate, caller))) pool.rest(candidate, error);
        left = isUnreadable
          ? others.filter(({ isOwn }) => isOwn)
          : stillToTry(others, candidate, once && movedOnce ? undefined : next);
        movedOnce ||= once;
        const another = left.length > 0;
        observer.onFailure(error, candidate, another);
        if (!another) throw error;
        // Now, because the next try may release the body.
        if (!firstFailure) holdsForeign ||= await holdsSealed(outgoing, signal);
        firstFailure ??= error;
        lastFailure = error;
      }
    }
  };
}

/** How one upstream is asked. */
function createTries({ send, prepare, now }: Dependencies) {
  /** Makes of the request what the upstream can take, unless it can as it is. */
  const prepareFor = async ({ upstream }: Candidate, outgoing: UpstreamRequest, { takeMemory, signal }: Observer) => {
    const body = bodyOf(outgoing);
    if (body.prepared?.upstream === upstream || !needsPreparing(upstream, outgoing)) return;
    const prepared = await prepare(outgoing, upstream, signal);
    takeMemory(sizeOf(prepared));
    body.prepared = prepared;
  };

  /** The same for an upstream that has refused it for thoughts in it: in place of what was prepared before. */
  const prepareWithoutReasoning: typeof prepareFor = async ({ upstream }, outgoing, { takeMemory, signal }) => {
    const body = bodyOf(outgoing);
    const prepared = await prepare(outgoing, upstream, signal, true);
    takeMemory(sizeOf(prepared) - (body.prepared ? sizeOf(body.prepared) : 0));
    body.prepared = prepared;
  };

  /** What waits for the last answer must not hold the request, as a function in `tryOne` would. */
  const readAnswer =
    (translated: Translated | undefined, { signsThinking }: Upstream, observer: Observer) =>
    async (answer: UpstreamAnswer): Promise<AnswerOfUpstream> => {
      const kind = classifyStatus(answer.status);
      if (kind === undefined) return { ...answer, translated, signsThinking };
      throw await failureOf(kind, answer, translated, observer.explain, now());
    };

  /** Not async, as the frame of an async function would hold the body's text until the answer comes. */
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
    // One with thoughts may be asked for again without them.
    const isKept = request.translated?.reasoning === 'sent';
    if (isLast) return (isKept ? send(request, signal) : send(request, signal, releaseBody)).then(read);
    const ask = (until: AbortSignal) => send(request, until).then(read);
    const limit = outgoing.stream ? candidate.upstream.firstEventTimeout : undefined;
    if (limit === undefined) return ask(signal);
    return withinFirstEventLimit(limit, signal, ask);
  };

  return { prepareFor, prepareWithoutReasoning, tryOne };
}

/** Why none could be tried: that some upstream has a key was checked before. */
const nobody = (endpoint: Endpoint): GatewayError =>
  endpoint.compacts ? notOffered(endpoint) : new UpstreamFailure('credentials');

/** In bytes: the body, and what its answer repeats. */
const sizeOf = ({ pieces, translated }: PreparedRequest): number =>
  pieces.reduce((total, piece) => total + piece.length, translated?.answer.keptBytes ?? 0);

/** The candidates left. When the upstream itself failed, all of its keys are out. */
function stillToTry(
  others: readonly Candidate[],
  { upstream: failed }: Candidate,
  next: FailureClass['next'],
): readonly Candidate[] {
  if (next === undefined) return [];
  return next === 'key' ? others : others.filter(({ upstream }) => upstream !== failed);
}
