import { copyButton } from '../cli/copy.js';

// Without JavaScript the text can still be selected.
for (const block of document.querySelectorAll('.block')) {
  const [head, text] = [block.querySelector('.block-head'), block.querySelector('pre')];
  if (!head || !text) continue;
  const name = head.textContent.trim();
  head.append(copyButton(name, () => text.textContent ?? ''));
  // It may have to be scrolled, and not every browser lets a keyboard do so by itself.
  for (const [attribute, value] of Object.entries({ tabindex: '0', role: 'group', 'aria-label': name })) {
    text.setAttribute(attribute, value);
  }
}
