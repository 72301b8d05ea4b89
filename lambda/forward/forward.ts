import type { GatewayResponse } from '../request/call.ts';
import type { ExchangeRecord } from '../request/request.ts';
import type { Scrubber } from '../stream/scrub.ts';
import { type AskDependencies, createAsk, noteFailure, type ReadyToForward, toCallersError } from './ask-upstream.ts';
import { createStreamedAnswer, type StreamDependencies } from './streamed-answer.ts';
import { createWholeAnswer } from './whole-answer.ts';

export interface ForwardDependencies extends AskDependencies, StreamDependencies {
  /** What hides the upstreams' names, and the keys and secret headers that they are sent now. */
  readonly readScrubber: () => Promise<Scrubber>;
}

/** Sends the request to an upstream and brings its answer back, as a whole or as a stream. */
export function createForward(
  dependencies: ForwardDependencies,
): (request: ReadyToForward) => Promise<GatewayResponse> {
  const ask = createAsk(dependencies);
  const answerWhole = createWholeAnswer(dependencies, ask);
  const answerStream = createStreamedAnswer(dependencies, ask);
  return async (request) => {
    const record: ExchangeRecord = { tries: 0, usage: {} };
    request.outcome.exchange = record;
    try {
      const scrubber = await dependencies.readScrubber();
      return await (request.call.stream ? answerStream : answerWhole)(request, record, scrubber);
    } catch (error) {
      const meant = toCallersError(error, request.call);
      noteFailure(record, meant);
      throw meant;
    }
  };
}
