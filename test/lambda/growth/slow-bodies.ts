/** A request that is slow to read at one place, in a text of so many characters. */
interface SlowBody {
  readonly name: string;
  readonly text: (size: number) => string;
}

/** What stands at a place, in a text of so many characters. */
interface Filling {
  readonly name: string;
  readonly text: (size: number) => string;
}

const filling = (before: string, part: string, after: string): Filling => ({
  name: `${before}${part.slice(0, 40)}…${after}`,
  text: (size) => before + part.repeat(Math.max(1, Math.floor(size / part.length))) + after,
});

/** As many members as an object may have, if so many fit. The rest of the text is in their names. */
const members = (before: string, letter: string, member: string, after: string, most: number): Filling => ({
  name: `${before}${member}…${after}`,
  text: (size) => {
    const times = Math.min(most - 1, Math.floor(size / (letter.length + member.length)));
    const letters = Math.max(1, Math.floor((size / times - member.length) / letter.length));
    return before + member.replace('#', letter.repeat(letters)).repeat(times) + after;
  },
});

/** What may be slow to read at any place, whatever belongs there. No text may have more values or objects for its length. */
const ofAnyKind = (most: number): readonly Filling[] => [
  members('{', 'a', '"#": 0,', '"a":0}', most),
  members('{', '\\u0061', '"#":"\\n",', '"a":0}', most),
  filling('[', `{${'"\\u0061": 0,'.repeat(most - 1)}"type":"text"},`, '0]'),
  filling('[', '123,', '0]'),
  filling('[', '{"a":"\\n"}     ,', '0]'),
  filling('[', '{"type":"text","text":"\\n"},', '0]'),
  filling('[', '[             ],', '0]'),
  filling('[', ' \n', '0]'),
  filling('"', '\\u00e9', '"'),
  filling('"', '漢', '"'),
  filling('1', '1', '1'),
];

/** What is slow to read and of the kind that belongs there. */
function inKind(own: unknown, most: number): readonly Filling[] {
  if (typeof own === 'string') return [filling('"', '\\u00e9', '"')];
  if (typeof own !== 'object' || own === null) return [];
  if (Array.isArray(own)) return [filling('[', '123,', '0]')];
  return [members('{', '\\u0061', '"#":"\\n",', '"a":0}', most)];
}

type Place = readonly (string | number)[];

function* placesIn(value: unknown, place: Place = []): Generator<Place> {
  if (place.length > 0) yield place;
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    yield* placesIn(inner, [...place, Array.isArray(value) ? Number(name) : name]);
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a request of any kind
const at = (value: any, place: Place): any => place.reduce((inner, step) => inner[step], value);

const mark = '\u2603';
const marked = JSON.stringify(mark);

/** The text of a request with a mark instead of the value at a place. */
function markAt(request: object, place: Place): string {
  const copy = structuredClone(request);
  at(copy, place.slice(0, -1))[place.at(-1) as string] = mark;
  return JSON.stringify(copy);
}

/**
 * A request made slow at each of its places in turn: by what stands there, and by how often it stands there. `isThorough`: also by
 * what does not belong there. `most`: how many members an object may have.
 */
export function* slowBodies(request: object, most: number, isThorough: boolean): Generator<SlowBody> {
  for (const place of placesIn(request)) {
    const value = at(request, place);
    const own = JSON.stringify(value);
    const step = place.at(-1);
    const holder = markAt(request, place);
    const make = (text: string, filled: Filling): SlowBody => ({
      name: `${place.join('.')} ${filled.name}`,
      text: (size) => text.replace(marked, () => filled.text(size - text.length)),
    });
    for (const filled of isThorough ? ofAnyKind(most) : inKind(value, most)) yield make(holder, filled);
    if (typeof step === 'number') {
      yield make(holder, filling('', `${own},${' '.repeat(8)}`, own));
      continue;
    }
    const member = `${JSON.stringify(step)}:${own}`;
    const beside = holder.replace(`${JSON.stringify(step)}:${marked}`, marked);
    const escaped = `"\\u00${String(step).charCodeAt(0).toString(16)}${String(step).slice(1)}"`;
    // Beside the members that the object has.
    const left = most - 50;
    const isFirst = Object.keys(at(request, place.slice(0, -1)))[0] === step;
    if (isFirst) yield make(beside, members('', '\\u0078', '"#":0,', member, left));
    if (isThorough) {
      yield make(beside, members('', ' ', `"${step}":null,#`, member, left));
      yield make(beside, members('', ' ', `${escaped}:${own},#`, member, left));
    }
  }
}
