import { toNext } from '@roster/client/server';
import { auth } from '../../../roster.js';

export const { GET, POST } = toNext(auth);
