import { isIPv4 } from 'node:net';
import { readErrorMessage } from '../dialects/model/answer-members.ts';
import type { Scrubber } from '../hiding/scrub.ts';
import { createScanner } from '../json/scan.ts';

/** In characters, as all of these. Shorter keys are words such as `none`, for upstreams that ask for no key. */
const shortestSecret = 8;
const longest = 2_000;
/** A message in a stream may be as long as its event. */
const longestRead = 65_536;
// The full stop or bracket after a link belongs to the sentence around it.
const links = /\b(https?:\/\/|www\.)\S*[^\s)\]}>"'`.,;:!?]/gi;
/** `sk-proj-abcd`, `sk-****abcd`. */
const keyLike = /\b(sk|pk|ltk)[-_][\w*.-]{4,}/gi;
/** What makers call a request, an answer and calls: `req_011CSHoEeqs5C35K2UUqR7Fy`, `chatcmpl-9f3c2b1a`. */
const ownIds = /\b(req_(?=\w*\d)\w+|(msg|(srv|mcp)?toolu)_\w{8,}|chatcmpl-[\w-]{8,})/g;
/** Of another service than the gateway, whose operator could not find it. Each level of JSON in JSON adds backslashes before its quotes. */
const requestIds = /(\brequest[ _-]?id\W{1,20})[\w-]{0,64}\d[\w-]*/gi;

// Upstreams quote the errors of others as JSON in JSON: each level adds backslashes to an escape, `\u0041`, then `\\u0041`.
const escapes = /(?<!\\)\\+(?:u([\da-f]{4})|\/)/gi;

function spellOut(text: string): string {
  return text.replace(escapes, (_, code?: string) => (code ? String.fromCharCode(Number.parseInt(code, 16)) : '/'));
}

const addresses = /(?<![\w.-])(\d{1,3}(?:\.\d{1,3}){3})(:\d{2,5})?(?![\w-]|\.\d|\/\d)/g;
/** Of a private network, of the machine itself or of a link. Node's list of networks would take a start 0.4 ms. */
const privateAddress = /^(10|127|169\.254|192\.168|172\.(1[6-9]|2\d|3[01])|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./;
/** Names by the domains that no public name has. */
const privateNames =
  /(?<![\w.-])(?:[a-z\d-]{1,63}\.){1,8}(?:internal|local|localdomain|lan)(:\d{2,5})?(?![\w-]|\.\w)/gi;
const clusters = /\.(cluster\.local|(ec2|compute)\.internal)$/i;

const hostRemoved = '(host removed)';

/** Removes the machines behind an upstream. What may be a caller's own, a version or code stays: `203.0.113.7`, `self.local`. */
function removeMachines(text: string): string {
  return text
    .replace(addresses, (found, address: string, port?: string) => {
      const isMachine = isIPv4(address) && (port !== undefined || privateAddress.test(address));
      return isMachine ? hostRemoved : found;
    })
    .replace(privateNames, (found, port?: string) =>
      port !== undefined || /\d/.test(found) || clusters.test(found) ? hostRemoved : found,
    );
}

/** Turns the messages of upstreams into what one request's client may read: without names, links, machines, keys and ids. */
export function createExplainer(scrubber: Scrubber, keys: readonly string[] = []) {
  const concealed = new Set<string>(keys);

  const sentence = (message: string): string | undefined => {
    let text = spellOut(message.slice(0, longestRead));
    for (const key of concealed) text = text.replaceAll(key, '(key removed)');
    const plain = removeMachines(scrubber.scrub(text).replace(links, '(link removed)'))
      .replace(keyLike, '(key removed)')
      .replace(ownIds, '(id removed)')
      .replace(requestIds, '$1(id removed)');
    return plain.slice(0, longest).trim() || undefined;
  };

  return {
    /** The keys that are hidden. */
    concealed: (): readonly string[] => [...concealed],
    /** Hides a key that an upstream is sent, and so may repeat. */
    conceal: (key: string): void => {
      if (key.length >= shortestSecret) concealed.add(key);
    },
    sentence,
    /** The same for the message in an error body. */
    sentenceIn: (body: string): string | undefined => {
      try {
        return sentence(readErrorMessage(createScanner().scan(body)) ?? '');
      } catch {
        return undefined;
      }
    },
  };
}
