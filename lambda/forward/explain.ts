import { isIPv4 } from 'node:net';
import { readErrorMessage } from '../dialects/model/answer-members.ts';
import type { Scrubber } from '../hiding/scrub.ts';
import { createScanner } from '../json/scan.ts';

/** In characters, like the limits below. Shorter keys are words such as `none`, for upstreams without keys. */
const shortestSecret = 8;
const longest = 2_000;
/** A message in a stream may be as long as its event. */
const longestRead = 65_536;
// The full stop or bracket after a link belongs to the sentence around it.
const links = /\b(https?:\/\/|www\.)\S*[^\s)\]}>"'`.,;:!?]/gi;
/** `sk-proj-abcd`, `sk-****abcd`. */
const keyLike = /\b(sk|pk|ltk)[-_][\w*.-]{4,}/gi;
/** Providers' ids of requests, answers and tool calls: `req_011CSHoEeqs5C35K2UUqR7Fy`, `chatcmpl-9f3c2b1a`. */
const ownIds = /\b(req_(?=\w*\d)\w+|(msg|(srv|mcp)?toolu)_\w{8,}|chatcmpl-[\w-]{8,})/g;
/** Another service's request id, which the gateway's operator could not look up. Nested JSON puts backslashes before its quotes. */
const requestIds = /(\brequest[ _-]?id\W{1,20})[\w-]{0,64}\d[\w-]*/gi;

// Upstreams nest the errors of others as JSON in JSON: each level adds a backslash to an escape, `\u0041`, then `\\u0041`.
const escapes = /(?<!\\)\\+(?:u([\da-f]{4})|\/)/gi;

function spellOut(text: string): string {
  return text.replace(escapes, (_, code?: string) => (code ? String.fromCharCode(Number.parseInt(code, 16)) : '/'));
}

const addresses = /(?<![\w.-])(\d{1,3}(?:\.\d{1,3}){3})(:\d{2,5})?(?![\w-]|\.\d|\/\d)/g;
/** Private, loopback and link-local addresses. Node's `BlockList` would add 0.4 ms to a start. */
const privateAddress = /^(10|127|169\.254|192\.168|172\.(1[6-9]|2\d|3[01])|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./;
/** Host names under domains that are never public. */
const privateNames =
  /(?<![\w.-])(?:[a-z\d-]{1,63}\.){1,8}(?:internal|local|localdomain|lan)(:\d{2,5})?(?![\w-]|\.\w)/gi;
const clusters = /\.(cluster\.local|(ec2|compute)\.internal)$/i;

const hostRemoved = '(host removed)';

/** Removes the hosts behind an upstream. Keeps what may be the caller's own, a version or code: `203.0.113.7`, `self.local`. */
function removeHosts(text: string): string {
  return text
    .replace(addresses, (found, address: string, port?: string) => {
      const isHost = isIPv4(address) && (port !== undefined || privateAddress.test(address));
      return isHost ? hostRemoved : found;
    })
    .replace(privateNames, (found, port?: string) =>
      port !== undefined || /\d/.test(found) || clusters.test(found) ? hostRemoved : found,
    );
}

/** Sanitizes upstreams' error messages for the client of one request: no names, links, hosts, keys or ids. */
export function createExplainer(scrubber: Scrubber, keys: readonly string[] = []) {
  const concealed = new Set<string>(keys);

  const sentence = (message: string): string | undefined => {
    // Links go first, as they may hold keys.
    let text = spellOut(message.slice(0, longestRead)).replace(links, '(link removed)');
    for (const key of concealed) text = text.replaceAll(key, '(key removed)');
    const plain = removeHosts(scrubber.scrub(text))
      .replace(keyLike, '(key removed)')
      .replace(ownIds, '(id removed)')
      .replace(requestIds, '$1(id removed)');
    return plain.slice(0, longest).trim() || undefined;
  };

  return {
    concealed: (): readonly string[] => [...concealed],
    /** Hides a key that was sent to an upstream, which may echo it. */
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
