import type { Config } from '../settings/config.ts';
import type { Upstream } from '../settings/read-upstreams.ts';

/** Warns of each upstream that loses thoughts to the hiding of names: it would refuse those that come back after a changed text. */
export function warnOfLostReasoning(upstreams: readonly Upstream[], { hideInText }: Config['hiding']): string[] {
  if (hideInText === 'none') return [];
  return upstreams
    .filter(({ signsThinking }) => signsThinking)
    .map(
      ({ prefix }) =>
        `${prefix}_SIGNS_THINKING: where a name is hidden in an answer, the model loses its later thoughts there. HIDE_IN_TEXT=none keeps all`,
    );
}
