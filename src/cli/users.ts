/** `authkernel users export <user>` and `authkernel users erase <user>`: the data of one user, for a request of access or of erasure. */
import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { loadModule } from './load.ts'
import { type Report, type Setting, table, UsageError } from './report.ts'

/** Options of the command. */
export interface UsersCommandOptions {
  action?: string | undefined
  user?: string | undefined
  out?: string | undefined
  yes?: boolean | undefined
  auth?: string | undefined
  env?: string | undefined
  tenant?: string | undefined
}
type Who = { userId: string; tenant?: string | null }
interface WithUsers {
  users?: {
    export(who: Who): Promise<{ user: { email: string | null }; records: Record<string, readonly unknown[]> } | null>
    erase(who: Who): Promise<{ accounts: number; passkeys: number; records: Record<string, number>; left: Record<string, number> } | null>
  }
}

/** Not ok when rows of an erased user are left. Throws UsageError for another action, an unknown user, and an app without accountsPlugin. */
export async function users(options: UsersCommandOptions, setting: Setting): Promise<Report> {
  const { action, user, auth, env, tenant } = options
  if ((action !== 'export' && action !== 'erase') || !user)
    throw new UsageError('Write `authkernel users export <user>` or `authkernel users erase <user> --yes` with the id of a user.')
  const loaded = await loadModule({ auth, env }, setting)
  try {
    const { users: api } = loaded.auth as WithUsers
    if (typeof api?.erase !== 'function') throw new UsageError(`${loaded.file} does not use accountsPlugin.`)
    const who = { userId: user, ...(tenant !== undefined && { tenant: tenant === '' ? null : tenant }) }
    return action === 'export' ? await exportUser(api, who, options, setting) : await eraseUser(api, who, options, setting)
  } finally {
    await loaded.auth.close()
  }
}

async function exportUser(api: Required<WithUsers>['users'], who: Who, { out }: UsersCommandOptions, setting: Setting): Promise<Report> {
  const data = await api.export(who)
  if (!data) throw createUnknownUser(who)
  const text = JSON.stringify(data, undefined, 2)
  if (out === undefined) return { data, lines: [text] }
  const file = resolve(setting.cwd, out)
  // Personal data: for the user of the command alone, and never over another file.
  await writeFile(file, `${text}\n`, { mode: 0o600, flag: 'wx' }).catch((error: Error) => {
    throw new UsageError(`${file} could not be written: ${error.message}`)
  })
  return { data: { file }, lines: [setting.paint.good(`The data of ${who.userId} is in ${file}.`)] }
}

async function eraseUser(api: Required<WithUsers>['users'], who: Who, { yes }: UsersCommandOptions, setting: Setting): Promise<Report> {
  const { good, bad, warn } = setting.paint
  if (!yes) {
    const data = await api.export(who)
    if (!data) throw createUnknownUser(who)
    const { records } = data
    const rows = Object.entries(records).map(([name, found]) => [name, String(found.length)])
    return {
      ok: false,
      data: { userId: who.userId, wouldErase: Object.fromEntries(Object.entries(records).map(([name, found]) => [name, found.length])) },
      lines: [
        ...table(rows),
        '',
        warn(`Nothing was erased. With --yes ${data.user.email ?? who.userId} and these rows are deleted for good.`),
      ],
    }
  }
  const report = await api.erase(who).catch((error: Error) => {
    throw new UsageError(`The user ${who.userId} was not erased: ${error.message}`)
  })
  if (!report) throw createUnknownUser(who)
  const { accounts, passkeys, records, left } = report
  const rows = [
    ['user', '1'],
    ['accounts', String(accounts)],
    ['passkeys', String(passkeys)],
  ]
  const isDone = Object.keys(left).length === 0
  return {
    ok: isDone,
    data: report,
    lines: [
      ...table([...rows, ...Object.entries(records).map(([name, count]) => [name, String(count)])]),
      '',
      isDone ? good(`The user ${who.userId} was erased.`) : bad(`Rows are left in ${Object.keys(left).join(', ')}. Run the command again.`),
    ],
  }
}

function createUnknownUser({ userId }: Who): UsageError {
  return new UsageError(`There is no user with the id ${JSON.stringify(userId)}.`)
}
