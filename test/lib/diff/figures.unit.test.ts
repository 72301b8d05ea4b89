import { describe, expect, test } from '@jest/globals';
import { type AnyTree, type Change, createTemplateEditor } from '../../support/template-changes.ts';
import { synthesizeWithBothEngines } from '../../support/whole-template.ts';

/** With a function and a web function, both of which have the settings. */
const { propertiesIn, ...editor } = createTemplateEditor(synthesizeWithBothEngines());
const dangersBetween = (before: Change, after: Change) => editor.dangersBetween(before, after).sort();

const settingsIn = (template: AnyTree) => [
  propertiesIn(template, 'Gateway/Function').Environment.Variables,
  propertiesIn(template, 'Web/Function/Revision').ServiceConfig.EnvironmentVariables,
];
const endpoint = (template: AnyTree) => propertiesIn(template, 'Web/Function/Endpoint');
const logs = (template: AnyTree, days: unknown) => {
  for (const name of ['Gateway/Logs', 'Wallet/Logs']) propertiesIn(template, name).RetentionInDays = days;
};

/** Changes or removes settings of both engines. */
const told =
  (name: string, value?: string): Change =>
  (template) => {
    for (const settings of settingsIn(template)) {
      if (value === undefined) delete settings[name];
      else settings[name] = value;
    }
  };

/** Prices of which one is this. */
const priced = (output: number) => JSON.stringify({ svc: { input: 3, output }, 'svc-vision': { input: 1, output: 4 } });

const asItIs: Change = () => {};

/** The place of the danger in each engine. */
const inBoth = (what: string) => ['Gateway/Function', 'Web/Function/Revision'].map((where) => `${where}: ${what}`);

