import { copyButton } from './copy.js';
import { byId, create } from './element.js';

/**
 * Shows snippets as tabs: https://www.w3.org/WAI/ARIA/apg/patterns/tabs/
 * @param {ReturnType<typeof import('./snippets.js').createSnippets>} snippets
 */
export function showSnippets(snippets) {
  const list = /** @type {HTMLElement} */ (document.querySelector('[role=tablist]'));
  const tabs = snippets.map(({ id, title }) =>
    create('button', { type: 'button', role: 'tab', id: `tab-${id}`, 'aria-controls': `panel-${id}` }, title),
  );
  const panels = snippets.map(({ id, blocks }) =>
    create('div', { role: 'tabpanel', id: `panel-${id}`, 'aria-labelledby': `tab-${id}` }, ...blocks.map(toBlock)),
  );

  const select = (/** @type {number} */ chosen) => {
    tabs.forEach((tab, index) => {
      tab.setAttribute('aria-selected', String(index === chosen));
      tab.tabIndex = index === chosen ? 0 : -1;
    });
    panels.forEach((panel, index) => {
      panel.hidden = index !== chosen;
    });
  };
  tabs.forEach((tab, index) => {
    tab.addEventListener('click', () => select(index));
    tab.addEventListener('keydown', ({ key }) => {
      const target = targetOf(key, index, tabs.length);
      if (target === undefined) return;
      select(target);
      tabs[target]?.focus();
    });
  });
  list.replaceChildren(...tabs);
  byId('snippets').replaceChildren(...panels);
  select(0);
}

/**
 * @param {string} key
 * @param {number} index
 * @param {number} count
 */
function targetOf(key, index, count) {
  if (key === 'ArrowRight') return (index + 1) % count;
  if (key === 'ArrowLeft') return (index + count - 1) % count;
  if (key === 'Home') return 0;
  return key === 'End' ? count - 1 : undefined;
}

/** @param {{ title: string, text: string }} block */
function toBlock({ title, text }) {
  const code = create('code', {}, text);
  const head = create(
    'div',
    { class: 'block-head' },
    create('h4', {}, title),
    copyButton(title, () => text),
  );
  // Long lines scroll, so the keyboard must get there.
  return create(
    'div',
    { class: 'block' },
    head,
    create('pre', { tabindex: '0', role: 'group', 'aria-label': title }, code),
  );
}
