import type { Cooperative } from '../json/cooperative.ts';
import { createScanner } from '../json/scan.ts';
import { loadOnce } from '../load-once.ts';
import { rewriteAnswer } from '../stream/hide.ts';
import type { Translated } from '../upstream/request.ts';
import type { Exchange } from './ask-upstream.ts';

/** What also translates, which few deployments need. It is read once. */
export const loadTranslating = loadOnce(() => import('./rewrite-translated.ts'));

/** Rewrites a whole answer, and translates it if the upstream does not speak the client's dialect. */
export async function rewriteWhole(
  text: string,
  exchange: Exchange,
  translated: Translated | undefined,
  now: () => number,
): Promise<Cooperative<string>> {
  const { request, record, hiding } = exchange;
  if (translated === undefined) return rewriteAnswer(text, request.call, hiding, createScanner(), record.usage);
  return (await loadTranslating()).translateWhole(text, exchange, translated, now);
}
