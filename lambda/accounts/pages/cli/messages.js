import { byId } from './element.js';

/** Announces progress, politely. */
export function announce(/** @type {string} */ text) {
  byId('status').textContent = text;
}

/** Announces at once what went wrong and what to do. */
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
