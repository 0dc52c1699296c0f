import type pg from 'pg';
import { ABUSES, type Abuse } from './abuses.ts';
import { signIn } from './deletes.ts';
import type { LargeName } from './options.ts';
import { flood, type Scene } from './floods.ts';

type LargeAbuse = {
  readonly name: LargeName;
  readonly title: string;
  readonly start: (scene: Scene, client: pg.Client) => ReturnType<Abuse['start']>;
};

const CREATORS = 10;
const TEAMS = 4;

const headersOf = ({ server }: Scene, cookie: string) => ({
  cookie,
  origin: server.url.replace('127.0.0.1', 'localhost'),
});

/** Calls a procedure over tRPC as an owner of `data/abuses.sql`. */
async function prepare(scene: Scene, client: pg.Client, owner: number, path: string, input: object) {
  const headers = headersOf(scene, await signIn(client, `acc_owner-${owner}`));
  return async () => {
    const startedAt = performance.now();
    const outcome = await fetch(`${scene.server.url}/trpc/${path}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(input),
    }).then(
      async (answer) => (await answer.arrayBuffer(), `is answered ${answer.status}`),
      () => 'breaks off',
    );
    process.stderr.write(`${path} ${outcome} after ${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`);
  };
}

/** Starts calls at once. The benchmark waits for their answers at its end. */
function sendAll(calls: readonly (() => Promise<void>)[]): Awaited<ReturnType<Abuse['start']>> {
  const sent = calls.map((send) => send());
  return {
    async stop() {
      await Promise.all(sent);
    },
  };
}

const isReset: (abuse: Abuse) => boolean = ({ title }) => title.includes('reset right after');

/** Work on the rows of `data/abuses.sql`, and connections that are reset. Each has a server of its own, and its jobs end with it. */
export const LARGE_ABUSES: readonly LargeAbuse[] = [
  ...ABUSES.filter(isReset).map((abuse) => ({ name: 'resets' as const, ...abuse })),
  {
    name: 'names',
    title: 'ten teams at once, with a name that 400,000 have, four times a second',
    async start(scene, client) {
      const cookies: string[] = [];
      for (let i = 0; i < CREATORS; i += 1) cookies.push(await signIn(client, `acc_owner-${6 + i}`));
      return flood(
        scene,
        CREATORS,
        (index) => ({
          method: 'POST',
          path: '/trpc/createTeam',
          headers: headersOf(scene, cookies[index % CREATORS] ?? ''),
          body: { name: 'Core' },
        }),
        { everyMs: 250 },
      );
    },
  },
  {
    name: 'client',
    title: 'deletion of a client with 100,000 grants',
    start: async (scene, client) =>
      sendAll([await prepare(scene, client, 1, 'oauthClients.delete', { clientId: 'client_large' })]),
  },
  {
    name: 'teams',
    title: 'deletion of four teams with 10,000 members and grants each, at once',
    async start(scene, client) {
      const calls = [];
      for (let i = 1; i <= TEAMS; i += 1)
        calls.push(await prepare(scene, client, 1 + i, 'teams.delete', { teamId: `team_large-${i}` }));
      return sendAll(calls);
    },
  },
  {
    name: 'sessions',
    title: 'cleanup of 3,000,000 expired sessions',
    async start(_scene, client) {
      await client.query(`select graphile_worker.add_job('cleanup_sessions', job_key := 'cleanup_sessions')`);
      return { stop: () => Promise.resolve() };
    },
  },
];
