import { testFailover } from './failover.ts';

testFailover([
  ['does not respond and later goes on', 'leader stopped (SIGSTOP)', async (_, leader) => leader.freeze()],
  [
    'is cut off from the cluster but not from its clients',
    'leader isolated from etcd and standbys',
    (_, leader) => leader.isolate(),
  ],
]);
