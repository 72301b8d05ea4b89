import { copyButton } from '../cli/copy.js';

// Without JavaScript the text is there all the same, to be selected.
for (const block of document.querySelectorAll('.block')) {
  const [head, text] = [block.querySelector('.block-head'), block.querySelector('pre')];
  if (!head || !text) continue;
  // A long line is scrolled to by keyboard, too.
  text.tabIndex = 0;
  head.append(copyButton(head.textContent.trim(), () => text.textContent ?? ''));
}
