import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  bearer,
  compute,
  createKeys,
  flood,
  lastCaller,
  openSilently,
  renameLocked,
  repeatCommand,
  resetAfterRequest,
  type Scene,
} from './floods.ts';

/** What a neighbour does until it is told to stop. */
export type Abuse = { readonly title: string; readonly start: (scene: Scene) => Promise<{ stop(): Promise<void> }> };

const LIST_HANG_UP_MS = 1500;

export const ABUSES: readonly Abuse[] = [
  // What the lack of a core alone does to the tenant.
  { title: 'two programs that compute, and ask nothing', start: () => Promise.resolve(compute(2)) },
  {
    title: '12 renames wait for the lock of one team',
    start: (scene) => renameLocked(scene, scene.callers.slice(-1)),
  },
  {
    title: '12 renames wait for the lock of each of two teams',
    start: (scene) => renameLocked(scene, scene.callers.slice(-2)),
  },
  {
    title: '100 invitations at once by one key, each second',
    start(scene) {
      const caller = lastCaller(scene);
      const path = `/api/v1/teams/${caller.teamId}/invitations`;
      const next = (index: number) => ({
        method: 'POST',
        path,
        headers: bearer(caller),
        body: { email: `invited-${index}@example.com` },
      });
      return Promise.resolve(flood(scene, 100, next, { everyMs: 1000 }));
    },
  },
  {
    title: `250 lists of 10,000 members at once, hung up after ${LIST_HANG_UP_MS / 1000} s, again and again`,
    start: (scene) => {
      const path = `/api/v1/teams/${scene.giant.teamId}/members`;
      const next = () => ({ method: 'GET', path, headers: bearer(scene.giant) });
      return Promise.resolve(flood(scene, 250, next, { hangUpMs: LIST_HANG_UP_MS, everyMs: LIST_HANG_UP_MS }));
    },
  },
  {
    title: '200 keys of one account list 10,000 members at once',
    async start(scene) {
      const keys = await createKeys(scene, 200);
      const path = `/api/v1/teams/${scene.giant.teamId}/members`;
      return flood(scene, keys.length, (index) => ({
        method: 'GET',
        path,
        headers: { authorization: `Bearer ${keys[index % keys.length]}` },
      }));
    },
  },
  {
    title: '100 lists of 10,000 members that are never read',
    start: (scene) =>
      Promise.resolve(openSilently(scene, 100, `/api/v1/teams/${scene.giant.teamId}/members`, bearer(scene.giant))),
  },
  {
    title: '100 scripts of the console, without compression, that are never read',
    async start(scene) {
      const page = await (await fetch(scene.server.url)).text();
      const [script = '/'] = /\/assets\/[\w.-]+\.js/.exec(page) ?? [];
      return openSilently(scene, 100, script, { 'accept-encoding': 'identity' });
    },
  },
  {
    title: '500 connections a second that are reset right after their request',
    start: (scene) => {
      const { teamId } = scene.giant;
      const paths = ['/api/v1/teams', `/api/v1/teams/${teamId}/members`, `/api/v1/teams/${teamId}/invitations`];
      const next = (index: number) => ({
        method: 'GET',
        path: paths[index % paths.length] ?? '',
        headers: bearer(scene.giant),
      });
      return Promise.resolve(resetAfterRequest(scene, 500, next));
    },
  },
  {
    title: '20 connections that list 2,000 teams',
    start: (scene) =>
      Promise.resolve(flood(scene, 20, () => ({ method: 'GET', path: '/api/v1/teams', headers: bearer(scene.giant) }))),
  },
  {
    title: 'two connections with tRPC batches of 20 lists of 10,000 members',
    start: (scene) => {
      const names = Array.from({ length: 20 }, () => 'listTeamMembers').join(',');
      const input = Object.fromEntries(names.split(',').map((_, index) => [index, { teamId: scene.giant.teamId }]));
      const path = `/trpc/${names}?batch=1&input=${encodeURIComponent(JSON.stringify(input))}`;
      return Promise.resolve(flood(scene, 2, () => ({ method: 'GET', path, headers: bearer(scene.giant) })));
    },
  },
  {
    title: '50 connections that guess passwords, each from another address',
    start: (scene) =>
      Promise.resolve(
        flood(scene, 50, (index) => ({
          method: 'POST',
          path: '/trpc/auth.signIn',
          headers: {
            origin: scene.server.url.replace('127.0.0.1', 'localhost'),
            'x-forwarded-for': `198.${18 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`,
          },
          body: { email: `guessed-${index}@example.com`, password: 'wrong-password' },
        })),
      ),
  },
  {
    title: '`roster audit export`, again and again',
    start: ({ backing }) => Promise.resolve(repeatCommand(backing, () => ['audit', 'export', '--format', 'ndjson'])),
  },
  {
    title: '`roster backup`, again and again',
    start({ backing }) {
      const folder = mkdtempSync(join(tmpdir(), 'roster-bench-'));
      const backups = repeatCommand(backing, (count) => ['backup', '--to', join(folder, String(count))]);
      return Promise.resolve({
        async stop() {
          await backups.stop();
          rmSync(folder, { recursive: true });
        },
      });
    },
  },
];
