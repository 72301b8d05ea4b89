import type { KeyObject } from 'node:crypto';
import type { ForwardDependencies } from '../forward/forward.ts';
import type { Identify } from '../identity/identify.ts';
import type { Job } from '../jobs/jobs.ts';
import type { Models } from '../models.ts';
import type { DeploymentLimit } from '../quota/deployment-limits.ts';
import type { Limits } from '../quota/policy.ts';
import type { Quota } from '../quota/quota.ts';
import type { HeaderNames } from '../request/headers.ts';
import type { Asked } from '../upstream/destination.ts';
import type { BodyReading, ReadCall } from './read-call.ts';

/** What the steps need, each some of it. */
export interface StepDependencies extends ForwardDependencies {
  readonly names: HeaderNames;
  readonly requestBodyLimit: number;
  readonly identify: Identify;
  readonly hashMember: (member: string) => Promise<string>;
  /** Whether any upstream has a key. */
  readonly isConfigured: () => Promise<boolean>;
  /** Opens a connection to the upstream that this will probably be asked of. */
  readonly connectAhead: (asked: Asked) => Promise<void>;
  /** Why the operator has stopped the gateway; undefined while it serves. */
  readonly readStop: () => Promise<{ readonly reason?: string | undefined } | undefined>;
  readonly quota: Quota;
  /** Undefined if the operator has set no limit for all callers together. */
  readonly deploymentLimit: DeploymentLimit | undefined;
  readonly models: Models;
  /** Reads what a body asks for. */
  readonly readJson: Job<BodyReading, ReadCall>;
  /** Hashes the ids in callers' bodies; undefined if they pass unchanged. */
  readonly callerIdKey: (() => Promise<KeyObject>) | undefined;
  /** Whether upstreams are told of callers' traces. */
  readonly upstreamTrace: boolean;
  /** In tokens, for requests without an output limit to models without one. */
  readonly reservedOutput: number;
  /** What members may spend who have no budget of their own. */
  readonly budgets: Pick<Limits, 'memberBudget'>;
  /** Of amounts, for display. */
  readonly currency: string;
}

/** What one step needs of it. */
export type Needs<Names extends keyof StepDependencies> = Pick<StepDependencies, Names>;
