import type { Json, Node } from '../../json/scan.ts';
import type { Findings } from './findings.ts';

/** Members whose value only the upstream can read: `signature`, `thought_signature`, `encrypted_content`, `reasoning_encrypted`. */
export const sealed =
  /^(thought|thinking|reasoning)?_?signature$|^encrypted_\w{1,100}$|^\w{1,100}_(encrypted|opaque)$/i;

/** The prefix of this gateway's own seals: their version. */
export const sealMark = 'svc1.';

/** The types of objects whose `data` only the upstream can read: `redacted_thinking`, `reasoning.encrypted`. */
export const sealedType = /encrypted|redacted/;

/** Leaves sealed members of a value unchanged, at any depth. */
export function keepSealed(json: Json, value: Node, found: Findings): void {
  const end = json.next(value);
  for (let node = value; node < end; node += 1) {
    if (json.isKey(node) && sealed.test(json.string(node))) found.keep(node + 1);
  }
}

/** Whether a value holds sealed content at any depth. */
export function holdsSealed(json: Json, value: Node | undefined): boolean {
  if (value === undefined) return false;
  const end = json.next(value);
  for (let node = value; node < end; node += 1) {
    if (!json.isKey(node)) continue;
    const [name, content] = [json.string(node), node + 1];
    if (sealed.test(name) && json.kind(content) !== 'null') return true;
    if (name === 'type' && json.kind(content) === 'string' && sealedType.test(json.string(content))) return true;
  }
  return false;
}
