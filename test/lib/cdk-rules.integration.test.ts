import { expect, test } from '@jest/globals';
import { synthesizeStack } from '../support/stack.ts';
import { everything, onWeb } from '../support/whole-template.ts';

test.each([{}, onWeb])("with everything turned on, and %j, it follows the CDK's own rules", (settings) => {
  const { template } = synthesizeStack({ ...everything, ...settings }, { isValidated: true });
  expect(Object.keys(template.toJSON().Resources).length).toBeGreaterThan(30);
});
