import type { AnswerChanges } from '../dialects/model/answer-changes.ts';
import type { Findings } from '../dialects/model/findings.ts';
import { type Edit, replaceValue } from '../json/edit.ts';
import type { Json } from '../json/scan.ts';

/** What makes signatures void in one answer. */
export interface Voiding {
  readonly changes: AnswerChanges;
  /** Takes the place of a signature; undefined where the client gets thoughts only in seals. */
  readonly seal: (() => string) | undefined;
}

/** The place of what begins at a character: in a stream all is at one place, since what was changed came before what is read now. */
type PlaceOf = (at: number) => number;

/** The family of thoughts: those that come back are as they were signed, whatever is shown. */
export const reasoning = 'thinking';

/** Notes which of the edits change what later thoughts are signed over. */
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

/** The edits that put void seals in place of signatures. Of one that comes in pieces, only the first becomes a seal. */
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
