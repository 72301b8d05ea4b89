const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => entities[character] ?? '');

export const code = (text: string): string => `<code>${escapeHtml(text)}</code>`;

/** A description from the document as HTML: plain text, with `code` in backticks. */
export const prose = (text = ''): string =>
  text
    .split('`')
    .map((part, index) => (index % 2 === 0 ? escapeHtml(part) : code(part)))
    .join('');

export const paragraph = (text: string | undefined): string => (text ? `<p>${prose(text)}</p>` : '');

/** A block with a copy button. A long one scrolls, so it must be focusable for people without a mouse. */
export function block(title: string, text: string): string {
  const [name, isLong] = [escapeHtml(title), text.split('\n').length > 16];
  const frame = isLong ? `<pre class="long" tabindex="0" role="group" aria-label="${name}">` : '<pre>';
  return `<div class="block"><div class="block-head"><p>${name}</p></div>${frame}${escapeHtml(text)}</pre></div>`;
}

/** A collapsible part, which a link to its id opens too. */
export const opening = (id: string, head: string, content: string, open = false): string =>
  `<details${open ? ' open' : ''}><summary>${head}</summary><div id="${id}">${content}</div></details>`;