describe('a figure may be tuned by a factor below ten', () => {
  const raised = (name: string) => inBoth(`no longer bounded: ${name} is ten times as high, or more`);
  const cut = (name: string) => inBoth(`no longer reachable: ${name} is a tenth of what it was, or less`);
  const grown = (name: string) => inBoth(`no longer reachable: ${name} is ten times as high, or more`);
  const believesTooLong = 'believes a key for longer than the minute in which a revocation takes effect';
  const anewTooOften = 'gives members their budget anew more than ten times as often';
  const tooCheap = 'counts tokens at a tenth of their price or less, so that budgets buy ten times as much';

  test.each<[name: string, value: string | undefined, dangers: string[]]>([
    ['DAILY_LIMIT', '99999', []],
    ['DAILY_LIMIT', '100000', raised('DAILY_LIMIT')],
    ['DAILY_LIMIT', '1001', []],
    ['DAILY_LIMIT', '1000', cut('DAILY_LIMIT')],
    ['DAILY_LIMIT', undefined, inBoth('no longer bounded: answers any number of requests a day, at any cost')],
    ['GUEST_DAILY_LIMIT', '10000', raised('GUEST_DAILY_LIMIT')],
    ['GUEST_DAILY_LIMIT', '1', cut('GUEST_DAILY_LIMIT')],
    ['GUEST_DAILY_LIMIT', undefined, []], // a fifth of 10,000
    ['GUEST_LIMIT', '30', raised('GUEST_LIMIT')],
    ['GUEST_LIMIT', '1', []],
    ['GUEST_LIMIT', '0', cut('GUEST_LIMIT')],
    ['GUEST_LIMIT', undefined, []], // the fallback
    ['MEMBER_LIMIT', '50000', raised('MEMBER_LIMIT')],
    ['MEMBER_LIMIT', '5', cut('MEMBER_LIMIT')],
    ['BURST_LIMIT', '200', raised('BURST_LIMIT')],
    ['BURST_LIMIT', '2', cut('BURST_LIMIT')],
    ['BURST_LIMIT', 'many', [...raised('BURST_LIMIT'), ...cut('BURST_LIMIT')].sort()],
    ['GUEST_WINDOW', 'daily', inBoth('no longer bounded: gives guests their requests anew each day')],
    ['REQUEST_TIMEOUT', '87', cut('REQUEST_TIMEOUT')],
    ['UPSTREAM_CONNECT_TIMEOUT', '0.05', cut('UPSTREAM_CONNECT_TIMEOUT')],
    ['UPSTREAM_CONNECT_TIMEOUT', '60', grown('UPSTREAM_CONNECT_TIMEOUT')],
    ['UPSTREAM_IDLE_TIMEOUT', '10', cut('UPSTREAM_IDLE_TIMEOUT')],
    ['KEEP_ALIVE_INTERVAL', '0.05', cut('KEEP_ALIVE_INTERVAL')],
    ['IDENTITY_CACHE_SECONDS', '60', []],
    ['IDENTITY_CACHE_SECONDS', '0', []],
    ['IDENTITY_CACHE_SECONDS', '61', inBoth(`no longer private: ${believesTooLong}`)],
  ])('%s: %s', (name, value, dangers) => {
    expect(dangersBetween(asItIs, told(name, value))).toEqual(dangers);
  });

  test.each<[name: string, before: string, after: string | undefined, dangers: string[]]>([
    ['SPEND_LIMIT', '20', '199.5', []],
    ['SPEND_LIMIT', '20', '200', raised('SPEND_LIMIT')],
    ['SPEND_LIMIT', '20', '2', cut('SPEND_LIMIT')],
    ['SPEND_LIMIT', '20', undefined, inBoth('no longer bounded: spends any amount a day')],
    ['MEMBER_BUDGET', '0.5', '5', raised('MEMBER_BUDGET')],
    ['MEMBER_BUDGET', '0.5', '0.05', cut('MEMBER_BUDGET')],
    ['MEMBER_BUDGET', '0.5', undefined, inBoth('no longer bounded: lets members spend without a budget')],
    ['MEMBER_BUDGET_WINDOW', 'month', 'week', []],
    ['MEMBER_BUDGET_WINDOW', 'day', 'month', []],
    ['MEMBER_BUDGET_WINDOW', 'month', 'day', inBoth(`no longer bounded: ${anewTooOften}`)],
    ['RESERVED_OUTPUT', '4096', '400', inBoth('no longer bounded: RESERVED_OUTPUT is a tenth of what it was, or less')],
    ['RESERVED_OUTPUT', '4096', '100000', []],
    ['CURRENCY', 'USD', 'EUR', []],
    ['PRICES', priced(10), priced(1.01), []],
    ['PRICES', priced(10), priced(100), []],
    ['PRICES', priced(0), priced(5), []],
    ['PRICES', priced(10), priced(1), inBoth(`no longer bounded: ${tooCheap}`)],
    ['PRICES', priced(10), undefined, inBoth('no longer bounded: has no prices to count budgets with')],
  ])('%s from %s to %s', (name, before, after, dangers) => {
    expect(dangersBetween(told(name, before), told(name, after))).toEqual(dangers);
  });

  test('switching guests back on is not tuning either', () => {
    expect(dangersBetween(told('GUEST_LIMIT', '0'), asItIs)).toEqual(raised('GUEST_LIMIT'));
  });

  test('closing the gateway, or opening it, is not tuning either', () => {
    const closed = told('ACCESS', 'keys');
    const refused = 'no longer reachable: turns away everyone without a key, linked networks too, and has no page /cli';
    expect(dangersBetween(asItIs, closed)).toEqual(inBoth(refused));
    expect(dangersBetween(told('ACCESS'), closed)).toEqual(inBoth(refused));
    const opened = 'no longer bounded: is open: it serves anyone, without a key that the operator has issued';
    expect(dangersBetween(closed, asItIs)).toEqual(inBoth(opened));
    expect(dangersBetween(closed, told('ACCESS'))).toEqual(inBoth(opened));
    expect(dangersBetween(told('ACCESS'), asItIs)).toEqual([]);
  });

  const inWallet =
    (settings: Record<string, string>): Change =>
    (template) =>
      Object.assign(propertiesIn(template, 'Wallet/Function').Environment.Variables, settings);
  const company = { OIDC_ISSUER: 'https://login.example.com', OIDC_ALLOWED_DOMAINS: 'a.example,b.example' };
  const provider = 'lets in people by the word of another provider, or of none';
  const domains = 'lets in people whom OIDC_ALLOWED_DOMAINS kept out';
  const groups = 'lets in people whom OIDC_ALLOWED_GROUPS kept out';
  const claim = 'lets in people by another claim than that of their groups so far';
  const everybody = 'may let in everybody who has an account at the provider';
  const engineers = { ...company, OIDC_ALLOWED_GROUPS: 'engineers' };
  const { OIDC_ALLOWED_DOMAINS: _, ...anyDomain } = company;
  test.each<[what: string, before: Record<string, string>, after: Record<string, string>, dangers: string[]]>([
    ['a first provider', {}, company, [provider]],
    ['another provider', company, { ...company, OIDC_ISSUER: 'https://elsewhere.example' }, [provider]],
    ['no provider any more', company, {}, [domains, provider]],
    ['one more domain', company, { ...company, OIDC_ALLOWED_DOMAINS: 'a.example, b.example, c.example' }, [domains]],
    ['another domain', company, { ...company, OIDC_ALLOWED_DOMAINS: 'c.example' }, [domains]],
    ['any domain', company, { ...anyDomain, OIDC_ALLOWED_GROUPS: 'engineers' }, [domains]],
    ['one domain fewer', company, { ...company, OIDC_ALLOWED_DOMAINS: 'b.example' }, []],
    ['groups besides', company, engineers, []],
    ['other groups', engineers, { ...engineers, OIDC_ALLOWED_GROUPS: 'engineers,guests' }, [groups]],
    ['the claim by its default', company, { ...company, OIDC_GROUPS_CLAIM: 'groups' }, []],
    ['another claim', company, { ...company, OIDC_GROUPS_CLAIM: 'roles' }, [claim]],
    ['everybody', company, { ...company, OIDC_ALLOW_ALL: 'true' }, [everybody]],
    ['a key that lasts longer', company, { ...company, OIDC_KEY_DAYS: '60' }, []],
  ])('who signs in with a company account is no tuning: %s', (_what, before, after, dangers) => {
    const marked = dangers.map((danger) => `Wallet/Function: no longer private: ${danger}`);
    expect(dangersBetween(inWallet(before), inWallet(after))).toEqual(marked.sort());
  });

  test('guests whose small limit is removed count with the fifth that they get instead', () => {
    const small = told('GUEST_DAILY_LIMIT', '200');
    expect(dangersBetween(small, told('GUEST_DAILY_LIMIT'))).toEqual(raised('GUEST_DAILY_LIMIT'));
    expect(dangersBetween(told('GUEST_DAILY_LIMIT'), small)).toEqual([]);
  });

  test('a new limit is harmless', () => {
    expect(dangersBetween(told('DAILY_LIMIT'), told('DAILY_LIMIT', '500'))).toEqual([]);
  });

  const ofFunction = (template: AnyTree) => propertiesIn(template, 'Gateway/Function');
  const revision = (template: AnyTree) => propertiesIn(template, 'Web/Function/Revision').ServiceConfig;
  const tooSmall = 'has less than the 256 MB that the largest bodies took, and may run out of memory';
  const raisedTo = (what: string) => `no longer bounded: its ${what} is ten times as high, or more`;
  const cutTo = (what: string) => `no longer reachable: ${what} is a tenth of what it was, or less`;
  test.each<[change: Change, danger?: string]>([
    [(t) => (endpoint(t).ThrottleConfig.RateLimit = 5_000), `Web/Function/Endpoint: ${raisedTo('RateLimit')}`],
    [(t) => (endpoint(t).ThrottleConfig.RateLimit = 1_000)],
    [(t) => (endpoint(t).ScalingConfig.MaxEnvironments = 200), `Web/Function/Endpoint: ${raisedTo('MaxEnvironments')}`],
    [(t) => (endpoint(t).ScalingConfig.MaxEnvironments = 2), `Web/Function/Endpoint: ${cutTo('its MaxEnvironments')}`],
    [
      (t) => (revision(t).MaxConcurrencyPerEnvironment = 1),
      `Web/Function/Revision: ${cutTo('its MaxConcurrencyPerEnvironment')}`,
    ],
    [(t) => (ofFunction(t).MemorySize = 10_240), `Gateway/Function: ${raisedTo('MemorySize')}`],
    [(t) => (ofFunction(t).MemorySize = 128), `Gateway/Function: no longer reachable: ${tooSmall}`],
    [(t) => (ofFunction(t).MemorySize = 256)],
    [(t) => (ofFunction(t).MemorySize = 2_048)],
    [
      (t) => (revision(t).EnvironmentVariables.SHUTDOWN_GRACE = '3'),
      'Web/Function/Revision: no longer exact: may be ended before it has written its refunds',
    ],
    [(t) => (revision(t).EnvironmentVariables.BODY_BUDGET = '8'), `Web/Function/Revision: ${cutTo('BODY_BUDGET')}`],
  ])('%s: %s', (...[change, danger]) => {
    expect(dangersBetween(asItIs, change)).toEqual(danger === undefined ? [] : [danger]);
  });
});

