import type { Config } from '../settings/config.ts';
import type { Upstream } from '../settings/read-upstreams.ts';

/** Warns of each upstream whose reasoning is lost after a hidden name: it would refuse signatures that come back after a changed text. */
export function warnOfLostReasoning(upstreams: readonly Upstream[], { hideInText }: Config['hiding']): string[] {
  if (hideInText === 'none') return [];
  return upstreams
    .filter(({ signsThinking }) => signsThinking)
    .map(
      ({ prefix }) =>
        `${prefix}_SIGNS_THINKING: once a name is hidden in an answer, the model loses the reasoning after it. HIDE_IN_TEXT=none keeps it`,
    );
}
