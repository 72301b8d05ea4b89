// Jest's environment for `npm run mutate`: a file of tests is over at its first failure, as one is enough.
import PlainEnvironment from '../support/plain-environment.mjs';

export default class FirstFailure extends PlainEnvironment {
  #failed = false;

  handleTestEvent(event) {
    if (event.name === 'test_fn_failure' || event.name === 'hook_failure') this.#failed = true;
    if (event.name === 'test_start' && this.#failed) event.test.mode = 'skip';
  }
}
