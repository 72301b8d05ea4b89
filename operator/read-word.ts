import { InvalidArgumentError } from 'commander';

/** Makes a reader of a command line's words. For a wrong one commander names the option, and `expects` says what it may be. */
export function checked<T>(parse: (word: string) => T | undefined, expects: string): (word: string) => T {
  return (word) => {
    const value = parse(word);
    if (value === undefined) throw new InvalidArgumentError(`It must be ${expects}.`);
    return value;
  };
}

export const matching = (pattern: RegExp, expects: string) =>
  checked((word) => (pattern.test(word) ? word : undefined), expects);

/** Makes a reader that also accepts one word as it is. */
export const orElse =
  <T, W extends string>(only: W, read: (word: string) => T) =>
  (word: string): T | W =>
    word === only ? only : read(word);

/** A number in its plain spelling. */
export const readWhole = (from: number, to: number) =>
  checked((word) => {
    const number = /^\d{1,9}$/.test(word) ? Number(word) : Number.NaN;
    return number >= from && number <= to ? number : undefined;
  }, `a whole number from ${from} to ${to}`);

/** A text that fits in a line. */
export const readLine = matching(/^\P{Cc}{1,200}$/u, 'a text of 1 to 200 characters');
