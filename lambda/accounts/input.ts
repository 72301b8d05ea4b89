import { badRequest, type WithInput } from './request.ts';

type Input = WithInput['input'];

/** Room for the signature of a contract account, so that its owner gets the right error. */
const longestText = 16_384;

/** A text of the body. */
export function readText(input: Input, name: string, longest = longestText): string {
  const value = input[name];
  if (typeof value !== 'string' || value === '') throw badRequest(`${name} must be a text.`);
  if (value.length > longest) throw badRequest(`${name} may have ${longest} characters at most.`);
  return value;
}

/** Neither a control character nor one that turns the direction of a text around: operators read labels in a terminal. */
const visible = /^[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}\u200d]{0,40}$/u;

/** What a person calls a new key; undefined if they leave it open. */
export function readLabel(input: Input): string | undefined {
  const label = input.label ?? '';
  if (typeof label !== 'string' || !visible.test(label)) {
    throw badRequest('label must be a text of at most 40 visible characters.');
  }
  return label.trim() || undefined;
}
