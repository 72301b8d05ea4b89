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
import { normalize, startReading } from './normalize.ts';
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

/** The sections of the config that it depends on. */
type Settings = Pick<Config, 'quota' | 'budget' | 'request' | 'upstreams' | 'hiding'>;

/** The path of an inference request: who is calling, may they, what do they want, then the exchange with the upstream. */
export function createInference(settings: Settings, parts: InferenceParts): Answer<ArrivedAtInference> {
  const { names, callers, limits, upstreams, readStop, now } = parts;
  const { quota, deploymentLimit, spendLimit } = limits;
  const { isConfigured, preconnect } = upstreams;
  const { requestBodyLimit } = settings.request;
  const { refundRefusals } = settings.quota;
  const reading = bodyDependencies(settings, parts);
  return (
    openPipeline<ArrivedAtInference>(names)
      .step(quotaHeaders({ quota, now }))
      .step(admitBody({ requestBodyLimit }))
      // Auth, and whether anybody is served.
      .step(authenticate(callers))
      .step(requireService({ readStop, isConfigured, spendLimit }))
      // Quota, and what gets ready while it is charged.
      .step(startReading(reading))
      .step(prefetchConnection({ preconnect }))
      .step(chargeQuota({ quota, refundRefusals }))
      .step(limitDeployment({ deploymentLimit }))
      // Normalization.
      .step(normalize(reading))
      // Forward.
      .handler(createForward(forwardDependencies(settings, parts)))
  );
}

/** What reads a body. */
function bodyDependencies({ budget, request, upstreams }: Settings, { jobs, subkey }: InferenceParts) {
  return {
    readJson: jobs.readCall,
    requestBodyLimit: request.requestBodyLimit,
    callerIdKey: upstreams.upstreamCallerIds === 'hash' ? () => subkey('caller ids') : undefined,
    prices: budget.prices,
    reservedOutput: budget.reservedOutput,
    upstreamTrace: upstreams.upstreamTrace,
    budgets: { memberBudget: memberBudgetOf(budget) },
  };
}

/** What the exchange with an upstream, and its settlement, take. */
function forwardDependencies(settings: Settings, parts: InferenceParts): ForwardDependencies {
  const { limits, upstreams, readScrubber, loadTranslating, subkey, jobs, log, now } = parts;
  return {
    askUpstreams: upstreams.ask,
    readSealSalt: () => subkey('seals'),
    readScrubber,
    hideInText: settings.hiding.hideInText,
    rewriteWhole: jobs.rewriteWhole,
    loadTranslating,
    idleTimeout: settings.upstreams.upstreamIdleTimeout,
    keepAliveInterval: settings.request.keepAliveInterval,
    prices: settings.budget.prices,
    spendLimit: limits.spendLimit,
    refundRefusals: settings.quota.refundRefusals,
    log,
    now,
  };
}
