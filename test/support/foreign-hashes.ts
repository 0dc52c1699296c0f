import { argon2Sync, createCipheriv, pbkdf2Sync, scryptSync } from 'node:crypto';
import { hashSync } from 'bcryptjs';

const base64 = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '');

/** The example of https://github.com/firebase/scrypt. */
export const FIREBASE = [
  '$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==',
  '42xEC+ixf3L2lw==',
  'lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==',
].join('$');

/** A hash of the password of every kind that can be imported, each with its name. */
export function foreignHashes(password: string): [name: string, hash: string][] {
  const salt = Buffer.from('a salt of 16 byt');
  const phc = (scheme: string, tag: Buffer) => `${scheme}$${base64(salt)}$${base64(tag)}`;
  const argon2 = (name: 'argon2id' | 'argon2i' | 'argon2d', memory: number, passes: number, parallelism: number) =>
    phc(
      `$${name}$v=19$m=${memory},t=${passes},p=${parallelism}`,
      argon2Sync(name, { message: password, nonce: salt, memory, passes, parallelism, tagLength: 32 }),
    );
  const pbkdf2 = (digest: string, length: number) => pbkdf2Sync(password, salt, 1000, length, digest);
  const scrypt = (length: number, given = salt) => scryptSync(password, given, length, { N: 1024, r: 8, p: 2 });
  const signer = Buffer.alloc(64, 7);
  const cipher = createCipheriv('aes-256-ctr', scrypt(32, Buffer.concat([salt, Buffer.from([7])])), Buffer.alloc(16));

  return [
    ['Argon2id', argon2('argon2id', 65_536, 1, 4)],
    ['Argon2i', argon2('argon2i', 4096, 3, 1)],
    ['Argon2d', argon2('argon2d', 8192, 2, 2)],
    ['bcrypt 2a', hashSync(password, 5).replace('$2b$', '$2a$')],
    ['bcrypt 2b', hashSync(password, 5)],
    ['bcrypt 2y', hashSync(password, 6).replace('$2b$', '$2y$')],
    ['scrypt', phc('$scrypt$ln=10,r=8,p=2', scrypt(64))],
    [
      'scrypt of Firebase',
      phc(`$fbscrypt$v=1,n=10,r=8,p=2,ss=Bw==,sk=${signer.toString('base64')}`, cipher.update(signer)),
    ],
    ['PBKDF2 with SHA-1', phc('$pbkdf2-sha1$i=1000', pbkdf2('sha1', 20))],
    ['PBKDF2 with SHA-256', phc('$pbkdf2-sha256$i=1000,l=32', pbkdf2('sha256', 32))],
    ['PBKDF2 with SHA-512', phc('$pbkdf2-sha512$i=1000', pbkdf2('sha512', 64))],
    ['PBKDF2 of passlib', phc('$pbkdf2$1000', pbkdf2('sha1', 20)).replaceAll('+', '.')],
  ];
}
