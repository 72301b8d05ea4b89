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

/** A block that can be copied. */
export const block = (title: string, text: string): string =>
  `<div class="block"><div class="block-head"><p>${escapeHtml(title)}</p></div><pre>${escapeHtml(text)}</pre></div>`;
