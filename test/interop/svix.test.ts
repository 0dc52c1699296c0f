import { Webhook } from 'svix';
import { describeVerifier } from '../webhooks/verifier-tests.ts';

describeVerifier('svix', (secret) => new Webhook(secret));
