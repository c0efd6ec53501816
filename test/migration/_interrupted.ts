/** An import that is ended in its middle: the app, and the users of an export. */
import { createAuth } from 'authkernel'
import { adminPlugin } from 'authkernel/plugins/admin'
import { importPlugin, type ImportReport } from 'authkernel/plugins/import'
import { bcryptHash, passwordsPlugin } from 'authkernel/plugins/passwords'
import { twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { usernamesPlugin } from 'authkernel/plugins/usernames'
import { openDatabase, openSql, type SqlSpec } from '../adapters/_stores.ts'

export const users = 3_000
/** Rows by table once the import is whole. */
export const whole: Readonly<Record<string, number>> = {
  users: users,
  auth_password: users,
  auth_two_factor: users / 10,
  auth_two_factor_state: users / 10,
  auth_user_ban: users / 50,
  auth_user_name: users / 2,
  auth_import_entry: users * 2 + users / 10 + users / 50 + users / 2,
}

/** Runs the import. `onProgress` hears of rows that were written. */
export async function importUsers(spec: SqlSpec, onProgress?: (rows: number) => void): Promise<ImportReport> {
  const auth = createAuth({
    secret: 'a secret of the test of interrupted imports',
    env: false,
    trustHost: true,
    adapter: openSql(openDatabase(spec)),
  })
    .use({ name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: () => undefined }) })
    .use(passwordsPlugin({ breached: false, verify: [bcryptHash()] }))
    .use(twoFactorPlugin())
    .use(usernamesPlugin())
    .use(adminPlugin({ can: () => false }))
    .use(importPlugin())
  await auth.ready()
  const report = await auth.import.run({
    from: 'clerk',
    files: () => [writeExport()],
    apply: true,
    accept: ['all'],
    onProgress: (rows) => onProgress?.(rows),
  })
  await auth.close()
  return report
}

async function* writeExport(): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < users; at++) {
    const row = {
      id: `user_${at}`,
      primary_email_address: `user${at}@example.com`,
      verified_email_addresses: `user${at}@example.com`,
      first_name: `User ${at}`,
      password_digest: '$2b$10$abcdefghijklmnopqrstuuKkqkqkqkqkqkqkqkqkqkqkqkqkqkqkq',
      password_hasher: 'bcrypt',
      ...(at % 2 === 0 && { username: `user${at}` }),
      ...(at % 10 === 0 && { totp_secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP' }),
      ...(at % 50 === 0 && { banned: 'true' }),
    }
    yield new TextEncoder().encode(`${JSON.stringify(row)}\n`)
  }
}

// As a process of its own: it tells the parent how far it is.
const database = process.env['INTERRUPTED_IMPORT']
if (database !== undefined) {
  await importUsers({ kind: 'postgres', name: database }, (rows) => process.send?.(rows))
  process.send?.('done')
}
