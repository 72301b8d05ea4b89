import { alone, findContradiction } from './figures.ts';
import { bearer, list } from './probe.ts';
import { type Checked, type Finding, fail, note, ok, okUnless, untested } from './report.ts';
import { type Charge, leftIn, type Run } from './run.ts';

export async function* checkQuota(run: Run): AsyncGenerator<Checked> {
  const { charges, ask, key, headerPrefix, left } = run;
  const taken = left - leftIn(await ask(list(bearer(key))), headerPrefix);
  const isSaid = ![taken, ...charges.flatMap(({ before, stated, after }) => [before, stated, after])].some(
    Number.isNaN,
  );
  const ifSaid = (finding: Finding) => (isSaid ? finding : fail('the gateway does not say what is left'));
  yield ['each answer is charged once', ifSaid(checkAnswers(charges))];
  yield ['failures are refunded', ifSaid(checkFailures(charges))];
  yield ['nothing else is charged', ifSaid(checkRest(charges, taken))];
  yield ['the limits', await checkLimits(run)];
  const { replies } = run;
  yield ['figures that agree', okUnless(findContradiction(replies, key, headerPrefix), `in ${replies.length} replies`)];
}

function checkAnswers(charges: readonly Charge[]): Finding {
  const answers = charges.filter(({ status }) => status === 200);
  const [last] = answers.slice(-1);
  if (!last) return untested('there was no answer that could be charged');
  const wrong = answers.find(({ before, stated, after }) => stated !== before - 1 || after !== stated);
  if (!wrong) return ok(`${answers.length} answers, ${last.after} left`);
  const { title, before, stated, after } = wrong;
  return fail(`${before} were left before ${title}, ${stated} by its own headers, ${after} after it; ${alone}`);
}

/** Whether failures were refunded: a body too large once decompressed, and any failure of the upstream. */
function checkFailures(charges: readonly Charge[]): Finding {
  const failed = charges.filter(({ status }) => status === 413 || status >= 500);
  if (failed.length === 0) return untested('no charged request failed');
  const kept = failed.find(({ before, after }) => before !== after);
  return kept
    ? fail(`${kept.title} answered ${kept.status}, and was charged; ${alone}`)
    : ok(`${failed.length} failed`);
}

/** Whether /v1/models, count_tokens and errors are free. */
function checkRest(charges: readonly Charge[], taken: number): Finding {
  const rest = taken - charges.reduce((sum, { before, after }) => sum + before - after, 0);
  return rest === 0 ? ok() : fail(`${rest} more than the answers took; ${alone}`);
}

/** Whether the limits are the stage's. A key may have its own, which only the operator knows. */
async function checkLimits({ ask, key, headerPrefix, limits }: Run): Promise<Finding> {
  const keyLimit = leftIn(await ask(list(bearer(key))), headerPrefix, 'limit');
  const guestLimit = leftIn(await ask(list(bearer('guest'))), headerPrefix, 'limit');
  const [forKey, forGuest] = [keyLimit, guestLimit].map((limit) => (Number.isNaN(limit) ? 'no limit is told' : limit));
  const facts = `${forKey} for the key, ${forGuest} for a placeholder`;
  if (!limits) return untested(`${facts}; name the settings with --stage`);
  // The network may be linked to a member.
  if (guestLimit !== limits.guest && guestLimit !== limits.member)
    return fail(`${facts}, but a guest has ${limits.guest}`);
  return keyLimit === limits.member ? ok(facts) : note(`${facts}: right if the key has a limit of its own`);
}
