import type { Prompt, Tool } from '../upstream/prompt.ts';
import type { Answer, Part } from '../upstream/speaker.ts';
import { sampleOf } from './sample.ts';

/** Chooses an answer by a few simple, deterministic rules. */
export function answerPrompt(prompt: Prompt): Answer {
  const calls = makeCalls(prompt);
  const reasoning = prompt.thinks
    ? splitTokens(`The question is ${quote(prompt.text)}. Quillon taught me to think first and to answer briefly.`)
    : [];
  const { text, stopSequence } = stopAt(calls.length > 0 ? '' : compose(prompt), prompt.stop);
  const tokens = splitTokens(text);
  const isCut = tokens.length > prompt.maxTokens;
  const said: Part = { kind: 'text', pieces: isCut ? tokens.slice(0, prompt.maxTokens) : tokens };
  const parts = [
    ...(reasoning.length > 0 ? [{ kind: 'reasoning', pieces: reasoning }] : []),
    ...(calls[0] ? calls : [said]),
  ];
  const { choices } = prompt;
  return {
    parts: Array.from({ length: choices }, (_, choice) => parts.map((part) => ({ ...part, choice }))).flat(),
    end: calls.length > 0 ? 'calls' : isCut ? 'length' : 'stop',
    stopSequence: isCut ? null : stopSequence,
    usage: {
      input: prompt.inputTokens,
      output: choices * parts.reduce((sum, { pieces }) => sum + pieces.length, 0),
      reasoning: choices * reasoning.length,
    },
  };
}

/** The demo's tokens, which are also the chunks of its streams. At four characters each, they split names. */
export const splitTokens = (text: string): readonly string[] => text.match(/.{1,4}/gsu) ?? [];

function compose(prompt: Prompt): string {
  if (prompt.format) return JSON.stringify(sampleOf(prompt.format, (property) => believable(property, prompt, 0)));
  if (prompt.toolResults.length > 0) return `Here is what I found: ${prompt.toolResults.join('; ')}.`;
  if (prompt.images + prompt.videos > 0) {
    const seen = [count(prompt.images, 'an image', 'images'), count(prompt.videos, 'a video', 'videos')];
    return `I can see ${seen.filter(Boolean).join(' and ')}. You asked: ${quote(prompt.text)}.`;
  }
  if (/\b(who|what) are you\b|\byour name\b/i.test(prompt.text)) {
    return 'I am Quill-4, a pretend model. Quillon, the company that made me, does not exist either.';
  }
  if (/\bstory\b/i.test(prompt.text)) return story;
  return (
    `Quillon here, with a demo answer. You said: ${quote(prompt.text)}. No real model was asked: ` +
    'set UPSTREAM_BASE_URL, and one will answer in my place.'
  );
}

const story =
  'Quillon tells a short one. The letter left the village at first light, in the pocket of a courier who knew neither its ' +
  'writer nor its reader. At the bridge it changed hands, and the new courier asked no questions either. By evening it had ' +
  'gone another ten miles, and nobody along the road could have said where it came from.';

function makeCalls(prompt: Prompt): Part[] {
  return chooseTools(prompt).map((tool, index) => {
    const values = sampleOf({ type: 'object', ...tool.schema }, (property) => believable(property, prompt, index));
    return { kind: 'call', tool: tool.name, pieces: splitTokens(JSON.stringify(values)) };
  });
}

/** The tools that a prompt names or, if it asks about the weather, those for that. "Both" calls one of them twice. */
function chooseTools({ text, tools, choice, parallel, toolResults }: Prompt): readonly Tool[] {
  if (choice === 'none' || toolResults.length > 0) return [];
  const isAsked = ({ name }: Tool) => (typeof choice === 'object' ? name === choice.name : asksFor(text, name));
  const asked = tools.filter(isAsked);
  const chosen = asked.length === 0 && choice === 'required' ? tools.slice(0, 1) : asked;
  const calls = chosen.length === 1 && /\b(both|two)\b/i.test(text) ? [...chosen, ...chosen] : chosen;
  return parallel ? calls : calls.slice(0, 1);
}

/** "Call get_time", "use the tool `Bash`", "with the Bash tool". */
function asksFor(text: string, name: string): boolean {
  const spelt = `["'\`]*${name.replace(/\W/g, '.')}(?![\\w-])`;
  const pattern = `\\b(call|use|using|invoke|run) (the )?((tool|function) )?${spelt}|\\bthe ${spelt}["'\`]* tool\\b`;
  return new RegExp(pattern, 'i').test(text) || [text, name].every((one) => /weather/i.test(one));
}

/** A plausible value for a property of this name. */
function believable(property: string, prompt: Prompt, index: number): string {
  const places = [...prompt.text.matchAll(/\b(?:in|for|and|both) (\p{Lu}\p{L}+)/gu)].map(([, place = '']) => place);
  if (/city|location|place|town/i.test(property)) return places[index] ?? places[0] ?? 'Lisbon';
  if (/name/i.test(property)) return 'Ada';
  if (/unit/i.test(property)) return 'celsius';
  if (/country/i.test(property)) return 'Portugal';
  if (/path|file/i.test(property)) return 'README.md';
  if (/command/i.test(property)) return 'echo hello';
  if (/query|question|prompt/i.test(property)) return prompt.text;
  return 'A demo answer';
}

function stopAt(text: string, sequences: readonly string[]): { text: string; stopSequence: string | null } {
  let found: { at: number; sequence: string | null } = { at: text.length, sequence: null };
  for (const sequence of sequences) {
    const at = sequence === '' ? -1 : text.indexOf(sequence);
    if (at >= 0 && at < found.at) found = { at, sequence };
  }
  return { text: text.slice(0, found.at), stopSequence: found.sequence };
}

const count = (number: number, one: string, many: string): string =>
  number === 0 ? '' : number === 1 ? one : `${number} ${many}`;
const quote = (text: string): string => `“${text.length > 200 ? `${text.slice(0, 200)}…` : text}”`;
