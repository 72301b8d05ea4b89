import { checked } from '../command-line.ts';

/** The address of a gateway, with or without `/v1`. */
export const readBase = checked((word) => {
  const url = URL.parse(word);
  return url && /^https?:$/.test(url.protocol) ? word.replace(/\/+$/, '').replace(/\/v1$/, '') : undefined;
}, 'an http(s) URL');
