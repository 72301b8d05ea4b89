import { applyEdits, createElementRemover, type Edit } from '../../json/edit.ts';
import { eachMember } from '../../json/read.ts';
import type { Json, Node } from '../../json/scan.ts';
import { firstOf, type LeftOut, namePlaces } from './request/left-out.ts';
import { sealMark } from './sealed.ts';

/** The members of items, blocks and details that may hold a seal. */
const sealedMembers = new Set(['encrypted_content', 'signature', 'data']);
/** The lists of an item that hold these members or tool calls. Other names may be the caller’s own, which must not be logged. */
const innerLists = new Set(['content', 'summary', 'reasoning_details', 'tool_calls']);
/** Lists of items in a request, or of blocks and details in an item, by member name. */
type Lists = ReadonlyMap<string, Node>;
/** How many elements of a list were kept and removed. */
type Left = { readonly kept: number; readonly removed: number };

/** Where a request may hold seals. Plain data, so that it can be sent to a worker thread. */
export interface SealRemoval {
  /** Top-level members that may be a list of items. */
  readonly history: ReadonlySet<string>;
  /** All other changes to the body. */
  readonly edits: readonly Edit[];
  /** Further top-level members that are left out. */
  readonly leftOut?: readonly string[] | undefined;
}

export interface RemovedSeals extends LeftOut {
  /** The edited body. Not as edits: there may be a hundred thousand, and each would be cloned when it is sent to another thread. */
  readonly text: string;
}

/**
 * Removes what this gateway sealed while it translated for another upstream, together with the reasoning it belongs to. An upstream that
 * gets the request untranslated can't read a seal, and many refuse the whole request because of one: also one that is cut, or of another
 * caller. So seals are not opened.
 */
export function removeSeals(json: Json, { history, edits: others, leftOut: members = [] }: SealRemoval): RemovedSeals {
  const edits: Edit[] = [];
  const places = members.flatMap((name) => json.member(json.root, name) ?? []);

  const isSealed = (value: Node): boolean =>
    json.kind(value) === 'string' && json.text.startsWith(`"${sealMark}`, json.start(value));

  /** Reads an object in one pass, as some have very many members. Of repeated members only the last counts. */
  function look(holder: Node, listNames: ReadonlySet<string> = innerLists) {
    const maySeal = new Map<string, Node>();
    const lists = new Map<string, Node>();
    eachMember(json, holder, (name, value) => {
      if (sealedMembers.has(name)) maySeal.set(name, value);
      else if (listNames.has(name) && json.kind(value) === 'array') lists.set(name, value);
    });
    return { isSealed: [...maySeal.values()].some(isSealed), lists };
  }

  /** Removes the elements of a list that are sealed, and those that end up empty. */
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

  /** Removes what is sealed in an item. Returns whether nothing is left: neither content nor, for example, tool calls. */
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
