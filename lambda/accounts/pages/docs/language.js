/** @type {NodeListOf<HTMLInputElement>} */
const choices = document.querySelectorAll('input[name="language"]');

// The page's style shows the examples of the chosen one. The entry of this visit in the browser's history keeps the choice, and
// nothing else does: it is there after a reload and on the way back, and gone with the tab.
for (const choice of choices) {
  if (choice.value === history.state?.language) choice.checked = true;
  choice.addEventListener('change', () => history.replaceState({ language: choice.value }, ''));
}

// A link within the page makes an entry of its own.
addEventListener('hashchange', () => {
  const chosen = [...choices].find(({ checked }) => checked);
  if (chosen) history.replaceState({ language: chosen.value }, '');
});
