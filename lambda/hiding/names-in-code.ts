import type { Config } from '../settings/config.ts';
import type { Upstream } from '../settings/read-upstreams.ts';
import { hiddenNames } from './hidden-names.ts';

/** What code mentions anyway: packages, products, files, hosts, keywords. */
const inCode = `
  ai-sdk amazonaws.com anthropic api app async auth aws-sdk azure bedrock-runtime bert boto3 CLAUDE.md class client cloudflare code cohere
  command config console cuda data databricks default docker dynamodb error export file function gemini-cli github.com google.com
  googleapis.com gpt-4 groq huggingface_hub import int key lambda langchain list litellm llama_index llama.cpp map message meta microsoft
  mistralai modal model name node null nvidia object ollama openai openai-agents oracle output prompt public pytorch replicate request
  response return router sagemaker sdk server service sglang snowflake spark string system tensorflow test text together token transformers
  type user value vercel vertexai vllm
`
  .trim()
  .split(/\s+/);

const shortest = 5;

/** Warns of names that hiding would also replace in ordinary generated code. */
export function warnOfNamesInCode(
  upstreams: readonly Upstream[],
  { hideInText, upstreamNames }: Config['hiding'],
): string[] {
  if (hideInText === 'none') return [];
  const found = hiddenNames(upstreams, upstreamNames).flatMap((name) => {
    const where = inCode.find((one) => holds(one.toLowerCase(), name.toLowerCase()));
    if (where === undefined) return [];
    return where === name.toLowerCase() ? name : `${name} (as in ${where})`;
  });
  if (found.length === 0) return [];
  const [are, them] = found.length === 1 ? ['is', 'it'] : ['are', 'them'];
  const names = new Intl.ListFormat('en').format(found);
  return [
    `${names} ${are} also hidden in code that a model writes: set UPSTREAM_NAMES without ${them}, or HIDE_IN_TEXT=none`,
  ];
}

/** Short names are hidden only as whole words. */
function holds(text: string, name: string): boolean {
  return name.length < shortest ? text.split(/[^a-z]/).includes(name) : text.includes(name);
}
