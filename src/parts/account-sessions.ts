/** Where the user is signed in, with a way to end a session. */
import { deviceOf, formatAgo } from './format.ts'
import { reloadSection, type Section } from './sections.ts'
import { drawAction, drawRows, drawSection, rowId } from './view.ts'

interface ListedSession {
  readonly id: string
  readonly current: boolean
  readonly createdAt?: string
  readonly lastUsed?: string
  readonly address?: string
  readonly userAgent?: string
  readonly app?: string
}

/** Sessions, the newest first. */
export const sessionsSection: Section<readonly ListedSession[]> = {
  id: 'sessions',
  load: (machine) => machine.call('sessions', 'list'),
  draw(machine, sessions) {
    const { say } = machine
    const others = sessions.filter(({ current }) => !current)
    const end = (name: string, input?: object) => async (): Promise<void> => {
      await machine.call('sessions', name, input)
      await reloadSection(machine, sessionsSection as Section)
      machine.set({ note: say('done') })
    }
    return [
      drawSection(machine, {
        id: 'sessions',
        title: say('sessions.title'),
        text: say('sessions.text'),
        actions:
          others.length > 0 ? drawAction(machine, { action: 'end-others', text: say('sessions.endOthers'), run: end('revokeOthers') }) : [],
        body: [
          drawRows(
            machine,
            sessions.map(({ id, current, userAgent, app, lastUsed, createdAt, address }) => ({
              id,
              title: app ?? deviceOf(userAgent) ?? say('sessions.unknown'),
              tags: current ? [say('sessions.current')] : [],
              text: [(lastUsed ?? createdAt) && formatAgo(machine, lastUsed ?? createdAt ?? ''), address].filter(Boolean).join(' · '),
              actions: current
                ? []
                : drawAction(machine, {
                    action: `end-${id}`,
                    text: say('sessions.end'),
                    attributes: { 'aria-describedby': rowId(machine, id) },
                    run: end('revoke', { id }),
                  }),
            })),
          ),
        ],
      }),
    ]
  },
}
