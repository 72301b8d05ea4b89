// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the pieces of code are code
import type { Defect } from './bundle.ts';

/*
 * Defects that the simulation finds, though no world was made for any of them: a piece of the gateway's code, what stands there instead,
 * and the first seed whose world shows it (`npm run simulate -- --defects`). `wasFixed`: the gateway had it once.
 */

interface NamedDefect extends Defect {
  readonly room: string;
  readonly name: string;
  /** Undefined if it is missed. */
  readonly seed: number | undefined;
  readonly wasFixed: boolean;
}

/** What is missed has the reason in place of a seed. */
type Row = readonly [name: string, shownBy: number | string, code: string, instead: string, wasFixed?: 'was fixed'];

const rows: Readonly<Record<string, readonly Row[]>> = {
  app: [
    [
      'two lines for a refusal',
      1,
      "if (!settled && typeof response.body === 'string' && !isHealth) finish();",
      "if (typeof response.body === 'string' && !isHealth) finish();",
    ],
  ],
  budget: [
    [
      'one of two choices not reserved',
      293,
      'roundUp(BigInt(outputLimit) * BigInt(choices) * BigInt(prices.output))',
      'roundUp(BigInt(outputLimit) * BigInt(prices.output))',
    ],
    ['a prompt that is not reserved', 124, 'const total = Math.min(input + output,', 'const total = Math.min(output,'],
    ['costs rounded down', 19, '(tokensTimesPrice + perMillion - 1n) / perMillion', 'tokensTimesPrice / perMillion'],
  ],
  dialects: [
    ['a provider’s field let through', 1, 'else if (providerField.test(name)) found.drop(object, key);', ''],
    [
      'an end after one of two choices',
      1637,
      'finished.size >= expected.choices && open.size === 0',
      'open.size === 0',
      'was fixed',
    ],
    [
      'a [DONE] without a choice',
      'No upstream of the worlds sends nothing but its end.',
      "if (open.size + finished.size === 0) throw new Error('the answer has no choice');",
      '',
      'was fixed',
    ],
    [
      'a chunk without its model',
      'No upstream of the worlds leaves the model out.',
      'found.lacksModel = found.models.length === 0 &&',
      'found.lacksModel = false &&',
      'was fixed',
    ],
    ['a usage that nobody asked for', 20, 'found.isWithheld = true;', ''],
    ['a second choice', 2193, "if (second !== undefined) throw new UpstreamFault('there is a second choice');", ''],
    [
      'an answer that goes on after its end',
      22,
      'events.write(\'message_delta\', `"delta":{${why},"container":null},${counts}`);',
      '',
    ],
    ['a block that is not closed', 22, 'blocks.closeAll(reason);', ''],
    [
      'a second choice that is charged',
      262,
      "if ((numberMember(json, choice, 'index') ?? 0) !== 0) throw new UpstreamFault('there is a second choice');",
      "if ((numberMember(json, choice, 'index') ?? 0) !== 0) throw new TypeError('there is a second choice');",
      'was fixed',
    ],
  ],
  engines: [
    ['memory that does not come back', 1, 'countTurn.over();\n    memory.leave();', 'countTurn.over();'],
    ['the first address of the header believed', 13, "split(',').at(-1)", "split(',').at(0)"],
    ['a stop without a last word', 405, 'server.shutdownSignal.all();', ''],
    [
      'an answer cut off at a stop',
      8,
      'const lastMomentAt = performance.now() + graceMs + lastWordTime;',
      'const lastMomentAt = performance.now() + graceMs - 1e9;',
    ],
    ['a stop that never ends', 1, 'listening.cut();', 'await new Promise(() => {});'],
    [
      'a function that ends before what follows',
      'While nobody leaves a function, the pipeline waits for the same.',
      '.finally(() => over(body));',
      ';',
      'was fixed',
    ],
    ['a stop without its grace', 231, 'await listening.settled(graceMs);', ''],
    ['an answer that nobody waits to settle', 992, 'await writing.finally(() => answer.settled);', 'await writing;'],
    [
      'a function that does not wait for it',
      9,
      'await finished(response).finally(() => settled);',
      'await finished(response);',
    ],
  ],
  forward: [
    ['a stream that fails is not refunded', 4, "(failure.refund && end.kind === 'failed')", 'false'],
    ['whoever leaves is refunded', 4498, "(failure.refund && end.kind === 'failed')", 'failure.refund', 'was fixed'],
    ['a zero taken for a count', 123, 'isWhole && counted > 0 ? counted', 'isWhole ? counted', 'was fixed'],
    ['an answer that is settled for nothing', 1, 'else await settleSpending(request, dependencies);', ''],
    [
      'a settlement that the daily sum can lose',
      992,
      'outcome.snapshot = (await settled) ?? outcome.snapshot;',
      '',
      'was fixed',
    ],
    ['an early leave is cheaper', 576, 'return () => pays && record.tries > 0;', 'return () => false;', 'was fixed'],
    [
      'arguments cost nothing',
      1596,
      'explain: explainer.sentence,\n    ...(countsText && { onText: count, onToolArguments: count }),',
      'explain: explainer.sentence,\n    ...(countsText && { onText: count }),',
      'was fixed',
    ],
    [
      'two lines for a whole answer',
      1,
      'return { body, settled };',
      'dependencies.log.finished(attempt.request, 200);\n    return { body, settled };',
    ],
    ['a client’s going that nobody hears of', 86, 'whenAborted(request.clientGone, relay.leave);', ''],
    ['a stop that no stream hears of', 405, 'whenAborted(request.shutdownSignal, relay.fail);', ''],
    [
      'the upstream’s words as they are',
      18,
      'const plain = removeHosts(scrubber.scrub(text)',
      'const plain = removeHosts(text',
    ],
    [
      'stale figures after a refund',
      17,
      'if (outcome.snapshot?.resetAt === snapshot.resetAt) outcome.snapshot = snapshot;',
      '',
    ],
    [
      'a refund that is told and was not written',
      316,
      'if (!snapshot) return error;',
      "if (!snapshot) return error.withNote('This request was not charged.');",
      'was fixed',
    ],
    [
      'a refund that is logged and was not written',
      316,
      'outcome.refunded = snapshot !== undefined;',
      'outcome.refunded = true;',
      'was fixed',
    ],
    [
      'a refusal that is silent about its charge',
      107,
      "return charge ? error.withNote('This request was charged.') : error;",
      'return error;',
      'was fixed',
    ],
    ['a link to the upstream', 54, ".replace(links, '(link removed)')", '', 'was fixed'],
    ['a machine behind the upstream', 54, 'removeHosts(scrubber.scrub(text))', 'scrubber.scrub(text)', 'was fixed'],
    ['a request id of the upstream', 54, ".replace(ownIds, '(id removed)')", '', 'was fixed'],
    [
      'a plain answer that no budget has read on',
      1425,
      'if (!shouldDrain()) stop.abort(clientGone);',
      'stop.abort(clientGone);',
    ],
    ['a plain answer read on for everybody', 153, 'if (!shouldDrain()) stop.abort(clientGone);', ''],
    ['a refund for who leaves before a plain answer', 95, 'if (!hasLeft(request)) throw error;', 'throw error;'],
    ['a spending limit that is told nothing', 23, 'await spendLimit?.add(spending.cost);', ''],
    [
      'four bytes a token',
      715,
      'const bytesPerToken = 3;\n\nfunction spendingOf',
      'const bytesPerToken = 4;\n\nfunction spendingOf',
    ],
    [
      'a refusal of the upstream that is refunded',
      354,
      'const isRefusal = error.status === 400 && !outcome.attempt?.tries;',
      'const isRefusal = error.status === 400;',
    ],
  ],
  hiding: [
    [
      'a name across deltas',
      1,
      'const out = release(open, rules.findAny, rules.replacement);',
      'const out = release(open, rules.findWhole, rules.replacement);',
    ],
  ],
  http: [
    [
      'a kept connection that is listened to twice',
      1,
      "socket.off('data', close).off('end', close)",
      "socket.off('data', close)",
      'was fixed',
    ],
  ],
  identity: [
    [
      'an unknown key is a guest',
      12,
      'throw refuseKey(record !== undefined || isAnyKeyIssued, appUrl);',
      "return { kind: 'guest', networkId: hash };",
    ],
    ['no key is a guest', 52, "if (credential.kind === 'placeholder') return", 'if (true) return'],
  ],
  quota: [
    [
      'a refusal of the deployment that stays charged',
      15,
      'throw allAnswered(name, day.resetAt, time, dependencies).refunded();',
      'throw allAnswered(name, day.resetAt, time, dependencies);',
    ],
    ['a refund that the day’s sum never sees', 18, 'add(day, limits, -1).catch(reportLost)', 'Promise.resolve()'],
    ['a key’s own limit ignored', 6, 'identity.own?.limit ?? memberLimit', 'memberLimit'],
    ['a refund of nothing', 4, 'refund: () => endOnce({ spent: 0, refunded: true }),', 'refund: async () => snapshot,'],
    [
      'guests who share a counter',
      13,
      "if (identity.kind === 'guest') return `guest#${identity.networkId}`;",
      "if (identity.kind === 'guest') return 'guest#all';",
    ],
    [
      'a key’s own limits counted for its member',
      1,
      'keyId !== undefined && own !== undefined ? `key#${keyId}` : `member#${member}`',
      '`member#${member}`',
    ],
    [
      'a refund on another day',
      47,
      ': await counters.refund(window, token)',
      ': await counters.refund({ ...window, ...(window.period && { period: Math.floor(now() / 86_400_000) }) }, token)',
    ],
    [
      'a burst refused early',
      57,
      'burst: identity.own?.burst ?? burstLimit };',
      'burst: (identity.own?.burst ?? burstLimit) - 1 };',
    ],
    ['a day’s limit that is not kept', 15, 'amount > 0 ? each(({ most }) => most) : {},', '{},'],
    [
      'a day’s limit one too low',
      18,
      'amount > 0 ? each(({ most }) => most) : {},',
      'amount > 0 ? each(({ most }) => most - 1) : {},',
    ],
    ['a refund for all on another day', 47, 'add(day, limits, -1)', 'add(dayOf(now()), limits, -1)'],
    [
      'a count that is lost and not refunded',
      367,
      'throw error instanceof GatewayError ? error.refunded() : error;',
      'throw error;',
    ],
    [
      'a cost that is added while another is written',
      312,
      'if (next === opened) next = undefined;\n        await globalCounters.add(day, { spent: opened.cost })',
      'const { cost } = opened;\n        await globalCounters.add(day, { spent: cost })',
    ],
    [
      'a lost charge without its request',
      81,
      "onLost(error, 'charge', requestId)",
      "onLost(error, 'charge')",
      'was fixed',
    ],
    [
      'a lost refund that nobody owns up to',
      316,
      "if (settlement.refunded) onLost(error, 'refund', request.requestId);",
      '',
    ],
    [
      'a lost settlement that nobody owns up to',
      379,
      "if (reservation) onLost(error, 'settlement', request.requestId);",
      '',
    ],
  ],
  report: [['an address in the log', 1, 'network: request.networkId,', "network: request.headers['x-forwarded-for'],"]],
  steps: [
    [
      'a count of tokens that is charged',
      44,
      'if (route.endpoint.countsTokens) {\n        await quota.checkBurst',
      'if (Math.sign(0)) {\n        await quota.checkBurst',
    ],
    [
      'an error that is not refunded',
      3,
      'onError: (request, error) => settleCharge(request, toGatewayError(error), refundRefusals),',
      '',
    ],
    [
      'a fault of the body before the charge',
      3,
      'const normalized = await normalizing.catch(() => undefined);',
      'const normalized = await normalizing;',
    ],
    [
      'figures of the day before',
      41,
      'snapshot === undefined || isExpired(snapshot, now());',
      'snapshot === undefined;',
      'was fixed',
    ],
    [
      'a prompt that costs only those with a budget',
      122,
      'if (reservedOutput === undefined) return { ...parsed, inputTokens };',
      'if (reservedOutput === undefined) return parsed;',
      'was fixed',
    ],
  ],
  store: [
    [
      'a limit that is not in the condition',
      6,
      "`${below(used, ':limit', limit)} AND ${below(inMinute, ':burst', burst)}`",
      "below(inMinute, ':burst', burst)",
    ],
    ['a write applied twice', 81, '`${condition} AND NOT contains(${tokens}, :token)`', 'condition'],
    ['a settlement twice', 224, "'attribute_exists(#reservation)'", "'attribute_exists(pk)'"],
    ['what is spent on top of what was reserved', 18, 'added: spent - amount }', 'added: spent }'],
    ['a limit that a folder exceeds', 156, 'if (used >= limit) return', 'if (used > limit) return'],
    ['a refund with a budget that gives nothing back', 263, 'if (settlement.refunded) takeBack(counted);', ''],
    ['a folder that reserves what is spent', 19, 'spend.run(spent - amount, item', 'spend.run(spent, item'],
    ['a budget that a folder exceeds', 239, 'taken > budget.amount - budget.reserve', 'taken > budget.amount'],
    ['a burst that a folder never forgets', 220, 'addBurst.run(minute, item)', 'addBurst.run(0, item)'],
    [
      'a disk that nobody gives up waiting for',
      73,
      "giveUpOn(id, 'the disk takes too long', 'ETIMEDOUT'), operationTimeout)",
      '{}, operationTimeout)',
    ],
    [
      'a write in doubt that is taken for refused',
      176,
      'reject(outage(new StoreError(why, code), true))',
      'reject(outage(new StoreError(why, code), false))',
    ],
    [
      'a lost charge that nobody owns up to',
      'Others must spend the limit between two tries of one charge: the explorer of counters finds it.',
      'if (!inDoubt || !found) return { applied: false, found };',
      'return { applied: false, found };',
    ],
    ['a reservation that counts twice', 48, 'limit - amount];', 'limit - 2 * amount];'],
    ['a charge that takes away the day before', 893, 'countOf(period - 2)', 'countOf(period - 1)'],
    [
      'a settlement that does not refund',
      18,
      "...(refunded ? [{ name: countOf(period), placeholder: ':minusOne', added: -1 }] : []),",
      '',
    ],
  ],
  stream: [
    [
      'a missing end taken for an end',
      4,
      'if (!endIfAnnounced(relay)) breakOff(relay, upstream.rewriter.started ? midway : atFirst, { cause });',
      'if (!endIfAnnounced(relay) && stop(relay)) finish(relay, endWith(relay));',
    ],
    ['an upstream read on after its client has left', 86, 'controller.abort(reason);\n        answer?.destroy();', ''],
    ['a stall that nobody notices', 90, "if (!isPaused) listener.onEnd('stalled', 'timeout');", ''],
    ['no keep-alive', 90, 'if (!pace.isBlocked) push(keepAlive);', ''],
    ['a timer that is never cleared', 137, 'clearInterval(timer);\n  }\n\n  function finish', '}\n\n  function finish'],
    ['an error event after the upstream’s own', 171, "return isReported ? '' : encodeEvent(", 'return encodeEvent('],
    [
      'a text that is held back and lost',
      1365,
      'progress.write(events.closeAll());\n      progress.ended ||=',
      'progress.ended ||=',
    ],
    ['numbers that skip one', 171, 'shift += 1;\n      last += 1;', 'last += 1;'],
    [
      'a refund to whoever reads slowly',
      14284,
      'const charged = details.charged || relay.client.pace.isBehind();',
      'const charged = details.charged ?? false;',
    ],
    [
      'a long event that is held against its reader',
      'It takes more than a buffer in one read, and a break in the same turn: a kept world has it.',
      'isBehind: () => wasBehind,',
      'isBehind: () => isBlocked || wasBehind,',
      'was fixed',
    ],
    ['an upstream that nobody holds back', 14284, 'if (!wantsMore) pace.change(true);', '', 'was fixed'],
    [
      'an end that is told as a failure',
      122,
      'progress.ended ||= progress.mayEnd && !progress.failure;',
      '',
      'was fixed',
    ],
    ['bytes that are no sign of life', 3914, 'if (!isStopped) idle.refresh();', ''],
    [
      'no deadline',
      66,
      "const deadline = setTimeout(() => listener.onEnd('deadline', 'timeout'), timeLeft);",
      'const deadline = undefined;',
    ],
    [
      'names in the types of events',
      1084,
      'const type = event.type && scrubber.scrub(event.type);',
      'const type = event.type;',
    ],
  ],
  upstream: [
    [
      'asked again after the first byte',
      45,
      'if (retry?.mayBeDead() && !answered && !signal.aborted)',
      'if (retry?.mayBeDead() && !signal.aborted)',
    ],
    [
      'a dead connection that is an error',
      357,
      'if (retry?.mayBeDead() && !answered && !signal.aborted)',
      'if (Math.sign(0) && retry)',
    ],
    [
      'a listener more with each request',
      1,
      "socket.prependOnceListener('data', () => {",
      "socket.prependListener('data', () => {",
    ],
    [
      'a 429 that is the end',
      41,
      "statuses: [429],\n    code: 'service_unavailable',\n    next: 'key',",
      "statuses: [429],\n    code: 'service_unavailable',",
    ],
    ['a 401 told to the client', 30, 'statuses: [401, 402],', 'statuses: [402],'],
    [
      'a server’s error kept from the next upstream',
      280,
      "server_error: {\n    code: 'upstream_error',\n    ownStatus: true,\n    next: 'upstream',",
      "server_error: {\n    code: 'upstream_error',\n    ownStatus: true,",
    ],
    [
      'the client’s headers sent on',
      1,
      'if (dialect !== outgoing.dialect || !dialectHeader.test(name) || choosesAccount.test(name)) continue;',
      "if (name === 'host' || name === 'content-length' || name === 'content-encoding') continue;",
    ],
    ['no limit to connecting', 2823, 'limitConnecting(outgoing, ready, connectTimeout);', ''],
    [
      'a comment taken for a first event',
      'It only costs time, which the promises leave open.',
      'hasEvent ||= someData.test(line) && !isPing;',
      'hasEvent = true;',
      'was fixed',
    ],
    [
      'a refund for a caller’s mistake',
      107,
      "caller: {\n    code: 'invalid_request',\n    ownStatus: true,\n    staysCharged: true,",
      "caller: {\n    code: 'invalid_request',\n    ownStatus: true,",
    ],
    [
      'a refund for what takes too long',
      179,
      "code: 'upstream_timeout',\n    staysCharged: true,",
      "code: 'upstream_timeout',",
    ],
    [
      'a cut that is charged',
      4,
      "message: 'The answer broke off before its end.',",
      "message: 'The answer broke off before its end.', staysCharged: true,",
    ],
    [
      'silence that is charged',
      90,
      "message: 'The answer stopped coming.',",
      "message: 'The answer stopped coming.', staysCharged: true,",
    ],
    [
      'an upstream that can’t be reached and is the end',
      1041,
      "unreachable: {\n    code: 'upstream_error',\n    next: 'upstream',",
      "unreachable: {\n    code: 'upstream_error',",
    ],
    [
      'a late one that is the end',
      209,
      "late: {\n    code: 'upstream_timeout',\n    next: 'key',",
      "late: {\n    code: 'upstream_timeout',",
    ],
    [
      'a mistake that others are asked too',
      234,
      "caller: {\n    code: 'invalid_request',",
      "caller: {\n    next: 'key',\n    code: 'invalid_request',",
    ],
    ['a failing upstream that is asked again', 36, 'others.filter(({ upstream }) => upstream !== failed)', 'others'],
    ['a resting key that is left out', 310, 'return [...ready, ...resting];', 'return ready;', 'was fixed'],
    ['a try after who has left', 86, 'for (;;) {\n      signal.throwIfAborted();', 'for (;;) {'],
    ['a dead connection replaced for who has left', 185, '&& !answered && !signal.aborted)', '&& !answered)'],
    ['an opening that is lost', 113, 'body.unshift(opening.bytes);', ''],
    [
      'a limit for the first event that goes on',
      2790,
      '  } finally {\n    clearTimeout(timer);\n  }\n}\n\n/** Waits for the first event',
      '  } finally {\n  }\n}\n\n/** Waits for the first event',
    ],
    [
      'a limit for the last one’s first event',
      572,
      'if (isLast) return',
      'if (isLast && candidate.upstream.firstEventTimeout === undefined) return',
    ],
    [
      'a limit for the first event of whole answers',
      1019,
      'outgoing.stream ? candidate.upstream.firstEventTimeout : undefined',
      'candidate.upstream.firstEventTimeout',
    ],
  ],
};

export const defects: readonly NamedDefect[] = Object.entries(rows).flatMap(([room, ofRoom]) =>
  ofRoom.map(([name, shownBy, code, instead, wasFixed]) => ({
    ...{ room, name, code, instead },
    seed: typeof shownBy === 'number' ? shownBy : undefined,
    wasFixed: wasFixed !== undefined,
  })),
);

/** Those that the simulation finds. */
export const found = defects.flatMap(({ seed, ...defect }) => (seed === undefined ? [] : [{ ...defect, seed }]));
