import { afterAll, expect, jest, test } from '@jest/globals';
import { type IdentityProvider, startIdentityProvider } from '../../local/demo/identity-provider.ts';
import { findFreePort } from '../support/find-free-port.ts';
import { accessFaults } from './access-faults.ts';
import { signInThere, tabTo } from './company.ts';
import { click, cutTexts, heading, startSession } from './session.ts';

const port = await findFreePort();
const appUrl = `http://127.0.0.1:${port}`;
for (const way of ['info', 'warn'] as const) jest.spyOn(console, way).mockImplementation(() => {}); // it says that it is a demo
const provider: IdentityProvider = await startIdentityProvider({ callbackUrl: `${appUrl}/cli/oidc/callback` });
const session = startSession({
  ...{ PORT: String(port), APP_URL: appUrl, OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: provider.clientId },
  ...{ OIDC_CLIENT_SECRET: provider.clientSecret, OIDC_ALLOWED_DOMAINS: 'example.com', WALLET_SIGN_IN: 'false' },
});
afterAll(() => provider.close());

test.each([
  [320, 'dark'],
  [1280, 'light'],
] as const)(
  'a person signs in with the company’s account, gets a key and renews it, at %i px and %s',
  async (width, colorScheme) => {
    await using watched = await session.openPage({ colorScheme, viewport: { width, height: 640 } });
    const { page, complaints } = watched;
    const check = async () => {
      expect(await accessFaults(page)).toEqual([]);
      expect(await cutTexts(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    };
    await page.goto(`${appUrl}/cli`);
    await heading(page, 'Sign in with your company account');
    expect(await page.getByText('wallet').filter({ visible: true }).count()).toBe(0);
    await check();
    await tabTo(page, 'Sign in');
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.origin === provider.issuer);
    await signInThere(page, 'ada');
    await heading(page, 'Your account');
    await page.getByRole('region', { name: 'Your account' }).getByText('ada@example.com').waitFor();
    expect(page.url()).toBe(`${appUrl}/cli`);
    await check();
    // There they go on, and screen readers read on.
    expect(await page.evaluate('document.activeElement.id')).toBe('account-title');
    await tabTo(page, 'New key');
    await page.keyboard.press('Enter');
    await heading(page, 'Your key');
    expect(await page.evaluate('document.activeElement.id')).toBe('key-title');
    expect(await page.locator('#key-text').textContent()).toMatch(/^ltk_/);
    await page
      .getByRole('checkbox', { name: /^renew key_/ })
      .first()
      .press('Space');
    await tabTo(page, 'Renew those ticked');
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('Renewed.').waitFor();
    await check();
    // Nothing of it stays, and going back shows no code.
    expect(await page.evaluate('[localStorage.length, sessionStorage.length, document.cookie]')).toEqual([0, 0, '']);
    // The provider's own pages want fonts from elsewhere.
    expect(complaints.filter((text) => !text.startsWith('Failed to load'))).toEqual([]);
  },
);

test('whoever declines, or is not let in, is told so, and is not signed in', async () => {
  await using watched = await session.openPage();
  const { page } = watched;
  await page.goto(`${appUrl}/cli`);
  await click(page, 'Sign in');
  await page.locator('[name=login]').waitFor();
  await page.getByText('[ Cancel ]').click();
  await page.getByRole('alert').getByText('declined on your company’s page').waitFor();

  await click(page, 'Sign in');
  await signInThere(page, 'mallory');
  await page.getByRole('alert').getByText('does not let you in').waitFor();
  await heading(page, 'Sign in with your company account');
});

test('a terminal is let in with the company’s account, and its code survives the way there', async () => {
  const body = new URLSearchParams({ client_id: 'svc-terminal' });
  const begun = await fetch(`${appUrl}/oauth/device_authorization`, { method: 'POST', body });
  const { user_code: code } = (await begun.json()) as { user_code: string };
  await using watched = await session.openPage();
  const { page } = watched;
  await page.goto(`${appUrl}/cli/device`);
  await page.getByRole('textbox', { name: 'Code' }).fill(code);
  await page.keyboard.press('Enter');
  await click(page, 'With your company account');
  await signInThere(page, 'ada');
  await heading(page, 'Is this your terminal?');
  await page.getByText(code).waitFor();
  await click(page, 'Yes, let it in');
  await heading(page, 'Your terminal is signed in');
});
