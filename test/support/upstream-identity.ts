/** The fixtures' upstream, as an operator would configure it. */
export const upstreamIdentity = {
  textModel: 'acmecorp/thunder-70b-instruct',
  visionModel: 'acmecorp/thunder-eyes',
  host: 'api.acmecorp.example',
  names: ['AcmeCorp', 'Thunder', 'acme'],
} as const;

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
