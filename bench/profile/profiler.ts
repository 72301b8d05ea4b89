import { findFreePort, type Inspector, inspect, type Profile } from './inspector.ts';

/** Takes profiles of the steps that one sample comes from. */
export interface Profiler {
  /** Call before the process is started, with this environment added. */
  prepare(): Promise<ProcessProfiler>;
}

export interface ProcessProfiler {
  readonly environment: Readonly<Record<string, string>>;
  /** Call once the process has been started: until then it waits. */
  attach(): Promise<void>;
  /** Runs a step; takes its profile if the wanted sample is among those that come from it. */
  during<T>(step: () => Promise<T>, samples: readonly string[]): Promise<T>;
  /** The same for everything since the process started. */
  sinceStart(samples: readonly string[]): Promise<void>;
}

/** For a run that takes no profiles. */
export const noProfiler: Profiler = {
  prepare: async () => ({
    environment: {},
    attach: async () => {},
    during: (step) => step(),
    sinceStart: async () => {},
  }),
};

export function createProfiler(wanted: string): Profiler & { readonly profiles: readonly Profile[] } {
  const profiles: Profile[] = [];
  return {
    profiles,
    async prepare() {
      const port = await findFreePort();
      let inspector: Inspector | undefined;
      const finish = async () => {
        if (inspector) profiles.push(await inspector.finish());
      };
      return {
        environment: { NODE_OPTIONS: `--inspect-wait=127.0.0.1:${port}` },
        attach: async () => {
          inspector = await inspect(port);
        },
        async during(step, samples) {
          if (!samples.includes(wanted)) return step();
          await inspector?.restart();
          const result = await step();
          await finish();
          return result;
        },
        async sinceStart(samples) {
          if (samples.includes(wanted)) await finish();
        },
      };
    },
  };
}
