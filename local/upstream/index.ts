import { dialects } from '../../lambda/dialects/index.ts';
import { chat } from './chat.ts';
import { messages } from './messages.ts';
import { responses } from './responses.ts';
import type { Speaker } from './speaker.ts';

export const speakers = { chat, responses, messages };

const endpoints: Readonly<Record<string, Speaker>> = Object.fromEntries(
  dialects.flatMap((dialect) =>
    Object.entries(speakers).flatMap(([name, speaker]) =>
      dialect.name === name ? dialect.endpoints.map(({ path }) => [path, speaker]) : [],
    ),
  ),
);

/** The speaker for a path, which may include a query. */
export const speakerAt = (path: string): Speaker | undefined => endpoints[path.split('?')[0] ?? ''];
