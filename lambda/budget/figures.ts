import type { Budget } from './budget-window.ts';

/** A reservation of a request whose answer has not been settled. */
export interface OpenReservation {
  /** When it was made, in whole minutes since the epoch. */
  readonly minute: number;
  readonly budgetPeriod: string;
  readonly amount: number;
}

/** What became of a budget in its period, in micros. */
export interface BudgetFigures {
  readonly limit: number;
  /** What settled answers cost. */
  readonly spent: number;
  /** Set aside for answers that are still to come. */
  readonly reserved: number;
  /** Set aside for answers that were lost with their process, and will not come. */
  readonly unsettled: number;
  readonly remaining: number;
}

const minuteLength = 60_000;

/** Whether a request as old as this reservation can no longer be running, where one may take `requestTimeout`. */
export function isLost({ minute }: OpenReservation, now: number, requestTimeout: number): boolean {
  return now - minute * minuteLength > requestTimeout + minuteLength;
}

/** `taken` is all that is spent or reserved in the period; reservations of other periods are not in it. */
export function budgetFigures(
  { amount: limit }: Budget,
  {
    period,
    taken,
    open,
  }: { readonly period: string; readonly taken: number; readonly open: readonly OpenReservation[] },
  now: number,
  requestTimeout: number,
): BudgetFigures {
  let [reserved, unsettled] = [0, 0];
  for (const reservation of open) {
    if (reservation.budgetPeriod !== period) continue;
    if (isLost(reservation, now, requestTimeout)) unsettled += reservation.amount;
    else reserved += reservation.amount;
  }
  return { limit, spent: taken - reserved - unsettled, reserved, unsettled, remaining: Math.max(0, limit - taken) };
}
