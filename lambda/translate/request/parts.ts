import { type Cooperative, charactersPerSlice, isLong } from '../../json/cooperative.ts';
import type { Node } from '../../json/scan.ts';

// What is not said otherwise is JSON text, copied from the client's body wherever that has it: a string with its quotes, a schema.

/** `written`: as chat has it. */
export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image' | 'audio' | 'file'; readonly at: Node; readonly written: string };

export type TextPart = Extract<Part, { kind: 'text' }>;

export const toText = (text: string): TextPart => ({ kind: 'text', text });

export const toImage = (at: Node, url: string): Part => ({
  ...{ kind: 'image', at },
  written: `{"type":"image_url","image_url":{"url":${url}}}`,
});

export const toFile = (at: Node, name: string | undefined, data: string): Part => ({
  ...{ kind: 'file', at },
  written: `{"type":"file","file":{${name === undefined ? '' : `"filename":${name},`}"file_data":${data}}}`,
});

/** An answer in JSON by a schema. */
export function toSchemaFormat(
  name: string,
  schema: string,
  { description, strict }: { readonly description?: string | undefined; readonly strict?: string | undefined },
): string {
  const described = description === undefined ? '' : `,"description":${description}`;
  const enforced = strict === undefined ? '' : `,"strict":${strict}`;
  return `{"type":"json_schema","json_schema":{"name":${name}${described},"schema":${schema}${enforced}}}`;
}

/** A text as a JSON string. */
export const quote = (text: string): string => JSON.stringify(text);

/** JSON text as a string that holds it, unchanged. */
export function* quoteJson(json: string): Cooperative<string> {
  if (!isLong(json)) return quote(json);
  let quoted = '';
  for (let at = 0, end = 0; at < json.length; at = end) {
    end = at + charactersPerSlice;
    // The halves of a character would be written as escapes, each for itself.
    if (highSurrogate.test(json.charAt(end - 1))) end += 1;
    quoted += inside(quote(json.slice(at, end)));
    yield;
  }
  return `"${quoted}"`;
}

const highSurrogate = /[\uD800-\uDBFF]/;

/** What stands between the quotes of a string. */
export const inside = (string: string): string => string.slice(1, -1);

/** Strings joined to one. `between` is what stands between them, as it is written in JSON. */
export const joinStrings = (strings: readonly string[], between: string): string =>
  `"${strings.map(inside).join(between)}"`;

/** A blank line, as it is written in JSON. */
export const paragraph = '\\n\\n';
