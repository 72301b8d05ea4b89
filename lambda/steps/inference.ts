import type { KeyObject } from 'node:crypto';
import { memberBudgetOf } from '../budget/budget-window.ts';
import { createForward, type ForwardDependencies } from '../forward/forward.ts';
import type { Callers } from '../identity/identify.ts';
import type { Job } from '../jobs/jobs.ts';
import type { AllLimits } from '../quota/limits.ts';
import type { HeaderNames } from '../request/headers.ts';
import type { Answer, ArrivedAtInference } from '../request/request.ts';
import type { Config } from '../settings/config.ts';
import type { Upstreams } from '../upstream/upstreams.ts';
import { admitBody, authenticate, openPipeline, type ReadStop, requireService } from './admit.ts';
import { chargeQuota, limitDeployment, quotaHeaders } from './charge.ts';
import { normalize, readAhead } from './normalize.ts';
import { prefetchConnection } from './prefetch.ts';
import type { BodyReading, ReadCall } from './read-call.ts';

/** The parts that an inference request goes through. */
export interface InferenceParts extends Pick<ForwardDependencies, 'readScrubber' | 'loadTranslating' | 'log' | 'now'> {
  readonly names: HeaderNames;
  readonly callers: Callers;
  readonly limits: AllLimits;
  readonly upstreams: Upstreams;
  readonly readStop: ReadStop;
  /** Derives a key for one purpose. */
  readonly subkey: (label: string) => Promise<KeyObject>;
  readonly jobs: {
    readonly readCall: Job<BodyReading, ReadCall>;
    readonly rewriteWhole: ForwardDependencies['rewriteWhole'];
  };
}

/** The path of an inference request: who is calling, may they, what do they want, then the exchange with the upstream. */
export function createInference(
  settings: Pick<Config, 'quota' | 'budget' | 'request' | 'upstreams' | 'hiding'>,
  {
    names,
    callers,
    limits,
    upstreams,
    readStop,
    readScrubber,
    loadTranslating,
    subkey,
    jobs,
    log,
    now,
  }: InferenceParts,
): Answer<ArrivedAtInference> {
  const { quota, deploymentLimit, spendLimit } = limits;
  const { prices, reservedOutput } = settings.budget;
  const { requestBodyLimit, keepAliveInterval } = settings.request;
  const { upstreamCallerIds, upstreamTrace, upstreamIdleTimeout } = settings.upstreams;
  const { refundRefusals } = settings.quota;
  const { isConfigured, connectAhead } = upstreams;
  const reading = {
    readJson: jobs.readCall,
    requestBodyLimit,
    callerIdKey: upstreamCallerIds === 'hash' ? () => subkey('caller ids') : undefined,
    prices,
    reservedOutput,
    upstreamTrace,
    budgets: { memberBudget: memberBudgetOf(settings.budget) },
  };
  const forward = createForward({
    askUpstreams: upstreams.ask,
    readScrubber,
    hideInText: settings.hiding.hideInText,
    rewriteWhole: jobs.rewriteWhole,
    readSealSalt: () => subkey('seals'),
    loadTranslating,
    idleTimeout: upstreamIdleTimeout,
    keepAliveInterval,
    prices,
    spendLimit,
    refundRefusals,
    log,
    now,
  });
  return (
    openPipeline<ArrivedAtInference>(names)
      .step(quotaHeaders({ quota, now }))
      .step(admitBody({ requestBodyLimit }))
      // Who is calling, and is anybody served?
      .step(authenticate(callers))
      .step(requireService({ readStop, isConfigured, spendLimit }))
      // Quota, and what gets ready beside it.
      .step(readAhead(reading))
      .step(prefetchConnection({ connectAhead }))
      .step(chargeQuota({ quota, refundRefusals }))
      .step(limitDeployment({ deploymentLimit }))
      // Normalization.
      .step(normalize(reading))
      .handler(forward)
  );
}
