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
