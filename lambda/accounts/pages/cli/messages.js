import { byId } from './element.js';

/** An error whose message is for people. */
export class Problem extends Error {
  /**
   * @param {string} message
   * @param {string} code
   */
  constructor(message, code = '') {
    super(message);
    this.code = code;
  }
}

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

function hideProblem() {
  byId('problem').hidden = true;
  byId('problem').textContent = '';
}

/**
 * Makes what runs the action of a button, one at a time, and shows what went wrong.
 * @param {(code: string) => void} onProblem goes where the person can mend it
 */
export const createRun =
  (onProblem) =>
  /**
   * @param {string} doing what a person reads meanwhile
   * @param {() => Promise<void>} act
   */
  async (doing, act) => {
    const { dataset } = document.body;
    if (dataset.busy !== undefined) return;
    hideProblem();
    announce(doing);
    // Not aria-busy: announcements would not be read out meanwhile.
    dataset.busy = '';
    try {
      await act();
      if (byId('status').textContent === doing) announce('');
    } catch (error) {
      const known = error instanceof Problem;
      if (known) onProblem(error.code);
      showProblem(known ? error.message : 'Something went wrong on this page. Please load it again.');
      if (!known) throw error;
    } finally {
      delete dataset.busy;
    }
  };
