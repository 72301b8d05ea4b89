import type { Purpose, Signer } from './sign-in.ts';
import { statements } from './sign-in.ts';
import { badRequest } from './wallet-error.ts';
import type { WalletRequest } from './wallet-request.ts';

type Input = WalletRequest['input'];

/** Room for the signature of a contract account, so that its owner gets the right error. */
const longestText = 16_384;

/** Far above any message made here: finding the fields of a text takes time by the square of its length. */
const longestMessage = 2000;

export const readMessage = (input: Input): string => readText(input, 'message', longestMessage);

/** A text of the body. */
export function readText(input: Input, name: string, longest = longestText): string {
  const value = input?.[name];
  if (typeof value !== 'string' || value === '') throw badRequest(`${name} must be a text.`);
  if (value.length > longest) throw badRequest(`${name} may have ${longest} characters at most.`);
  return value;
}

/** Neither a control character nor one that turns the direction of a text around: operators read labels in a terminal. */
const visible = /^[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}\u200d]{0,40}$/u;

/** What a person calls a new key; undefined if they leave it open. */
export function readLabel(input: Input): string | undefined {
  const label = input?.label ?? '';
  if (typeof label !== 'string' || !visible.test(label)) {
    throw badRequest('label must be a text of at most 40 visible characters.');
  }
  return label.trim() || undefined;
}

export function readPurpose(input: Input): Purpose {
  const purpose = Object.keys(statements).find((known) => known === (input?.purpose ?? 'link'));
  if (purpose === undefined) throw badRequest(`purpose must be ${Object.keys(statements).join(' or ')}.`);
  return purpose as Purpose;
}

export function readSigner(input: Input): Signer {
  const address = readText(input, 'address');
  const chainId = input?.chainId ?? 1;
  if (!isAddress(address)) throw badRequest('address must be 0x and 40 hexadecimal digits.');
  if (typeof chainId !== 'number' || !Number.isSafeInteger(chainId) || chainId < 1) {
    throw badRequest('chainId must be a whole number above 0.');
  }
  return { address, chainId };
}

function isAddress(text: string): text is `0x${string}` {
  return /^0x[0-9a-f]{40}$/i.test(text);
}
