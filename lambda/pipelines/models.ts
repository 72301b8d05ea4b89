import { GatewayError } from '../http/errors.ts';
import type { GatewayRequest, GatewayResponse } from '../http/gateway-request.ts';
import { pipeline } from '../http/pipeline.ts';
import { authenticate } from '../middleware/authenticate.ts';
import { quotaHeaders } from '../middleware/quota-headers.ts';
import { renderErrors } from '../middleware/render-errors.ts';
import type { Models, PublicModel } from '../models.ts';
import type { Pipeline, PipelineDependencies } from './pipeline.ts';

/** The models list and single models: authenticated, never charged. */
export function createModelsPipeline(dependencies: PipelineDependencies): Pipeline {
  return pipeline([renderErrors(dependencies), quotaHeaders(dependencies), authenticate(dependencies)], (request) =>
    answer(request, dependencies.models),
  );
}

async function answer({ route }: GatewayRequest, models: Models): Promise<GatewayResponse> {
  const describe = ({ id }: PublicModel) => ({ id, object: 'model', created: 0, owned_by: models.text.id });
  if (route.kind !== 'model') return json({ object: 'list', data: [models.text, models.vision].map(describe) });
  const model = models.find(route.id);
  if (model) return json(describe(model));
  throw new GatewayError('model_not_found', `There is no model with this name${explain(route.id, models)}.`);
}

function explain(id: string, models: Models): string {
  const [, meant] = /^(.*)\/$/.exec(`/${id}`) ?? [];
  if (meant === '' || (meant !== undefined && models.find(meant.slice(1)))) {
    return `: the path has a slash too many at its end. Use /v1/models${meant}`;
  }
  return `${models.quote(id)}. The models are ${models.text.id} and ${models.vision.id}`;
}

function json(value: unknown): GatewayResponse {
  return { statusCode: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) };
}
