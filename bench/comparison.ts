import { isDeepStrictEqual } from 'node:util';
import { measure, type Contender, type Measured } from './measure.ts';
import type { Options } from './options.ts';
import { restoreMembers } from './data/fill.ts';
import { answerTo, betterAuth, byHand, byKey, byToken, isOnce, type RequestName } from './requests.ts';
import type { Stage } from './stage.ts';

type Report = (line: string) => void;

/** Roster, by key and by token, beside what it is compared with. */
export async function compareServers(stage: Stage, options: Options, report: Report): Promise<Measured[]> {
  const contenders =
    options.data === 'large' ? await twoSizes(stage, report) : await allServers(stage, options, report);
  const measured: Measured[] = [];
  for (const request of options.only) {
    await requireSameAnswers(request, contenders);
    report(`measuring ${request}`);
    measured.push(...(await measure(stage, request, contenders, options)));
  }
  return measured;
}

async function allServers(stage: Stage, { servers }: Options, report: Report): Promise<Contender[]> {
  report('making the small data set');
  const { callers } = await stage.fillDatabase('roster', 'small');
  const contenders: Contender[] = [];
  if (servers.includes('hand-written')) {
    await stage.copyDatabase('roster', 'hand_written');
    const server = await stage.start('hand-written', 'hand_written');
    contenders.push({ name: 'hand-written', servers: [server], callers, dialect: byHand });
  }
  if (servers.includes('equal')) {
    await stage.copyDatabase('roster', 'equal');
    const server = await stage.start('equal', 'equal');
    contenders.push({ name: 'equal guarantees', servers: [server], callers, dialect: byHand });
  }
  if (servers.includes('roster')) {
    const server = await stage.start('roster', 'roster');
    contenders.push({ name: 'roster', servers: [server], callers, dialect: byKey });
    contenders.push({ name: 'roster, OAuth token', servers: [server], callers, dialect: byToken });
  }
  if (servers.includes('better-auth')) {
    const itsCallers = await stage.fillBetterAuth('better_auth');
    const server = await stage.start('better-auth', 'better_auth');
    contenders.push({ name: 'better-auth', servers: [server], callers: itsCallers, dialect: betterAuth });
  }
  return contenders;
}

async function twoSizes(stage: Stage, report: Report): Promise<Contender[]> {
  const contenders: Contender[] = [];
  for (const size of ['small', 'large'] as const) {
    report(`making the ${size} data set`);
    const startedAt = performance.now();
    const { callers } = await stage.fillDatabase(`roster_${size}`, size);
    report(`made it in ${Math.round((performance.now() - startedAt) / 1000)} s`);
    const server = await stage.start('roster', `roster_${size}`);
    contenders.push({ name: `roster, ${size}`, servers: [server], callers, dialect: byKey });
  }
  return contenders;
}

/** Services that speak one dialect, to one caller, must say the same; the others as much. */
async function requireSameAnswers(request: RequestName, contenders: readonly Contender[]): Promise<void> {
  const answers = new Map<string, unknown>();
  for (const { name, servers, callers, dialect } of contenders) {
    const [caller] = callers;
    const sent = caller && dialect(request, caller);
    if (sent === undefined) continue;
    if (isOnce(request) && servers[0] !== undefined) await restoreMembers(servers[0].databaseUrl);
    const answer: unknown = JSON.parse(await answerTo(servers[0]?.url ?? '', sent));
    answers.set(name, answer);
    const count = countIn(answer);
    if (request === 'teams' && count !== 3) throw new Error(`${name} lists ${count} teams instead of 3.`);
    if (request === 'members' && count !== 20) throw new Error(`${name} lists ${count} members instead of 20.`);
  }
  for (const name of ['hand-written', 'equal guarantees']) {
    if (!answers.has(name) || !answers.has('roster')) continue;
    const [written, ours] = [answers.get(name), answers.get('roster')].map(request === 'key' ? shapeOf : same);
    if (!isDeepStrictEqual(written, ours)) {
      throw new Error(`${request}: the services differ: ${JSON.stringify(written)} and ${JSON.stringify(ours)}.`);
    }
  }
}

const same = (answer: unknown): unknown => answer;

/** Of an answer that contains a new secret and id: the names of its members, and how long its texts are. */
const shapeOf = (answer: unknown): unknown =>
  JSON.parse(JSON.stringify(answer, (_, value: unknown) => (typeof value === 'string' ? value.length : value)));

/** Of a list, or of the members in what Better Auth wraps them in. */
function countIn(answer: unknown): number {
  const list = answer !== null && typeof answer === 'object' && 'members' in answer ? answer.members : answer;
  return Array.isArray(list) ? list.length : NaN;
}
