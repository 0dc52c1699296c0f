import { testFailover } from './failover.ts';

testFailover([
  [
    'is switched over',
    'switchover',
    async (patroni) => {
      // It answers when the new leader leads.
      const switched = patroni.switchover();
      return () => switched;
    },
  ],
  [
    'is killed with its Patroni',
    'leader killed',
    async (_, leader) => {
      await leader.kill();
      return () => leader.start();
    },
  ],
]);
