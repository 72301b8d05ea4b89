import type { Prompt, Tool } from '../upstream/prompt.ts';

/** The tools that a prompt asks to be called, in their order. */
export function chooseTools(prompt: Prompt): readonly Tool[] {
  if (prompt.choice === 'none' || prompt.toolResults.length > 0) return [];
  const asked = findAsked(prompt.text, prompt.tools);
  const candidates = findCandidates(prompt, asked);
  const times = /\b(both|two)\b/i.test(prompt.text) ? 2 : 1;
  const wanted = candidates === asked ? Math.max(times, asked.length) : times;
  return [...candidates, ...candidates].slice(0, prompt.parallel ? wanted : 1);
}

function findCandidates({ tools, choice, text }: Prompt, asked: readonly Tool[]): readonly Tool[] {
  if (typeof choice === 'object') return tools.filter(({ name }) => name === choice.name);
  if (asked.length > 0) return asked;
  const mentioned = tools.filter(({ name }) => name.split(/[_-]/).some((part) => hasWord(text, part)));
  if (choice === 'required') return mentioned.length > 0 ? mentioned : tools;
  return hasWord(text, 'weather') ? mentioned : [];
}

/** "Call get_time", "use the Bash tool", "invoke `web search` and get_time". */
function findAsked(text: string, tools: readonly Tool[]): readonly Tool[] {
  const direct = tools.filter(({ name }) => {
    const spelt = spell(name);
    return has(
      text,
      `(call|use|using|invoke|run|execute) ((the )?(tool|function) )?${spelt}`,
      `${spelt} (tool|function)`,
    );
  });
  if (direct.length === 0) return [];
  return tools.filter((tool) => direct.includes(tool) || has(text, `(and|then|,) ${spell(tool.name)}`));
}

/** A pattern for a name as people write it: `get_weather`, "get weather", in quotes. */
function spell(name: string): string {
  const words = name.split(/[^\p{L}\p{N}]+|(?<=\p{Ll})(?=\p{Lu})/u).filter(Boolean);
  return `["'“‘*\`]*${words.join('[^\\p{L}\\p{N}]*')}["'”’*\`]*`;
}

function has(text: string, ...patterns: readonly string[]): boolean {
  return patterns.some((pattern) =>
    new RegExp(`(?<![\\p{L}\\p{N}])${pattern.replaceAll(' ', '\\s+')}(?![\\p{L}\\p{N}])`, 'iu').test(text),
  );
}

function hasWord(text: string, word: string): boolean {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .includes(word.toLowerCase());
}
