import type { Json, Node } from './scan.ts';

/** Replaces the characters of a text from `start` up to, not including, `end`. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * Applies edits, and returns the text in pieces, so that a long one is never joined. Edits may come in any order. An edit inside another
 * is dropped, insertions at the same place keep their order, and edits that overlap in any other way throw.
 */
export function splitByEdits(text: string, edits: readonly Edit[]): string[] {
  const pieces: string[] = [];
  let at = 0;
  for (const edit of edits.toSorted(byPlace)) {
    if (edit.end <= at && edit.start < at) continue;
    if (edit.start < at) throw new RangeError(`the edit at ${edit.start} reaches out of the one that ends at ${at}`);
    if (edit.start > at) pieces.push(text.slice(at, edit.start));
    if (edit.text !== '') pieces.push(edit.text);
    at = edit.end;
  }
  if (at < text.length) pieces.push(text.slice(at));
  return pieces;
}

/** Applies edits. V8 builds the concatenation lazily (a rope), so a long text is not copied until it is read. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  if (edits.length === 0) return text;
  let edited = '';
  for (const piece of splitByEdits(text, edits)) edited += piece;
  return edited;
}

/** Applies to a part of a text those edits that lie within it. */
export function editPart(text: string, { start, end }: Omit<Edit, 'text'>, edits: readonly Edit[]): string {
  const within = edits.filter((edit) => edit.start >= start && edit.end <= end);
  const moved = within.map((edit) => ({ ...edit, start: edit.start - start, end: edit.end - start }));
  return applyEdits(text.slice(start, end), moved);
}

/** By start; at the same start, insertions come first, then the longest edit. */
function byPlace(a: Edit, b: Edit): number {
  if (a.start !== b.start) return a.start - b.start;
  const [aInserts, bInserts] = [a.start === a.end, b.start === b.end];
  return aInserts === bInserts ? b.end - a.end : aInserts ? -1 : 1;
}

/** Replaces a value by another, given as JSON text. */
export function replaceValue(json: Json, node: Node, value: string): Edit {
  return { start: json.start(node), end: json.end(node), text: value };
}

interface MemberChanges {
  /** The keys of members to remove. */
  readonly drop?: ReadonlySet<Node>;
  /** Values as JSON text by name: replaces the last member of that name, or adds one at the end of the object. */
  readonly set?: Readonly<Record<string, string>>;
}

/**
 * Removes and sets members of one object. All changes to an object belong in one call, because which commas to add or remove depends on
 * all of them. A name that is both dropped and set is added at the end.
 */
export function changeMembers(json: Json, object: Node, { drop = new Set(), set = {} }: MemberChanges): Edit[] {
  const edits: Edit[] = [];
  let keptEnd: number | undefined; // the end of the last member that stays
  let dropStart: number | undefined; // the start of the run of dropped members before this one, with its comma
  let end = json.start(object) + 1;
  for (const key of json.keys(object)) {
    if (drop.has(key)) {
      dropStart ??= keptEnd ?? json.start(key);
    } else {
      // If no member stays before the run, its trailing comma goes.
      if (dropStart !== undefined) {
        edits.push({ start: dropStart, end: keptEnd === undefined ? json.start(key) : end, text: '' });
      }
      dropStart = undefined;
      keptEnd = json.end(key + 1);
    }
    end = json.end(key + 1);
  }
  if (dropStart !== undefined) edits.push({ start: dropStart, end, text: '' });

  const added: string[] = [];
  for (const [name, value] of Object.entries(set)) {
    const node = json.member(object, name);
    if (node !== undefined && !drop.has(node - 1)) edits.push(replaceValue(json, node, value));
    else added.push(`${JSON.stringify(name)}:${value}`);
  }
  if (added.length > 0) {
    edits.push({ start: end, end, text: (keptEnd === undefined ? '' : ',') + added.join(',') });
  }
  return edits;
}

/** Removes elements of an array, with their commas. Call `keep` or `remove` for each element, in order. */
export function createElementRemover(json: Json, array: Node) {
  const edits: Edit[] = [];
  let keptEnd: number | undefined; // the end of the last element that stays
  let isGap = false; // whether elements after it are removed
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

/**
 * The keys of duplicate members, except the last of each name. Once `changeMembers` has dropped them, parsers that take the first
 * and parsers that take the last see the same value.
 */
export function earlierDuplicates(json: Json, object: Node, names: ReadonlySet<string>): Set<Node> {
  const earlier = new Set<Node>();
  const latest = new Map<string, Node>();
  for (const key of json.keys(object)) {
    const name = json.string(key);
    if (!names.has(name)) continue;
    const before = latest.get(name);
    if (before !== undefined) earlier.add(before);
    latest.set(name, key);
  }
  return earlier;
}
