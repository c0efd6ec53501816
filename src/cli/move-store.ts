/** `authkernel move-store`: moves the sessions of the adapter into the session store of the app, while the app runs. */
import { moveAllSessions, movingSessionsOf } from 'authkernel/plugins/adapter'
import { loadModule } from './load.ts'
import type { MaintenanceOptions } from './maintenance.ts'
import { type Report, type Setting, table, UsageError } from './report.ts'
import { lookInside } from './snapshot.ts'

/** Resumes where an earlier call ended. Throws UsageError for an app that moves no sessions, and for a store that fails. */
export async function moveStore(options: MaintenanceOptions, setting: Setting): Promise<Report> {
  const { auth, file } = await loadModule(options, setting)
  const { store } = (await lookInside(auth, 'https://your-app.example')).app
  const moving = movingSessionsOf(store)
  if (!moving) {
    throw new UsageError(
      `${file} moves no sessions. Give the new store first: adapterPlugin(adapter, { sessions, moveSessions: true }). See docs/plugins/redis.md.`,
    )
  }
  const report = await moveAllSessions(moving.adapter, moving.sessions, ({ users, moved }) => {
    setting.status.write(`${users.toLocaleString('en')} users read, ${moved.toLocaleString('en')} sessions moved`)
  }).catch((error: unknown) => {
    throw new UsageError(
      `The sessions of ${file} could not be moved: ${(error as Error).message} What was moved stays. Run the command again.`,
    )
  })
  setting.status.write('')
  await auth.close()
  const late =
    report.pending > 0 ? [`${report.pending} sessions are being moved by another process. Run the command again in a minute.`] : []
  const rest = report.hashed > 0 ? [`${report.hashed} sessions are stored as hashes. Each of them moves when its browser uses it.`] : []
  return {
    data: { file, ...report },
    lines: [
      ...table([
        ['users', String(report.users)],
        ['moved sessions', String(report.moved)],
      ]),
      ...late,
      ...rest,
      '',
      setting.paint.good(
        'Leave `moveSessions` out when no session is left that moves by use: after the longest lifetime of a session at the latest.',
      ),
    ],
  }
}
