import { readInfo } from './api.js';
import { showClients } from './clients.js';
import { showProblem } from './messages.js';
import { placeholderKey } from './snippet.js';

// Where nobody signs in, the page has the blocks alone.
try {
  showClients({ ...(await readInfo()), key: placeholderKey }, `Put your key in place of ${placeholderKey}.`);
} catch (error) {
  showProblem(/** @type {Error} */ (error).message);
}
