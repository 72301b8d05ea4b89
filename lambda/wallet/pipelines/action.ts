import type { GatewayResponse } from '../../http/gateway-request.ts';
import { pipeline } from '../../http/pipeline.ts';
import { checkOrigin } from '../middleware/check-origin.ts';
import { readInput } from '../middleware/read-input.ts';
import { renderErrors } from '../middleware/render-errors.ts';
import { requireSession } from '../middleware/require-session.ts';
import type { Action, WalletRequest } from '../wallet-request.ts';
import type { Pipeline, PipelineDependencies } from './pipeline.ts';

/** Requests that anyone may send, from the page or a terminal. */
export function createReadPipeline(action: Action, dependencies: PipelineDependencies): Pipeline {
  return pipeline([renderErrors(dependencies), checkOrigin()], answerWith(action));
}

/** Requests with a body, before anyone is signed in. */
export function createActionPipeline(action: Action, dependencies: PipelineDependencies): Pipeline {
  return pipeline([renderErrors(dependencies), checkOrigin(), readInput()], answerWith(action));
}

/** Requests of a person who is signed in. */
export function createSessionPipeline(action: Action, dependencies: PipelineDependencies): Pipeline {
  return pipeline(
    [renderErrors(dependencies), checkOrigin(), readInput(), requireSession(dependencies)],
    answerWith(action),
  );
}

function answerWith(action: Action) {
  return async (request: WalletRequest): Promise<GatewayResponse> => {
    const body = JSON.stringify(await action(request));
    return { statusCode: 200, headers: { 'content-type': 'application/json', 'cache-control': 'no-store' }, body };
  };
}
