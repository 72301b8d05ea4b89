import type { JsonObject } from '../../local/upstream/json.ts';
import type { Part, Reply } from '../../local/upstream/speaker.ts';

/** The fixtures' upstream, as an operator would configure it. */
export const upstreamIdentity = {
  textModel: 'acmecorp/thunder-70b-instruct',
  visionModel: 'acmecorp/thunder-eyes',
  host: 'api.acmecorp.example',
  names: ['AcmeCorp', 'Thunder', 'acme'],
} as const;

/** Its reply to a request, for a speaker of the fake upstream. */
export const replyOf = (parts: readonly Part[], body: JsonObject = {}): Reply => ({
  answer: {
    parts,
    end: parts.some(({ kind }) => kind === 'call') ? 'calls' : 'stop',
    usage: { input: 10, output: 5, reasoning: 0 },
  },
  body,
  model: upstreamIdentity.textModel,
  id: '1',
  created: 1_790_000_000,
});

// Where names may be visible, fixtures put them behind this marker. If several deltas split one, no chunk contains a whole name.
const exempt = /EXEMPT-AcmeCo[\w./+=-]*/g;
const mention = /acmecorp|thunder|acme/giu;

/** The readable part of what a client gets: a seal's letters are random, and may spell a short name by chance. */
export const readable = (given: unknown): string => JSON.stringify(given).replace(/\bsvc1\.[\w-]+/g, '');

/** Every mention of the upstream in a text, with context. Finds escaped ones, and ignores exempt markers. */
export function findIdentity(text: string): string[] {
  const plain = text
    .replace(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(exempt, '');
  return [...plain.matchAll(mention)]
    .filter(({ 0: name, index }) => name.length > 4 || isWord(name, plain.slice(0, index), plain.slice(index + 4)))
    .map(({ index }) => plain.slice(Math.max(0, index - 30), index + 30));
}

/** Whether a short name between these texts is a whole word, or one of a camelCase name. A plural `s` may follow. */
function isWord(name: string, before: string, after: string): boolean {
  const turns = (left: string, right: string) => /\p{Ll}$/u.test(left) && /^\p{Lu}/u.test(right);
  const begins = !/(\p{Script=Latin}|(?<![0-9])_)$/u.test(before) || turns(before, name);
  const ends = (left: string, right: string) => !/^(\p{Script=Latin}|_(?![0-9]))/u.test(right) || turns(left, right);
  return begins && (ends(name, after) || (/^s/i.test(after) && ends(after.slice(0, 1), after.slice(1))));
}
