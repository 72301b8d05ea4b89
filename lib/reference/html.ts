const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => entities[character] ?? '');

export const code = (text: string): string => `<code>${escapeHtml(text)}</code>`;

/** A description from the document: plain text, with `code` between backticks. */
export const prose = (text = ''): string =>
  text
    .split('`')
    .map((part, index) => (index % 2 === 0 ? escapeHtml(part) : code(part)))
    .join('');

export const paragraph = (text: string | undefined): string => (text ? `<p>${prose(text)}</p>` : '');

/** A block that can be copied. A long one is scrolled in its frame, for which those without a mouse must be able to get there. */
export function block(title: string, text: string): string {
  const [name, isLong] = [escapeHtml(title), text.split('\n').length > 16];
  const frame = isLong ? `<pre class="long" tabindex="0" role="group" aria-label="${name}">` : '<pre>';
  return `<div class="block"><div class="block-head"><p>${name}</p></div>${frame}${escapeHtml(text)}</pre></div>`;
}

/** A part that opens when it is wanted, also by a link to its id; until then there is only its head. */
export const opening = (id: string, head: string, content: string, open = false): string =>
  `<details${open ? ' open' : ''}><summary>${head}</summary><div id="${id}">${content}</div></details>`;
