import type { Page } from 'playwright-core';

/** Texts whose contrast is below 4.5, which WCAG 2.2 AA asks for: https://www.w3.org/TR/WCAG22/#contrast-minimum */
export const paleTexts = (page: Page): Promise<string[]> =>
  page.evaluate(`(() => {
    const channels = (color) => color.match(/[\\d.]+/g).map(Number);
    const linear = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    const luminance = ([r, g, b]) =>
      0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
    const background = (element) => {
      const found = channels(getComputedStyle(element).backgroundColor);
      return found[3] === 0 ? background(element.parentElement) : found;
    };
    const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    return [...document.querySelectorAll('body *')].flatMap((element) => {
      // Disabled elements are exempt.
      if (!hasText(element) || !element.checkVisibility() || getComputedStyle(element).opacity < 1) return [];
      const [light, dark] = [channels(getComputedStyle(element).color), background(element)]
        .map(luminance).sort((a, b) => b - a);
      const ratio = (light + 0.05) / (dark + 0.05);
      return ratio < 4.5 ? [element.textContent.trim() + ': ' + ratio.toFixed(2)] : [];
    });
  })()`);
