import type { Services } from './services.ts';
import type { TaskList } from '../jobs/worker.ts';
import { importTasks } from '../resources/imports/upload-job.ts';
import { logoutTasks, type LogoutOutcome } from '../resources/openid/send-logout.ts';
import { requestedLinkTasks } from '../resources/sign-in/requested-link.ts';
import type { Log } from '../telemetry/log.ts';

/** The tasks of resources, for the worker. */
export const resourceTasks = (
  services: Services,
  log: Log,
  countLogout: (outcome: LogoutOutcome) => void = () => undefined,
): TaskList => ({
  ...importTasks(services, log),
  ...logoutTasks(services, log, countLogout),
  ...requestedLinkTasks(services),
});
