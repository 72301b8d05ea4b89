import { byId } from './element.js';

/** What is going on, said politely. */
export function announce(/** @type {string} */ text) {
  byId('status').textContent = text;
}

/** What went wrong and what to do, said at once. */
export function showProblem(/** @type {string} */ text) {
  announce('');
  const problem = byId('problem');
  problem.textContent = text;
  problem.hidden = false;
  problem.scrollIntoView({ block: 'nearest' });
}

export function hideProblem() {
  byId('problem').hidden = true;
  byId('problem').textContent = '';
}
