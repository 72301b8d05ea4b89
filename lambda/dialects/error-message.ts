import { excerpt, longestPath } from '../http/excerpt.ts';
import type { Json, Node } from '../json/scan.ts';
import { elements, presentMember, stringMember } from './envelope.ts';

/**
 * An upstream's error message, in any of the forms that providers use: `{error: {message}}`,
 * `{error: "…"}`, `{message}`, `{errors: [{message}]}`, `{detail}`, `{detail: [{loc, msg}]}`, or one of these in a list.
 */
export function readErrorMessage(json: Json): string | undefined {
  const body = elements(json, json.root)[0] ?? json.root;
  const first = (name: string) => elements(json, presentMember(json, body, name))[0];
  return (
    stringMember(json, presentMember(json, body, 'error'), 'message') ??
    stringMember(json, body, 'error') ??
    stringMember(json, body, 'message') ??
    stringMember(json, first('errors'), 'message') ??
    stringMember(json, body, 'detail') ??
    readDetail(json, first('detail'))
  );
}

/** A validator's fault: what is wrong, after the place in the body if that is named. */
function readDetail(json: Json, detail: Node | undefined): string | undefined {
  const message = stringMember(json, detail, 'msg');
  const steps = elements(json, presentMember(json, detail, 'loc')).map((step) =>
    json.kind(step) === 'string' ? `.${json.string(step)}` : `[${json.raw(step)}]`,
  );
  const place = steps
    .join('')
    .replace(/^\.body(?=[.[]|$)/, '')
    .replace(/^\./, '');
  return message !== undefined && place !== '' ? `${excerpt(place, longestPath)}: ${message}` : message;
}
