import { hash, randomUUID } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { expect, onTestFinished, test } from 'vitest';
import { startApi, type Api } from '../support/api.ts';
import { hasRedis, startRedis } from '../support/redis.ts';

test.skipIf(!hasRedis)('a proof is used once, on all replicas together', async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const settings = { OAUTH_DPOP: 'true', REDIS_URL: redis.url };
  const one = await startApi(settings);
  onTestFinished(() => one.close());
  const other = await startApi(settings, one);
  onTestFinished(() => other.close());
  const { id, secret: token } = await one.aGrant(await one.anAccount());
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = await exportJWK(publicKey);
  const thumbprint = await calculateJwkThumbprint(jwk);
  await one.rows('update oauth_token set thumbprint = $2 where grant_id = $1', [id, thumbprint]);
  const aProof = () =>
    new SignJWT({
      htm: 'GET',
      htu: 'http://localhost:3000/api/v1/credential',
      iat: Math.floor(Date.now() / 1000),
      jti: randomUUID(),
      ath: hash('sha256', token, 'base64url'),
    })
      .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk })
      .sign(privateKey);
  const replicas = [one, other];
  const call = async (replica: Api, dpop: string) => {
    const headers = { authorization: `DPoP ${token}`, dpop };
    const { status } = await replica.anonymous.send({ method: 'GET', path: '/api/v1/credential', headers });
    return status;
  };

  const proof = await aProof();
  const statuses = await Promise.all([...replicas, ...replicas].map((replica) => call(replica, proof)));

  expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 401, 401, 401]);
});
