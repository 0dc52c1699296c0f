import { apiKeys } from './scenes/api-keys.ts';
import { homeAndAccount } from './scenes/home.ts';
import { applications } from './scenes/oauth.ts';
import { operator } from './scenes/operator.ts';
import { signingIn } from './scenes/signing-in.ts';
import { looksWell } from './scenes/looks.ts';

looksWell([...signingIn, ...homeAndAccount, ...applications, ...apiKeys, ...operator]);
