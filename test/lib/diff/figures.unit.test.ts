import { expect, test } from '@jest/globals';
import { type AnyTree, type Change, createTemplateEditor } from '../../support/template-changes.ts';
import { synthesizeWithBothEngines } from '../../support/whole-template.ts';

/** With a function and a web function, both of which have the settings; and of all else only what is changed here. */
const { Resources = {}, ...others } = synthesizeWithBothEngines();
const edited = Object.entries(Resources).filter(([id]) =>
  /^(GatewayFunction|GatewayLogs|WalletFunction|WebFunction)/.test(id),
);
const { propertiesIn, ...editor } = createTemplateEditor({ ...others, Resources: Object.fromEntries(edited) });
const dangersBetween = (before: Change, after: Change) => editor.dangersBetween(before, after).sort();
const asItIs: Change = () => {};

const settingsIn = (template: AnyTree) => [
  propertiesIn(template, 'Gateway/Function').Environment.Variables,
  propertiesIn(template, 'Web/Function/Revision').ServiceConfig.EnvironmentVariables,
];

/** Changes or removes a setting of both engines. */
const told =
  (name: string, value?: string): Change =>
  (template) => {
    for (const settings of settingsIn(template)) {
      if (value === undefined) delete settings[name];
      else settings[name] = value;
    }
  };

/** The danger, with its place in each engine. */
const inBoth = (what: string) => (what === '' ? [] : [`Gateway/Function, Web/Function/Revision: no longer ${what}`]);

const isFar = 'is ten times as high or more, or a tenth or less';
const far = (name: string) => `bounded: ${name} ${isFar}`;
const unlimited = 'bounded: answers any number of requests a day, at any cost';
const tooLong = 'private: caches keys for longer than the minute in which a revocation takes effect';
const window = 'bounded: gives members their budget anew at other times';
const prices = 'bounded: counts budgets by other prices, or by none';
const isOpen = 'bounded: is open: it serves anyone, without a key that the operator has issued';
const isClosed = 'reachable: turns away everyone without a key, linked networks too, and nobody gets one with a wallet';
const page = 'private: lets other web pages spend what their visitors may';
const account = 'private: sends the upstream other headers, which may choose whose account it is';
const [elsewhere, one, two] = ['https://elsewhere.example', 'https://a.example', 'https://a.example,https://b.example'];

/** `-` stands for the template's value. */
test.each<[name: string, before: string | undefined, after: string | undefined, danger: string]>([
  ['DAILY_LIMIT', '-', '99999', ''],
  ['DAILY_LIMIT', '-', '100000', far('DAILY_LIMIT')],
  ['DAILY_LIMIT', '-', '1001', ''],
  ['DAILY_LIMIT', '-', '1000', far('DAILY_LIMIT')],
  ['DAILY_LIMIT', '-', undefined, unlimited],
  ['DAILY_LIMIT', undefined, '500', ''],
  // A fifth of 10,000.
  ['GUEST_DAILY_LIMIT', '-', undefined, ''],
  ['GUEST_DAILY_LIMIT', '200', undefined, far('GUEST_DAILY_LIMIT')],
  ['GUEST_LIMIT', '-', '1', ''],
  ['GUEST_LIMIT', '-', '0', far('GUEST_LIMIT')],
  ['GUEST_LIMIT', '0', '-', far('GUEST_LIMIT')],
  // The default.
  ['GUEST_LIMIT', '-', undefined, ''],
  ['GUEST_LIMIT', '100', undefined, far('GUEST_LIMIT')],
  ['BURST_LIMIT', '-', 'many', far('BURST_LIMIT')],
  ['UPSTREAM_CONNECT_TIMEOUT', '-', '60', far('UPSTREAM_CONNECT_TIMEOUT')],
  ['GUEST_WINDOW', '-', 'daily', 'bounded: gives guests their requests anew each day'],
  ['IDENTITY_CACHE_SECONDS', '-', '60', ''],
  ['IDENTITY_CACHE_SECONDS', '-', '61', tooLong],
  ['SPEND_LIMIT', '20', '199.5', ''],
  ['SPEND_LIMIT', '20', '200', far('SPEND_LIMIT')],
  ['SPEND_LIMIT', '20', undefined, 'bounded: spends any amount a day'],
  ['MEMBER_BUDGET', '0.5', undefined, 'bounded: lets members spend without a budget'],
  ['MEMBER_BUDGET_WINDOW', 'month', 'day', window],
  ['PRICES', undefined, '{}', ''],
  ['PRICES', '{}', '{ }', prices],
  ['PRICES', '{}', undefined, prices],
  ['CURRENCY', 'USD', 'EUR', ''],
  ['ACCESS', '-', 'keys', isClosed],
  ['ACCESS', undefined, 'keys', isClosed],
  ['ACCESS', 'keys', '-', isOpen],
  ['ACCESS', 'keys', undefined, isOpen],
  ['ACCESS', undefined, '-', ''],
  ['APP_URL', undefined, elsewhere, 'private: sends people elsewhere for their keys'],
  ['GATEWAY_URL', undefined, elsewhere, 'private: tells people to send their keys elsewhere'],
  ['CORS_ORIGINS', one, two, page],
  ['UPSTREAM_HEADERS', undefined, '{"authorization":"Bearer x"}', account],
  ['UPSTREAM_2_HEADERS', '{"x-team":"a"}', '{"x-team":"b"}', account],
])('%s from %s to %s: %s', (name, before, after, danger) => {
  const as = (value: string | undefined) => (value === '-' ? asItIs : told(name, value));
  expect(dangersBetween(as(before), as(after))).toEqual(inBoth(danger));
});

