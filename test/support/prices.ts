/** Prices of the default deployment's models, as the setting has them. */
export const PRICES = JSON.stringify({
  svc: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
  'svc-vision': { input: 1, output: 4, maxOutput: 8_192 },
});
