import type { Edit } from './edit.ts';
import type { Json, Node } from './scan.ts';

/** Removes elements of an array, and the commas between them. Each is to be kept or removed, in order. */
export function createElementRemover(json: Json, array: Node) {
  const edits: Edit[] = [];
  let keptEnd: number | undefined; // where the last element that stays ends
  let isGap = false; // whether elements are removed right behind it
  const closeGap = (end: number, text: string) => {
    if (isGap) edits.push({ start: keptEnd ?? json.start(array) + 1, end, text });
    isGap = false;
  };
  return {
    keep(element: Node): void {
      closeGap(json.start(element), keptEnd === undefined ? '' : ',');
      keptEnd = json.end(element);
    },
    remove(): void {
      isGap = true;
    },
    finish(): readonly Edit[] {
      closeGap(json.end(array) - 1, '');
      return edits;
    },
  };
}
