/** Several accounts in one browser, of which one is used at a time. */
import {
  assertOptions,
  AuthError,
  clientMethod,
  clientMethods,
  type ClientPart,
  type Context,
  type Plugin,
  redirectTo,
  type User,
} from 'authkernel/kernel'
import { addAccount, type BrowserAccount, listAccounts, pathOf, replaceWaiting, signOutAccounts, switchAccount, targetOf } from './acts.ts'
import { messages } from './messages.ts'
import { addPages } from './pages.ts'
import { listCookie, waitingSessionTable } from './table.ts'

export type { BrowserAccount } from './acts.ts'
export * from './errors.ts'
export type { WaitingSessionRow } from './table.ts'

declare module 'authkernel/kernel' {
  interface Events {
    /** A browser uses another account from now on. `from` null: none was used. */
    accountSwitched: { user: User; from: User | null }
  }
}

/** What `multiSessionPlugin` takes. */
export interface MultiSessionOptions {
  /** Sessions that wait in one browser beside the one that is used; default 4, at most 4. */
  max?: number | undefined
}
/** What the plugin puts on `auth`. Call what changes something behind routes that check a CSRF token. */
export interface MultiSessionApi {
  multiSession: {
    /** Accounts of the browser, the current one first. */
    list(request: Request): Promise<BrowserAccount[]>
    /** A redirect whose cookies make another account the current one, with a new token. Throws AccountGone, HttpError 400 for a wrong `returnTo`. */
    switch(request: Request, id: string, order?: { returnTo?: string }): Promise<Response>
    /** A redirect to the sign-in page; the session that is here waits. Throws TooManyAccounts. */
    add(request: Request): Promise<Response>
    /** A redirect; ends the session of one account that waits, or with `all` every session of the browser. */
    signOut(request: Request, which: string, order?: { returnTo?: string }): Promise<Response>
  }
}
/** `client.multiSession`: the answers with `url` say where to go. */
export type MultiSessionClient = ClientPart<{
  readonly multiSession: {
    list(): Promise<BrowserAccount[]>
    switch(input: { id: string }): Promise<{ url: string }>
    add(): Promise<{ url: string }>
    signOut(input: { which: string }): Promise<boolean>
  }
}>

/**
 * Adds `auth.multiSession`, the page `/switch` and `client.multiSession`. Needs the service `records` and a session strategy that ends sessions by id:
 * `session.revocable` with jwt. Throws AuthError for options of the wrong shape.
 */
export function multiSessionPlugin(options: MultiSessionOptions = {}): Plugin<MultiSessionApi & MultiSessionClient> {
  assertOptions('Plugin "multi-session"', options, { max: true })
  const { max = 4 } = options
  if (!Number.isInteger(max) || max < 1 || max > 4) throw new AuthError('Plugin "multi-session": `max` must be a whole number from 1 to 4.')
  return {
    name: 'multi-session',
    requires: ['records', 'session:revoke:id', 'session:attributes'],
    setup(kernel) {
      kernel.declareEvent('accountSwitched')
      kernel.records('waitingSession', waitingSessionTable)
      kernel.cookie(listCookie)
      kernel.messages(messages)
      kernel.decorate('session', (inner) => ({
        async issue(ctx, login, attributes, before) {
          const issued = await inner.issue(ctx, login, attributes, before)
          const { id } = login.user
          if (issued && id !== undefined && login.purpose === 'signIn' && listCookie.get(ctx) !== undefined)
            await replaceWaiting(kernel, ctx, id)
          return issued
        },
      }))
      addPages(kernel, max)
      const one = (name: string) => (sent: unknown) => {
        const value = (Object(sent) as Record<string, unknown>)[name]
        if (typeof value !== 'string' || value.length > 64) throw new TypeError(`${name}: a text`)
        return value
      }
      const withContext = async (request: Request, act: (ctx: Context) => Promise<Response>): Promise<Response> => {
        const ctx = await kernel.contextOf(request)
        return kernel.answer(ctx, await act(ctx))
      }
      return {
        multiSession: {
          list: async (request) => listAccounts(kernel, await kernel.contextOf(request)),
          switch: (request, id, { returnTo = '/' } = {}) =>
            withContext(request, async (ctx) => switchAccount(kernel, ctx, String(id), ctx.origin + pathOf(returnTo))),
          add: (request) => withContext(request, (ctx) => addAccount(kernel, ctx, max)),
          signOut: (request, which, { returnTo = '/' } = {}) =>
            withContext(request, async (ctx) => {
              const target = ctx.origin + pathOf(returnTo)
              await signOutAccounts(kernel, ctx, String(which))
              return redirectTo(target)
            }),
        },
        ...clientMethods(kernel, 'multiSession', {
          list: clientMethod((ctx) => listAccounts(kernel, ctx)),
          switch: clientMethod(
            (sent) => ({ id: one('id')(sent) }),
            async (ctx, { id }) => switchAccount(kernel, ctx, id, await targetOf(ctx)),
          ),
          add: clientMethod((ctx) => addAccount(kernel, ctx, max)),
          signOut: clientMethod(
            (sent) => ({ which: one('which')(sent) }),
            (ctx, { which }) => signOutAccounts(kernel, ctx, which),
          ),
        }),
      }
    },
  }
}
