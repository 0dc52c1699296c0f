// With every kind of credential, of which the gate takes one for each mutation, in turn.
process.env['WITH_EVERY_KIND'] = 'true';
await import('./credential-locks.gate.test.ts');
