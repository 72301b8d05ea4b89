import { applyEdits, createElementRemover, type Edit } from '../../json/edit.ts';
import { eachMember } from '../../json/read.ts';
import type { Json, Node } from '../../json/scan.ts';
import type { Dialect } from '../dialect.ts';
import { firstOf, type LeftOut, namePlaces } from './request/left-out.ts';
import { createSeals, mostSeals, type Sealing } from './seal.ts';
import { sealMark } from './sealed.ts';

/** The members of items, blocks and details that may hold a seal. */
const sealedMembers = new Set(['encrypted_content', 'signature', 'data']);
/** Lists in an item: of those, and of calls beside them. Another has a name of the caller’s own, which the log may not hold. */
const innerLists = new Set(['content', 'summary', 'reasoning_details', 'tool_calls']);
/** By their members' names: of items in a request, of blocks or details in an item. */
type Lists = ReadonlyMap<string, Node>;
/** How many elements of a list stay, and how many don't. */
type Left = { readonly kept: number; readonly removed: number };

/** What may be sealed in a request, and for whom: plain data, which a thread can be sent. */
export interface SealRemoval {
  readonly dialect: Dialect['name'];
  readonly sealing: Sealing;
  /** Members of the body that may be a list of items. */
  readonly history: ReadonlySet<string>;
  /** All other changes to the body. */
  readonly edits: readonly Edit[];
  /** Top-level members that are left out besides. */
  readonly leftOut?: readonly string[] | undefined;
}

export interface RemovedSeals extends LeftOut {
  /** The edited body: as a whole, because there may be a hundred thousand edits, and each would cross between threads by itself. */
  readonly text: string;
}

/**
 * Finds what this gateway sealed for a client while another upstream answered: one that takes the request as it is can't read it, and
 * many refuse all for it. It goes with its thought.
 */
export function removeSeals(
  json: Json,
  { dialect, sealing, history, edits: others, leftOut: members = [] }: SealRemoval,
): RemovedSeals {
  const seals = createSeals(sealing.salt, sealing.caller);
  const edits: Edit[] = [];
  const places = members.flatMap((name) => json.member(json.root, name) ?? []);
  let sealsLeft = mostSeals;

  /** Of very many, those that are not opened any more count as sealed. */
  function isSealed(value: Node): boolean {
    if (json.kind(value) !== 'string' || !json.text.startsWith(`"${sealMark}`, json.start(value))) return false;
    sealsLeft -= 1;
    if (sealsLeft < 0) return true;
    return seals.open(dialect, json.string(value)) !== undefined;
  }

  /** What a holder has, in one pass: some have very many members. Of repeated ones the last counts, as to open a seal takes time. */
  function look(holder: Node, listNames: ReadonlySet<string> = innerLists) {
    const maySeal = new Map<string, Node>();
    const lists = new Map<string, Node>();
    eachMember(json, holder, (name, value) => {
      if (sealedMembers.has(name)) maySeal.set(name, value);
      else if (listNames.has(name) && json.kind(value) === 'array') lists.set(name, value);
    });
    return { isSealed: [...maySeal.values()].some(isSealed), lists };
  }

  /** Removes the elements of a list that are sealed, and those that nothing is left of. */
  function removeFrom(list: Node, isEmptied?: (lists: Lists) => boolean): Left {
    const remover = createElementRemover(json, list);
    let [kept, removed] = [0, 0];
    for (const element of json.elements(list)) {
      const found = look(element);
      if (found.isSealed) places.push(element);
      if (found.isSealed || isEmptied?.(found.lists)) {
        remover.remove();
        removed += 1;
      } else {
        remover.keep(element);
        kept += 1;
      }
    }
    for (const edit of remover.finish()) edits.push(edit);
    return { kept, removed };
  }

  /** Removes what is sealed in an item. Returns whether that was all of its content, and no calls or the like stand beside it. */
  function removeInside(inner: Lists): boolean {
    let [isGone, keptInAll] = [false, 0];
    for (const [name, list] of inner) {
      const { kept, removed } = removeFrom(list);
      if (name === 'content') isGone = removed > 0;
      keptInAll += kept;
    }
    return isGone && keptInAll === 0;
  }

  for (const list of look(json.root, history).lists.values()) removeFrom(list, removeInside);
  const leftOut = namePlaces(json, firstOf(places), places.length);
  return { text: applyEdits(json.text, [...others, ...edits]), leftOut, leftOutForLog: leftOut };
}
