import { copyButton } from '../cli/copy.js';

// Without JavaScript the text can still be selected.
for (const block of document.querySelectorAll('.block')) {
  const [head, text] = [block.querySelector('.block-head'), block.querySelector('pre')];
  if (!head || !text) continue;
  head.append(copyButton(head.textContent.trim(), () => text.textContent ?? ''));
}
