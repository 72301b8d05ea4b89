import type { Command } from 'commander';
import type { Stop } from '../../lambda/store/store.ts';
import { addTargetOptions, createCommand, readLine, type TargetOptions, type Terminal } from '../command-line.ts';
import { actOn, type Surroundings } from './surroundings.ts';

export function createStopProgram(surroundings: Surroundings): Command {
  const description = 'Stops a gateway within a minute: it then refuses every request that costs something.';
  return createSwitch('stop', description, surroundings)
    .option('--reason <text>', 'shown to callers; without it, that of an earlier stop stays', readLine)
    .action(({ reason, ...options }: TargetOptions & { readonly reason?: string }) =>
      actOn(surroundings, options, async ({ stopSwitch }) => {
        const stop = await stopSwitch.stop({ at: new Date(surroundings.now()).toISOString(), reason });
        const already = stop.earlier ? `\nIt was stopped already${tell(stop.earlier)}` : '';
        const told = stop.reason === undefined ? '' : ` Callers are told: ${stop.reason}`;
        return { json: stop, text: `Stopped. ${whatHappens}${told}${already}\n${howToUndo(options)}` };
      }),
    );
}

export function createResumeProgram(surroundings: Surroundings): Command {
  return createSwitch('resume', 'Lets a stopped gateway serve again.', surroundings).action((options: TargetOptions) =>
    actOn(surroundings, options, async ({ stopSwitch }) => {
      const stop = await stopSwitch.resume();
      if (stop === undefined) return { json: { stopped: null }, text: 'It was not stopped.' };
      const { earlier = [], ...last } = stop;
      const text = `Resumed: within 60 seconds it serves everywhere. It was stopped${tell([...earlier, last])}`;
      return { json: { stopped: stop }, text };
    }),
  );
}

/** When and why, as far as known: an item that was written by hand may lack both. Several stops take a line each. */
function tell(stops: readonly Stop[]): string {
  const told = stops.map(({ at, reason }) => (at && ` at ${at}`) + (reason ? ` (${reason})` : ''));
  return told.length === 1 ? `${told[0]}.` : `:${told.map((one) => `\n -${one}`).join('')}`;
}

const whatHappens =
  'Within 60 seconds every request that would cost something is answered 503, uncharged. Running streams end by themselves.';

function howToUndo({ stack, region }: TargetOptions): string {
  const options = [stack && ` --stack ${stack}`, region && ` --region ${region}`].filter(Boolean);
  const command = `npm run resume${options.length > 0 ? ` --${options.join('')}` : ''}`;
  return `Deploying does not undo it. To undo, with the same environment variables: ${command}`;
}

function createSwitch(name: string, description: string, terminal: Terminal): Command {
  return addTargetOptions(createCommand(`npm run ${name} --`, terminal))
    .description(description)
    .addHelpText('after', '\nExit codes: 0 done, 1 not done, 2 wrong usage.');
}
