import { InvalidArgumentError } from 'commander';
import { parseWhole } from '../parse-whole.ts';

/** The address of a gateway, with or without `/v1`. */
export function readBase(text: string): string {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol)) return text.replace(/\/+$/, '').replace(/\/v1$/, '');
  throw new InvalidArgumentError('It must be an http(s) URL.');
}

export const readWhole = (from: number, to: number) => (text: string) => {
  const number = parseWhole(text, from, to);
  if (number === undefined) throw new InvalidArgumentError(`It must be a whole number from ${from} to ${to}.`);
  return number;
};
