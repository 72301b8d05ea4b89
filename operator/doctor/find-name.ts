import { createScrubber } from '../../lambda/stream/scrub.ts';
import { readBody } from './judge-hiding.ts';
import type { Reply } from './probe.ts';

/** Values that a program reads back are never changed, even if they contain names. */
const untouched = /^(signature|encrypted_content|arguments|partial_json|data)$/;

/** Shorter ones occur in random ids by chance. */
const leastInHeaders = 5;

/** Looks for names in replies as the gateway does in answers. Finds a place and a name. */
export function createNameFinder(names: readonly string[]): (reply: Reply) => string | undefined {
  const inBodies = createScrubber(names, '');
  const inHeaders = createScrubber(
    names.filter(({ length }) => length >= leastInHeaders),
    '',
  );
  return (reply) => {
    for (const [name, value] of reply.headers) {
      const hit = name.startsWith('access-control-') ? undefined : inHeaders.find(`${name}: ${value}`);
      if (hit) return `${name}: ${value}`.slice(0, 100);
    }
    for (const [place, text] of textsIn(reply)) {
      const hit = inBodies.find(text);
      if (hit) return `${place} has ${text.slice(hit.start, hit.end)}`;
    }
    return undefined;
  };
}

/** All texts of a body by their place. The events of a stream are joined, so that a text in deltas is whole. */
function textsIn(reply: Reply): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  const add = (place: string, text: string) => texts.set(place, (texts.get(place) ?? '') + text);
  const walk = (value: unknown, place: string): void => {
    if (typeof value === 'string') add(place, value);
    if (typeof value !== 'object' || value === null) return;
    for (const [name, inner] of Object.entries(value)) {
      if (!Array.isArray(value)) texts.set(`a key: ${name}`, name);
      if (!untouched.test(name)) walk(inner, place === '' ? name : `${place}.${name}`);
    }
  };
  const { values, comments } = readBody(reply);
  for (const value of values) walk(value, '');
  for (const comment of comments) texts.set(`a comment: ${comment}`, comment);
  if (values.every((value) => value === undefined)) add('the body', reply.text);
  return texts;
}
