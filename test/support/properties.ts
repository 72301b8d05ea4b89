import fc from 'fast-check';

// The same inputs in every run; `SEED=2 npm run test:unit` tries others. A property that fails prints its seed.
fc.configureGlobal({ seed: Number(process.env.SEED ?? 1) });

export default fc;