describe('logs are kept for at least a week and at most a year', () => {
  const where = ['Gateway/Logs', 'Wallet/Logs'];
  const short = where.map((name) => `${name}: no longer watched: forgets within days what happened`);
  const long = where.map((name) => `${name}: no longer private: tells for more than a year who asked when`);

  test.each([
    [1, short],
    [7, []],
    [365, []],
    [400, long],
    [undefined, long],
  ])('%s days', (days, dangers) => {
    expect(dangersBetween(asItIs, (t) => logs(t, days))).toEqual(dangers);
  });
});

describe('settings that lead callers or their data elsewhere', () => {
  const keys = 'sends people elsewhere for their keys';
  const page = 'lets one more web page spend what its visitors may';
  const account = 'sends the upstream other headers, which may choose whose account it is';
  const [elsewhere, one, two] = [
    'https://elsewhere.example',
    'https://a.example',
    'https://a.example,https://b.example',
  ];

  test.each([
    ['APP_URL', 'https://app.example', elsewhere, keys],
    ['APP_URL', undefined, elsewhere, keys],
    ['GATEWAY_URL', undefined, elsewhere, 'tells people to send their keys elsewhere'],
    ['CORS_ORIGINS', '*', elsewhere, page],
    ['CORS_ORIGINS', one, two, page],
    ['UPSTREAM_HEADERS', undefined, '{"authorization":"Bearer x"}', account],
    ['UPSTREAM_2_HEADERS', '{"x-team":"a"}', '{"x-team":"b"}', account],
  ])('%s: %s to %s is a danger', (name, before, after, otherwise) => {
    expect(dangersBetween(told(name, before), told(name, after))).toEqual(inBoth(`no longer private: ${otherwise}`));
  });

  test.each([one, '*'])('fewer origins, or any origin as a guest, are no danger: %s', (origins) => {
    expect(dangersBetween(told('CORS_ORIGINS', two), told('CORS_ORIGINS', origins))).toEqual([]);
  });
});
