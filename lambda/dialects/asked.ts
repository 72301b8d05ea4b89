import type { Json } from '../json/scan.ts';
import type { Asked } from './dialect.ts';
import { numberMember } from './envelope.ts';

/** What a body asks for, given the names that a dialect has for it. */
export function readAsked(body: Json, names: { readonly choices?: string }): Asked {
  return { choices: (names.choices && numberMember(body, body.root, names.choices)) || 1 };
}
