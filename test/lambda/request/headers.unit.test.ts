import { expect } from '@jest/globals';
import { preflightHeaders } from '../../../lambda/request/headers.ts';
import { testRows } from '../../support/test-rows.ts';

// As Lambda passes events, which may have what no HTTP connection lets through.
testRows(['a\r\nx-api-key: stolen', 'a\nb', 'a\rb', 'a\0b', 'a\u{1f4a5}', 'Ā', 'a\u2028b', 'é', ''])(
  'a header that would smuggle in another does not come back',
  (asked) => {
    const headers = preflightHeaders({ 'access-control-request-headers': asked });
    expect(headers['access-control-allow-headers']).toMatch(/^x-api-key, api-key, authorization, content-type/);
  },
);
