import type { HeaderNames } from '../http/gateway-headers.ts';
import type { GatewayRequest, GatewayResponse } from '../http/gateway-request.ts';
import type { Identify } from '../identity/identify.ts';
import type { ReadStop } from '../middleware/require-upstream.ts';
import type { Models } from '../models.ts';
import type { Quota } from '../quota/charge.ts';
import type { DeploymentLimit } from '../quota/deployment-limit.ts';
import type { HashId } from '../upstream/caller-ids.ts';

/** Answers a request, also after an error. */
export type Pipeline = (request: GatewayRequest) => Promise<GatewayResponse>;

/** What the steps of the pipelines need. */
export interface PipelineDependencies {
  readonly identify: Identify;
  readonly hashMember: (member: string) => Promise<string>;
  readonly quota: Quota;
  /** Undefined if the operator has set no limit for all callers together. */
  readonly deploymentLimit: DeploymentLimit | undefined;
  readonly models: Models;
  readonly names: HeaderNames;
  /** In bytes, for a body as it came and for what it is decoded to. */
  readonly requestBodyLimit: number;
  /** Whether the gateway's own 400s are refunded. */
  readonly refundRefusals: boolean;
  readonly hashIdsOf: ((caller: string) => Promise<HashId>) | undefined;
  /** Whether any upstream has a key. */
  readonly isConfigured: () => Promise<boolean>;
  readonly readStop: ReadStop;
}
