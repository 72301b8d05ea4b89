import type { GatewayError } from '../errors.ts';
import { sayWhatIsLeft } from '../quota/refusal.ts';
import type { RequestSoFar } from '../request/request.ts';

/** Refunds the charge if this error costs nothing. The error returned says what became of the charge, if that is known. */
export async function settleCharge(
  { charge, outcome }: RequestSoFar,
  error: GatewayError,
  refundRefusals: boolean,
): Promise<GatewayError> {
  if (!charge) return error;
  const isRefusal = error.status === 400 && !outcome.exchange?.tries;
  if (!error.refund && !(isRefusal && refundRefusals)) {
    return isRefusal ? error.withNote(`This request was charged; ${sayWhatIsLeft(charge.figures)}.`) : error;
  }
  const figures = await charge.refund();
  outcome.refunded = figures !== undefined;
  if (!figures) return error;
  outcome.figures = figures;
  const left = isRefusal ? `; ${sayWhatIsLeft(figures)}` : '';
  return error.withNote(`This request was not charged${left}.`);
}
