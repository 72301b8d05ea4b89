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

/** A block with a copy button. */
export function block(title: string, text: string, kind = ''): string {
  const frame = text.split('\n').length > 24 ? '<pre class="long">' : '<pre>';
  const head = `<div class="block-head"><p>${escapeHtml(title)}</p></div>`;
  return `<div class="${`block ${kind}`.trim()}">${head}${frame}${escapeHtml(text)}</pre></div>`;
}

/** A collapsible part, which a link to its id opens too. */
export const opening = (id: string, head: string, content: string): string =>
  `<details><summary>${head}</summary><div id="${id}">${content}</div></details>`;
