import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const paths = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Where a browser is: CHROMIUM, or where distributions put it. */
function findChromium(): string | undefined {
  return [process.env.CHROMIUM ?? '', ...paths].find((path) => path !== '' && existsSync(path));
}

/** A browser that contacts nothing but the pages under test. */
export function startChromium(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error(howToInstall);
  const quiet = ['--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update'];
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-sync', ...quiet],
  });
}

const howToInstall =
  'This needs Chromium: on Debian and Ubuntu `apt-get install -y chromium`; elsewhere set CHROMIUM to the path of one.';

// Run before the tests, so that without a browser there is one line and no stack trace.
if (import.meta.main && findChromium() === undefined) {
  console.error(howToInstall);
  process.exit(1);
}
