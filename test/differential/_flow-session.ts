/** A browser that is signed in, under one strategy or the other. */
import type { Browser } from './_browser.ts'
import { type Flow, type Kit, start } from './_flow.ts'
import { acme, ann, form } from './_hosts.ts'

type Options = Record<string, unknown>

export const cookie: string = 'authjs.session-token'
export const day: number = 24 * 60 * 60
const user = { ...ann, emailVerified: null }
const row = (seconds: number): Options => ({ sessionToken: 'token-1', userId: 'ann', expires: new Date(start.getTime() + seconds * 1000) })
export const down = (): never => {
  throw new Error('host: the store is down')
}
const asked = ['jwt', 'session', 'redirect']

/** A browser that holds a token of the library. */
export function jwt(
  name: string,
  run: (b: Browser, kit: Kit) => Promise<void>,
  more: (kit: Kit) => Options = () => ({}),
  payload: Options = {},
  over: Options = {},
): Flow {
  return {
    name: `jwt: ${name}`,
    config: (kit) => ({ providers: [form(kit)], callbacks: kit.watch(...asked), ...more(kit) }),
    run: async (b, kit) => {
      b.cookies.set(cookie, await kit.token({ name: 'Ann', email: 'ann@example.com', picture: null, sub: 'ann', ...payload }, over))
      await run(b, kit)
    },
  }
}

/** A browser with a row in the store. */
export function database(
  name: string,
  run: (b: Browser, kit: Kit) => Promise<void>,
  more: (kit: Kit) => Options = () => ({}),
  seconds: number = 30 * day,
  rows: Parameters<Kit['adapter']>[0] = {},
): Flow {
  return {
    name: `database: ${name}`,
    config: (kit) => ({
      providers: [acme(kit)],
      adapter: kit.adapter({ users: [user], sessions: [row(seconds)], ...rows }),
      session: { strategy: 'database' },
      callbacks: kit.watch('session', 'redirect'),
      ...more(kit),
    }),
    run: async (b, kit) => {
      b.cookies.set(cookie, 'token-1')
      await run(b, kit)
    },
  }
}

export const read = async (b: Browser): Promise<void> => {
  await b.get('/session')
  await b.get('/session')
}
