import type { ChatUpstream } from '../options.ts';
import type { Writing } from './writing.ts';

/** From little to much. */
const levels = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** Members that can only switch reasoning on and off. */
const switches: Readonly<Partial<Record<ChatUpstream['reasoning'], (on: boolean) => string>>> = {
  thinking: (on) => `"thinking":{"type":"${on ? 'enabled' : 'disabled'}"}`,
  enable_thinking: (on) => `"enable_thinking":${on}`,
  chat_template_kwargs: (on) => `"chat_template_kwargs":{"enable_thinking":${on}}`,
};

/** Adds how much the model is to reason, by the member that the upstream knows. What it has no word for is left out. */
export function writeReasoning(writing: Writing): void {
  const { asking, upstream, body, leaveOut } = writing;
  const { wish, level } = asking.reasoning;
  const write = switches[upstream.reasoning];
  if (upstream.reasoning === 'reasoning_effort') addEffort(writing);
  else {
    if (write !== undefined && wish !== undefined) body.add(`,${write(wish === 'on')}`);
    // A switch says all there is to say of the level none.
    const isSaid = write !== undefined && level?.name === 'none';
    if (level !== undefined && !isSaid) leaveOut(level.at);
  }
}

function addEffort({ asking, upstream, body, leaveOut }: Writing): void {
  const { offAt, level } = asking.reasoning;
  // Whoever switches it off has no level.
  if (offAt !== undefined && level !== undefined) leaveOut(level.at);
  const wanted = offAt === undefined ? level : { at: offAt, name: 'none', exact: true };
  if (wanted === undefined) return;
  const known = nearest(wanted.name, upstream.levels);
  if (known !== wanted.name || !wanted.exact) leaveOut(wanted.at);
  if (known !== undefined) body.add(`,"reasoning_effort":"${known}"`);
}

/** The highest known level up to the wanted one, or else the lowest; undefined if nobody knows the wanted one. */
function nearest(wanted: string, known: readonly string[]): string | undefined {
  if (known.includes(wanted)) return wanted;
  const rank = levels.indexOf(wanted);
  if (rank < 0) return undefined;
  const ranked = levels.filter((level) => known.includes(level));
  return ranked.findLast((level) => levels.indexOf(level) <= rank) ?? ranked[0];
}
