import { hash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Facts } from './facts.ts';
import type { PageFile } from './page-files.ts';

/** A file as it is sent: plain, or compressed if the browser accepts that. */
export interface FilledPage {
  readonly text: string;
  readonly gzipped: Buffer;
  /** Lets a browser check its copy. Weak, because both forms share it. */
  readonly etag: string;
}

/** Fills the placeholders of a file, where `{{#name}}…{{/name}}` stays if the fact holds, and `{{^name}}…{{/name}}` if it doesn't. */
export function fillPage({ text, contentType }: PageFile, facts: Facts): FilledPage {
  const quote = contentType.startsWith('text/html') ? escapeHtml : (value: string) => value;
  const read = (name: string): string => {
    const fact = facts[name];
    if (fact === undefined) throw new Error(`a page asks for ${name}, which nobody knows`);
    return fact;
  };
  const choose = (part: string): string =>
    part.replace(sections, (_, sign: string, name: string, inner: string) =>
      (read(name) !== '') === (sign === '#') ? choose(inner) : '',
    );
  const filled = choose(text).replace(/\{\{(\w+)\}\}/g, (_, name: string) => quote(read(name)));
  const digest = hash('sha256', filled, 'base64url').slice(0, 22);
  return { text: filled, gzipped: gzipSync(filled, { level: 9 }), etag: `W/"${digest}"` };
}

const sections = /\{\{([#^])(\w+)\}\}(.*?)\{\{\/\2\}\}/gs;

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** For texts, and for attributes between double quotes. */
const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => entities[character] ?? '');
