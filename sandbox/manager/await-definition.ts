import { setTimeout as sleep } from 'node:timers/promises';
import { lumigo } from '../../runtime/contract.ts';
import { describeError } from '../../runtime/wording/errors.ts';
import type { Client } from '../../runtime/kubernetes/http/client.ts';

/** Resolves once the API server serves Lumigo resources. @throws Error at the deadline, with what it said last */
export async function awaitDefinition(client: Client, deadlineMs: number, lookMs: number): Promise<void> {
  for (const deadline = Date.now() + deadlineMs; ; await sleep(lookMs)) {
    const problem = await client
      .pages(lumigo, { limit: 1 })
      .next()
      .then(() => undefined, describeError);
    if (problem === undefined) return;
    if (Date.now() > deadline) throw new Error(`the API server does not serve Lumigo resources yet: ${problem}`);
  }
}