test.each(['ISSUER', 'ALLOWED_DOMAINS', 'ALLOWED_GROUPS', 'GROUPS_CLAIM', 'ALLOW_ALL'])(
  'changing who may sign in is not tuning: OIDC_%s',
  (name) => {
    const changed: Change = (t) => (propertiesIn(t, 'Wallet/Function').Environment.Variables[`OIDC_${name}`] = 'x');
    expect(dangersBetween(asItIs, changed)).toEqual([
      expect.stringMatching(/^Wallet\/Function: no longer private: changes who may sign in/),
    ]);
  },
);

const endpoint = (template: AnyTree) => propertiesIn(template, 'Web/Function/Endpoint');
const ofFunction = (template: AnyTree) => propertiesIn(template, 'Gateway/Function');
const revision = (template: AnyTree) => propertiesIn(template, 'Web/Function/Revision').ServiceConfig;
const tooSmall = 'has less than the 256 MB that the largest bodies took, and may run out of memory';
const unwritten = 'exact: may be killed before it has written its refunds';

test.each<[change: Change, danger: string]>([
  [(t) => (endpoint(t).ThrottleConfig.RateLimit = 1_000), ''],
  [(t) => (endpoint(t).ThrottleConfig.RateLimit = 5_000), `Endpoint: no longer bounded: its limit ${isFar}`],
  [(t) => (endpoint(t).ScalingConfig.MaxEnvironments = 2), `Endpoint: no longer bounded: its limit ${isFar}`],
  [(t) => (revision(t).MaxConcurrencyPerEnvironment = 1), `Revision: no longer bounded: its limit ${isFar}`],
  [(t) => (ofFunction(t).MemorySize = 10_240), `Gateway/Function: no longer bounded: its memory ${isFar}`],
  [(t) => (ofFunction(t).MemorySize = 128), `Gateway/Function: no longer reachable: ${tooSmall}`],
  [(t) => (ofFunction(t).MemorySize = 256), ''],
  [(t) => (revision(t).EnvironmentVariables.SHUTDOWN_GRACE = '3'), `Revision: no longer ${unwritten}`],
  [(t) => (revision(t).EnvironmentVariables.BODY_BUDGET = '8'), `Revision: no longer ${far('BODY_BUDGET')}`],
])('%s: %s', (change, danger) => {
  expect(dangersBetween(asItIs, change)).toEqual(danger === '' ? [] : [expect.stringContaining(danger)]);
});

test('a first limit on the endpoint is harmless', () => {
  expect(dangersBetween((t) => delete endpoint(t).ThrottleConfig, asItIs)).toEqual([]);
});

test.each([
  [1, 'watched: forgets within days what happened'],
  [7, undefined],
  [365, undefined],
  [400, 'private: records for more than a year who called when'],
  [undefined, 'private: records for more than a year who called when'],
])('logs that are kept for %s days', (days, danger) => {
  const changed: Change = (t) => (propertiesIn(t, 'Gateway/Logs').RetentionInDays = days);
  expect(dangersBetween(asItIs, changed)).toEqual(danger ? [`Gateway/Logs: no longer ${danger}`] : []);
});
