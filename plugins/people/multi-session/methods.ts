/** `auth.multiSession` and `client.multiSession`. */
import { clientMethod, clientMethods, type ClientPart, type Context, type Kernel, redirectTo, toLocalPath } from 'authkernel/kernel'
import { addAccount, type BrowserAccount, listAccounts, signOutAccounts, switchAccount, targetOf } from './browser-accounts.ts'

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
/** `client.multiSession`: results with `url` say where to go. */
export type MultiSessionClient = ClientPart<{
  readonly multiSession: {
    list(): Promise<BrowserAccount[]>
    switch(input: { id: string }): Promise<{ url: string }>
    add(): Promise<{ url: string }>
    signOut(input: { which: string }): Promise<boolean>
  }
}>

/** Methods on `auth`. */
export function createApi(kernel: Kernel, max: number): MultiSessionApi {
  const withContext = async (request: Request, act: (ctx: Context) => Promise<Response>): Promise<Response> => {
    const ctx = await kernel.contextOf(request)
    return kernel.answer(ctx, await act(ctx))
  }
  return {
    multiSession: {
      list: async (request) => listAccounts(kernel, await kernel.contextOf(request)),
      switch: (request, id, { returnTo = '/' } = {}) =>
        withContext(request, async (ctx) => switchAccount(kernel, ctx, String(id), ctx.origin + toLocalPath(returnTo, 'multiSession'))),
      add: (request) => withContext(request, (ctx) => addAccount(kernel, ctx, max)),
      signOut: (request, which, { returnTo = '/' } = {}) =>
        withContext(request, async (ctx) => {
          const target = ctx.origin + toLocalPath(returnTo, 'multiSession')
          await signOutAccounts(kernel, ctx, String(which))
          return redirectTo(target)
        }),
    },
  }
}

/** Methods of the client. */
export function addClientMethods(kernel: Kernel, max: number): MultiSessionClient {
  const readText = (name: string) => (sent: unknown) => {
    const value = (Object(sent) as Record<string, unknown>)[name]
    if (typeof value !== 'string' || value.length > 64) throw new TypeError(`${name}: a text`)
    return value
  }
  return clientMethods(kernel, 'multiSession', {
    list: clientMethod((ctx) => listAccounts(kernel, ctx)),
    switch: clientMethod(
      (sent) => ({ id: readText('id')(sent) }),
      async (ctx, { id }) => switchAccount(kernel, ctx, id, await targetOf(ctx)),
    ),
    add: clientMethod((ctx) => addAccount(kernel, ctx, max)),
    signOut: clientMethod(
      (sent) => ({ which: readText('which')(sent) }),
      (ctx, { which }) => signOutAccounts(kernel, ctx, which),
    ),
  })
}
