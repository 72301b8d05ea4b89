import { expect, test } from '@jest/globals';
import { findRelatedTests } from './related-tests.ts';

const files: Readonly<Record<string, string>> = {
  'lambda/a/one.ts': '',
  'lambda/a/two.ts': "import { one } from './one.ts';",
  'lambda/app.ts': "import { two } from './a/two.ts';",
  'test/support/app.ts': "import { app } from '../../lambda/app.ts';",
  'test/lambda/a/one.integration.test.ts': "import { app } from '../../support/app.ts';",
  'test/lambda/a/two.unit.test.ts': "import { two } from '../../../lambda/a/two.ts';",
  'test/lambda/a/more.integration.test.ts': "import { app } from '../../support/app.ts';",
  'test/lambda/app.integration.test.ts': "import { app } from '../support/app.ts';",
  'test/lambda/app.unit.test.ts': "import { app } from '../support/app.ts';",
  'test/lambda/types.unit.test.ts':
    "import type {\n  One,\n} from '../../lambda/a/one.ts';\nimport { x } from './x.ts';",
  'test/lambda/app.e2e.test.ts': "import { app } from '../support/app.ts';",
};
const sources = Object.entries(files).map(([path, text]) => ({ path, text }));

test('the tests of a file are its own, then those nearest to it, quick ones first', () => {
  expect(findRelatedTests(sources, 'lambda/a/one.ts')).toEqual([
    'test/lambda/a/one.integration.test.ts',
    'test/lambda/a/two.unit.test.ts',
    'test/lambda/app.unit.test.ts',
    'test/lambda/a/more.integration.test.ts',
    'test/lambda/app.integration.test.ts',
  ]);
});
