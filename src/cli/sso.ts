/** `authkernel sso test <connection>`: whether a connection of ssoPlugin can be used, and what to fix. */
import { loadModule } from './load.ts'
import { type Report, type Setting, UsageError } from './report.ts'

/** Options of the command. */
export interface SsoCommandOptions {
  action?: string | undefined
  connection?: string | undefined
  auth?: string | undefined
  env?: string | undefined
  tenant?: string | undefined
}
interface ConnectionTest {
  ok: boolean
  checks: readonly { name: string; ok: boolean; detail: string }[]
}
interface WithSso {
  sso?: { test(by: { system: true; tenant?: string | null }, id: string): Promise<ConnectionTest> }
}

/** Not ok when a check failed. Throws UsageError for another action, without a connection, and for an app without ssoPlugin. */
export async function sso({ action, connection, auth, env, tenant }: SsoCommandOptions, setting: Setting): Promise<Report> {
  if (action !== 'test' || connection === undefined)
    throw new UsageError('Write `authkernel sso test <connection>` with the id of a connection.')
  const loaded = await loadModule({ auth, env }, setting)
  try {
    const { sso: connections } = loaded.auth as WithSso
    if (typeof connections?.test !== 'function') throw new UsageError(`${loaded.file} does not use ssoPlugin.`)
    const { ok, checks } = await connections.test(
      { system: true, ...(tenant !== undefined && { tenant: tenant === '' ? null : tenant }) },
      connection.replace(/^sso-/, ''),
    )
    const { good, bad } = setting.paint
    return {
      ok,
      data: { ok, checks },
      lines: checks.map(({ name, ok: passed, detail }) => `${passed ? good('ok') : bad('fault')} ${name}: ${detail}`),
    }
  } finally {
    await loaded.auth.close()
  }
}
