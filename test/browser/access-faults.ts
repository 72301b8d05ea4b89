import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** What axe finds wrong with a page for those who read or work it in other ways: WCAG 2.2 AA and good practice. */
export async function accessFaults(page: Page): Promise<string[]> {
  // Not as a script of the page, whose policy would refuse it.
  await page.evaluate(axe.source);
  const { violations, incomplete } = await page.evaluate<axe.AxeResults>('axe.run({ reporter: "v2" })');
  return [...violations, ...incomplete].flatMap(({ id, nodes }) =>
    nodes.map(({ target, any }) => `${id} ${target}: ${any[0]?.message ?? ''}`),
  );
}
