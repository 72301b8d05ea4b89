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
import type { ParsedBody, ParseInput } from './parse-body.ts';
import { prefetchConnection } from './prefetch.ts';

/**
 * Everything that happens to an inference request, from top to bottom. A step that throws ends the request: the steps above it see
 * the error in reverse order, such as to refund the charge, and it is rendered in the endpoint's dialect. Steps in the wrong order
 * don't compile.
 */
export function createInference(settings: Settings, parts: InferenceParts): Answer<ArrivedAtInference> {
  const { names, callers, limits, upstreams, readStop, now } = parts;
  const { quota, deploymentLimit, spendLimit } = limits;
  const { isConfigured, preconnect } = upstreams;
  const { requestBodyLimit } = settings.request;
  const { refundRefusals } = settings.quota;
  const body = bodyDependencies(settings, parts);
  return (
    openPipeline<ArrivedAtInference>(names)
      // Every response has quota headers, refusals too.
      .step(quotaHeaders({ quota, now }))
      // Admission: receive the body, refuse one that is too large.
      .step(admitBody({ requestBodyLimit }))
      // Auth: who is calling? And is the gateway open for anyone?
      .step(authenticate(callers))
      .step(requireService({ readStop, isConfigured, spendLimit }))
      // While the charge is written: parse the body, connect to the upstream.
      .step(startReading(body))
      .step(prefetchConnection({ preconnect }))
      // Quota: charge the caller, then count against the limits of the deployment.
      .step(chargeQuota({ quota, refundRefusals }))
      .step(limitDeployment({ deploymentLimit }))
      // Normalization: what does the body ask for, and what goes upstream?
      .step(normalize(body))
      // Forward: ask the upstreams, rewrite and stream the answer, settle the charge.
      .handler(createForward(forwardDependencies(settings, parts)))
  );
}

/** The parts of the gateway that an inference request goes through. */
export interface InferenceParts extends Pick<ForwardDependencies, 'readScrubber' | 'loadTranslating' | 'log' | 'now'> {
  readonly names: HeaderNames;
  readonly callers: Callers;
  readonly limits: AllLimits;
  readonly upstreams: Upstreams;
  readonly readStop: ReadStop;
  /** Derives a key for one purpose. */
  readonly subkey: (label: string) => Promise<KeyObject>;
  readonly jobs: {
    readonly parseBody: Job<ParseInput, ParsedBody>;
    readonly rewriteWhole: ForwardDependencies['rewriteWhole'];
  };
}

/** The sections of the config that inference depends on. */
type Settings = Pick<Config, 'quota' | 'budget' | 'request' | 'upstreams' | 'hiding'>;

function bodyDependencies({ budget, request, upstreams }: Settings, { jobs, subkey }: InferenceParts) {
  return {
    parseBody: jobs.parseBody,
    requestBodyLimit: request.requestBodyLimit,
    callerIdKey: upstreams.upstreamCallerIds === 'hash' ? () => subkey('caller ids') : undefined,
    prices: budget.prices,
    reservedOutput: budget.reservedOutput,
    upstreamTrace: upstreams.upstreamTrace,
    budgets: { memberBudget: memberBudgetOf(budget) },
  };
}

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
