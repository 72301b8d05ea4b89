import { createForward, type ForwardDependencies } from '../../../lambda/forward/forward.ts';
import type { Callers } from '../../../lambda/identity/identify.ts';
import type { Quota } from '../../../lambda/quota/quota.ts';
import type { HeaderNames } from '../../../lambda/request/headers.ts';
import type { ArrivedAtInference } from '../../../lambda/request/request.ts';
import { admitBody, authenticate, openPipeline } from '../../../lambda/steps/admit.ts';
import { chargeQuota, limitDeployment } from '../../../lambda/steps/charge.ts';
import { normalize } from '../../../lambda/steps/normalize.ts';
import type { BodyDependencies } from '../../../lambda/steps/read-body.ts';

// Only for the type checker: steps in the wrong order must not compile. Nothing here runs.
declare const given: Callers & BodyDependencies & ForwardDependencies & { readonly quota: Quota };
declare const names: HeaderNames;
const arrived = openPipeline<ArrivedAtInference>(names);
const admitted = arrived.step(admitBody(given));
const identified = admitted.step(authenticate(given));
const charged = identified.step(chargeQuota(given));
const forward = createForward(given);

export const right = charged
  .step(limitDeployment({ deploymentLimit: undefined }))
  .step(normalize(given))
  .handler(forward);
export const early = identified
  .step(normalize(given))
  .step(chargeQuota(given))
  .step(limitDeployment({ deploymentLimit: undefined }));
early.handler(forward);

// @ts-expect-error A charge needs an identity.
admitted.step(chargeQuota(given));
// @ts-expect-error The deployment limit needs a charge, to refund it.
identified.step(limitDeployment({ deploymentLimit: undefined }));
// @ts-expect-error Normalizing needs an admitted body.
arrived.step(authenticate(given)).step(chargeQuota(given)).step(normalize(given));
// @ts-expect-error Forwarding needs a parsed body.
charged.step(limitDeployment({ deploymentLimit: undefined })).handler(forward);
