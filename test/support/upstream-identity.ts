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

// Where names may stand, fixtures write them behind this marker. A marker that is cut over several deltas is cut so that
// no piece holds a whole name.
const exempt = /EXEMPT-AcmeCorp[\w./+=-]*/g;
const name = /acmecorp|thunder|(?<![\p{Script=Latin}_])acme(?![\p{Script=Latin}_])/giu;

/** Every mention of the upstream in a text, with some context. Finds escaped ones, and ignores exempt markers. */
export function findIdentity(text: string): string[] {
  const plain = text
    .replace(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(exempt, '');
  return [...plain.matchAll(name)].map(({ index }) => plain.slice(Math.max(0, index - 30), index + 30));
}
