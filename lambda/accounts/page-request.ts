import { GatewayError } from '../errors.ts';
import type { Network } from '../identity/network.ts';
import { createScanner } from '../json/scan.ts';
import type { IncomingRequest } from '../request/incoming-request.ts';
import { checkJsonBody, readBodyText, toBodyError } from '../request/read-body-text.ts';
import { accountsError, badRequest } from './page-errors.ts';
import type { Site } from './site.ts';

/** A request as it arrives. */
export interface AccountsRequest extends Pick<IncomingRequest, 'headers' | 'bodySize' | 'takeBody'> {
  readonly id: string;
  /** Method and path as in the route table, for the log. */
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

/** Handlers by path. Each returns the JSON of its response. */
export type Actions<Request> = Readonly<Record<string, (request: Request) => Promise<object>>>;

/** The endpoints of one feature. */
export interface Endpoints {
  /** POST with JSON, below the page's path. */
  readonly forAnyone?: Actions<WithInput>;
  /** The same, with a session. */
  readonly forMembers?: Actions<SignedIn>;
  /** POST with a form, and with errors in OAuth's format. */
  readonly forDevices?: Actions<WithForm>;
  /** GET, also cross-site. */
  readonly facts?: Actions<AccountsRequest>;
}

/**
 * CSRF protection. Browsers send a request's origin in headers that no page can forge. A request without them doesn't come from a
 * browser, so nobody was tricked into sending it.
 */
export function checkOrigin({ headers, site }: AccountsRequest): void {
  const { origin = site.origin, 'sec-fetch-site': fetchSite = 'same-origin' } = headers;
  if (origin === site.origin && fetchSite === 'same-origin') return;
  throw accountsError('forbidden_origin', `Only the page ${site.pageUrl} itself may send this request.`);
}

const bodyLimit = 65_536;

/** `status`: the refusal of another content type. */
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
  // Already checked like any other body, and short enough to parse twice.
  return JSON.parse(text);
}

/** Reads a form without duplicate fields. OAuth has no other status than 400 for a wrong content type. */
export async function readForm(request: AccountsRequest): Promise<URLSearchParams> {
  const body = await readBody(request, 'application/x-www-form-urlencoded', 400);
  const form = new URLSearchParams(Buffer.from(body).toString());
  const repeated = [...form.keys()].find((name) => form.getAll(name).length > 1);
  if (repeated === undefined) return form;
  throw badRequest(`${repeated} is there more than once.`);
}

/** Large enough for a contract account's signature, so that its owner gets the right error. */
const longestText = 16_384;

/** Reads a non-empty string. */
export function readText(input: Input, name: string, longest = longestText): string {
  const value = input[name];
  if (typeof value !== 'string' || value === '') throw badRequest(`${name} must be a text.`);
  if (value.length > longest) throw badRequest(`${name} may have ${longest} characters at most.`);
  return value;
}

/** No control or bidirectional characters, because operators read labels in a terminal. */
const visible = /^[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}\u200d]{0,40}$/u;

/** The label of a new key; undefined if the person gave none. */
export function readLabel(input: Input): string | undefined {
  const label = input.label ?? '';
  if (typeof label === 'string' && visible.test(label)) return label.trim() || undefined;
  throw badRequest('label must be a text of at most 40 visible characters.');
}
