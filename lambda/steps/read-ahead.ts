import { fittingOutput } from '../budget/estimate.ts';
import { GatewayError } from '../errors.ts';
import { budgetOf, type Limits } from '../quota/policy.ts';
import type { Cost } from '../quota/refusal.ts';
import type { Admitted, ArrivedAtInference, Identified, Normalized, ReadAhead } from '../request/request.ts';
import { createReadBody, type NormalizeDependencies } from './normalize.ts';
import type { GatewayStep } from './step.ts';

export interface ReadAheadDependencies extends NormalizeDependencies {
  /** What members may spend who have no budget of their own. */
  readonly budgets: Pick<Limits, 'memberBudget'>;
}

/**
 * Reads the body before the charge for callers with a budget or a list of models, and for nobody else: a stranger's body must not
 * cost work before it is charged. What is wrong with the body is thrown after the charge, as for everybody.
 */
export function readAhead(
  dependencies: ReadAheadDependencies,
): GatewayStep<ArrivedAtInference & Admitted & Identified, ReadAhead> {
  const { prices, budgets } = dependencies;
  const readBody = createReadBody(dependencies);

  const costOf = ({ call, reservation }: Normalized): Cost | undefined => {
    const ofModel = prices?.get(call.model.id);
    if (!reservation || !ofModel) return undefined;
    const [limit] = call.dialect.outputLimits;
    const advise = (left: number) => {
      const tokens = fittingOutput(reservation, ofModel, left);
      return tokens && `With ${limit} of at most ${tokens} it would fit.`;
    };
    return { total: reservation.total, advise: (left) => advise(left) || undefined };
  };

  return {
    before: async (request) => {
      const { identity, route } = request;
      const models = identity.kind === 'member' ? identity.models : undefined;
      const hasBudget = route.endpoint.charged && budgetOf(identity, budgets) !== undefined;
      if (!hasBudget && !models) return {};
      if (hasBudget && !prices) {
        throw new GatewayError(
          'unconfigured',
          'This key has a budget, but no prices are set: the operator has to set them.',
        );
      }
      const ahead = await readBody(request, hasBudget).catch((fault: unknown) => ({ fault }));
      if ('fault' in ahead) return { ahead };
      if (models && !models.includes(ahead.call.model.id)) throw notAllowed(ahead.call.model.id, models);
      const cost = costOf(ahead);
      return { ahead, ...(cost && { cost }) };
    },
  };
}

function notAllowed(id: string, models: readonly string[]): GatewayError {
  const message = `This key may not use the model ${id}. It may use ${models.join(' and ')}.`;
  return new GatewayError('model_not_allowed', message);
}
