import type { AnswerChanges } from '../dialects/model/answer-changes.ts';
import type { Findings } from '../dialects/model/findings.ts';
import { type Edit, replaceValue } from '../json/edit.ts';
import type { Json } from '../json/scan.ts';

/** Voids the signatures of one answer that no longer match what the client is shown. */
export interface Voiding {
  readonly changes: AnswerChanges;
  /** Makes the seal that replaces a signature; undefined if the client gets reasoning only in seals. */
  readonly seal: (() => string) | undefined;
}

/** Maps an offset to a place in the answer. In a stream everything is at one place: what was changed came before what is read now. */
type PlaceOf = (at: number) => number;

/** The family of texts that messages signs. A change in it voids nothing: what comes back is as it was signed, whatever is shown. */
export const signedFamily = 'thinking';

/** Notes which edits change content that later reasoning is signed over. */
export function noteChanges(
  json: Json,
  { content }: Findings,
  edits: readonly Edit[],
  { changes }: Voiding,
  placeOf: PlaceOf,
): void {
  for (const { start } of edits) {
    if (content.some((node) => start >= json.start(node) && start < json.end(node))) changes.note(placeOf(start));
  }
}

/** The edits that replace signatures by void seals. If a signature comes in pieces, only the first becomes a seal. */
export function createVoidSignatures({ changes, seal }: Voiding) {
  let last: number | undefined;
  return (json: Json, { signatures }: Findings, placeOf: PlaceOf): Edit[] =>
    signatures.flatMap(({ value, block }) => {
      if (seal === undefined || json.string(value) === '' || !changes.isBefore(placeOf(json.start(value)))) return [];
      const text = block === last ? '' : seal();
      last = block;
      return [replaceValue(json, value, JSON.stringify(text))];
    });
}
