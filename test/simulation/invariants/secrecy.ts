import { addressOf, keyOf } from '../callers.ts';
import type { Fact } from '../facts.ts';
import { promptMark } from '../request.ts';
import { hidden } from '../speech.ts';
import type { Invariants } from './invariant.ts';

/** What nobody learns. */
export const secrecy: Invariants = {
  'nothing hidden shows': {
    sentence: 'No name of an upstream, no key, no field and no header of it is in any byte that a client gets.',
    *breaches({ facts, history }) {
      for (const fact of facts) {
        const { number, text, seen, understood, plan } = fact;
        for (const found of mentions(readable(fact, history.plan.signs))) yield `the answer to ${number} says ${found}`;
        for (const [place, words] of understood?.texts ?? []) {
          const isOwn = place.startsWith('call') || (history.plan.signs && place.startsWith('reasoning'));
          for (const found of isOwn ? [] : mentions(words)) yield `the ${place} of ${number} says ${found}`;
        }
        if (plan.dialect === 'chat' && text.split('\n').some(isUnnamed)) yield `a chunk for ${number} names no model`;
        if (/"(provider|system_fingerprint)":/.test(text)) yield `the answer to ${number} has a provider's field`;
        if (seen.headers.server || seen.headers['set-cookie'])
          yield `the answer to ${number} has its upstream's header`;
      }
    },
  },

  'a silent log': {
    sentence: 'No line of the log holds a name, a key, a prompt, an answer or an address.',
    *breaches({ history, facts }) {
      const addresses = facts.map(({ caller }) => addressOf(caller));
      const secrets = [promptMark, 'canary', 'ltk_', 'gläsern', ...hidden.keys, ...addresses];
      for (const line of history.log) {
        const found = secrets.find((secret) => line.includes(secret)) ?? mentions(line)[0];
        if (found !== undefined) yield `a line says ${found}: ${line}`;
      }
    },
  },

  'a discreet request': {
    sentence: 'An upstream gets nothing of the client but its body and the headers of its dialect.',
    *breaches({ facts }) {
      for (const { number, tries, caller } of facts) {
        const secrets = [addressOf(caller), 'canary-of-the-cookie', 'canary-of-the-agent', keyOf(caller) ?? 'ltk_'];
        for (const { head, body } of tries) {
          const all = `${head.first} ${JSON.stringify(head.headers)} ${body}`;
          const found = secrets.find((secret) => all.includes(secret));
          if (found !== undefined) yield `an upstream is told ${found} of ${number}`;
        }
      }
    },
  },
};

const mention = /acmecorp|thunder|sk-upstream-key|\bacme\b|help\.example|10\.0\.0\.7|req_011CSH/gi;
/** What programs read passes as it is: the recordings mark it. */
const forPrograms = /EXEMPT-AcmeCo[\w./+=-]*|find_acme|ace\\*":\\*"AcmeCorp/g;

const mentions = (text: string): string[] =>
  [...text.replace(forPrograms, '').matchAll(mention)].map(({ 0: name }) => name);

/** All that a client could read. Thoughts that their maker checks pass as they are. */
function readable({ text, seen, plan }: Fact, signs: boolean): string {
  const isOwn = signs && plan.dialect === 'messages';
  const shown = isOwn ? text.replace(/"thinking":"(\\.|[^"\\])*"/g, '') : text;
  const spelt = `${JSON.stringify(seen.headers)}\n${shown}`;
  return spelt.replace(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

const isUnnamed = (line: string): boolean => /^data: .*"choices":/.test(line) && !line.includes('"model":"svc"');
