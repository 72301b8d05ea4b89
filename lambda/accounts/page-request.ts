import { GatewayError } from '../errors.ts';
import type { Network } from '../identity/network.ts';
import { createScanner } from '../json/scan.ts';
import type { IncomingRequest } from '../request/incoming-request.ts';
import { checkJsonBody, readBodyText, toBodyError } from '../request/read-body-text.ts';
import { accountsError, badRequest } from './page-errors.ts';
import type { Site } from './site.ts';

/** One request as it arrives. */
export interface AccountsRequest extends Pick<IncomingRequest, 'headers' | 'bodySize' | 'takeBody'> {
  readonly id: string;
  /** Method and path as the routes name them, for the log. */
  readonly route: string;
  readonly site: Site;
  readonly network: Network;
}

export type Input = Readonly<Record<string, unknown>>;
export type WithInput = AccountsRequest & { readonly input: Input };
/** Who has signed in, and when, in epoch milliseconds. */
export interface Signer {
  readonly member: string;
  readonly signedInAt: number;
}
type SignedIn = WithInput & Signer;
export type WithForm = AccountsRequest & { readonly form: URLSearchParams };

/** What can be asked, by path. The work's result becomes the JSON of the answer. */
export type Actions<Request> = Readonly<Record<string, (request: Request) => Promise<object>>>;

/** What can be asked of one part of the accounts. */
export interface Endpoints {
  /** By paths below the page, with JSON. */
  readonly forAnyone?: Actions<WithInput>;
  /** The same, for those who have signed in. */
  readonly forMembers?: Actions<SignedIn>;
  /** With a form, and with errors in the shape that OAuth has for them. */
  readonly forTerminals?: Actions<WithForm>;
  /** With a GET, also by other sites' pages. */
  readonly facts?: Actions<AccountsRequest>;
}

/**
 * Refuses requests from other sites' pages. Browsers name a request's origin in headers that no page can change. A request
 * without them does not come from a browser, so nobody was tricked into sending it.
 */
export function checkOrigin({ headers, site }: AccountsRequest): void {
  const { origin = site.origin, 'sec-fetch-site': fetchSite = 'same-origin' } = headers;
  if (origin === site.origin && fetchSite === 'same-origin') return;
  throw accountsError('forbidden_origin', `Only the page ${site.pageUrl} itself may send this request.`);
}

const bodyLimit = 65_536;

/** Refuses a body of another type, with this status, or of too many bytes. */
async function readBody({ headers, bodySize, takeBody }: AccountsRequest, type: string, status: number) {
  if (headers['content-type']?.split(';')[0]?.trim().toLowerCase() !== type) {
    throw badRequest(`The body must have content-type: ${type}.`, status);
  }
  if ((await bodySize(bodyLimit)) > bodyLimit) {
    throw new GatewayError('request_too_large', `The request body may have at most ${bodyLimit} bytes.`);
  }
  return takeBody();
}

/** Reads the JSON object of a POST. Another site can't send this content type without a preflight. */
export async function readInput(request: AccountsRequest): Promise<Input> {
  const body = await readBody(request, 'application/json', 415);
  const text = readBodyText(body.length > 0 ? body : '{}');
  try {
    checkJsonBody(createScanner().scan(text));
  } catch (fault) {
    throw toBodyError(fault);
  }
  // Checked as every body is, and short enough to be parsed a second time.
  return JSON.parse(text);
}

/** Reads the fields of a form, each of which may be there once. OAuth knows no other status for what is no form than 400. */
export async function readForm(request: AccountsRequest): Promise<URLSearchParams> {
  const body = await readBody(request, 'application/x-www-form-urlencoded', 400);
  const form = new URLSearchParams(Buffer.from(body).toString());
  const repeated = [...form.keys()].find((name) => form.getAll(name).length > 1);
  if (repeated === undefined) return form;
  throw badRequest(`${repeated} is there more than once.`);
}

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
  if (typeof label === 'string' && visible.test(label)) return label.trim() || undefined;
  throw badRequest('label must be a text of at most 40 visible characters.');
}
