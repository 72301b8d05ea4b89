import type { Json } from '../json/scan.ts';
import { elements, presentMember, stringMember } from './envelope.ts';

/**
 * The sentence in which an upstream says what went wrong, in any of the forms that providers use:
 * `{error: {message}}`, `{error: "…"}`, `{message}`, `{detail}`, `{detail: [{msg}]}`.
 */
export function readErrorMessage(json: Json): string | undefined {
  const { root } = json;
  return (
    stringMember(json, presentMember(json, root, 'error'), 'message') ??
    stringMember(json, root, 'error') ??
    stringMember(json, root, 'message') ??
    stringMember(json, root, 'detail') ??
    stringMember(json, elements(json, presentMember(json, root, 'detail'))[0], 'msg')
  );
}
