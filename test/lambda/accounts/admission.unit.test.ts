import { expect, test } from '@jest/globals';
import { requireAllowed } from '../../../lambda/accounts/admission.ts';
import { testRows } from '../../support/test-rows.ts';

const both = {
  ...{ oidcAllowedDomains: ['example.com', 'example.org'], oidcAllowedGroups: ['engineers'] },
  oidcGroupsClaim: 'groups',
};
const engineer = { sub: 'ada', email: 'ada@example.com', email_verified: true, groups: ['engineers'] };

testRows<[change: object, why?: RegExp]>([
  [{}],
  [{ email: 'ADA@EXAMPLE.org', groups: ['sales', 'engineers'] }],
  [{ groups: 'engineers' }],
  [{ email: 'ada@elsewhere.example' }, /: an e-mail address at example\.com or example\.org is needed\.$/],
  [{ email: 'ada@notexample.com' }, /an e-mail address at example\.com/],
  [{ email: 'eve@elsewhere.example@example.com' }, /an e-mail address at example\.com/],
  [{ email: '@example.com' }, /an e-mail address at example\.com/],
  [{ email: undefined }, /an e-mail address at example\.com or example\.org is needed\.$/],
  [{ email_verified: false }, /does not say that your address is verified/],
  [{ email_verified: 'true' }, /does not say that your address is verified/],
  [{ groups: ['sales'] }, /in none of the groups/],
  [{ groups: undefined }, /in none of the groups/],
  // Groups overage.
  [{ groups: undefined, _claim_names: { groups: 'src1' } }, /too many groups/],
  [{ groups: undefined, hasgroups: true }, /too many groups/],
])('whoever is not on the allow-lists is told why', (change, why) => {
  const admit = () => requireAllowed({ ...engineer, ...change }, both);
  if (why)
    expect(admit).toThrow(expect.objectContaining({ shownCode: 'not_allowed', message: expect.stringMatching(why) }));
  else expect(admit()).toBeUndefined();
});

test('without allow-lists, everyone may sign in', () => {
  const none = { oidcAllowedDomains: undefined, oidcAllowedGroups: undefined, oidcGroupsClaim: 'groups' };
  expect(requireAllowed({ sub: 'ada' }, none)).toBeUndefined();
});
