// Jest's environment for `npm run mutate`: a file of tests is over at its first failure, as one is enough.
import { TestEnvironment } from 'jest-environment-node';

export default class FirstFailure extends TestEnvironment {
  #failed = false;

  handleTestEvent(event) {
    if (event.name === 'test_fn_failure' || event.name === 'hook_failure') this.#failed = true;
    if (event.name === 'test_start' && this.#failed) event.test.mode = 'skip';
  }
}
