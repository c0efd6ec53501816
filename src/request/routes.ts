/** The kernel's own routes; everything else comes from plugins. */
import type { Context } from '../contract/context.ts'
import type { Route } from '../contract/route.ts'
import { CrossSiteRequest } from '../errors/kernel-errors.ts'
import { SessionTokenError } from '../errors/index.ts'
import { json } from '../http/messages.ts'
import type { OwnedBy } from '../registry/draft.ts'
import { lazily, type Lazy } from '../runtime/lazy.ts'

type Handlers = typeof import('./handlers.ts')

/** Their handlers. */
export const handlers: Lazy<Handlers> = /* @__PURE__ */ lazily(() => import('./handlers.ts'))

const by =
  (name: Exclude<keyof Handlers, 'callbackProtection' | 'wrongMethod'>) =>
  async (ctx: Context): Promise<Response> =>
    (handlers.loaded ?? (await handlers()))[name](ctx)

const routes: readonly Route[] = [
  { method: 'GET', path: '/signin', handler: by('signInPage') },
  { method: 'POST', path: '/signin', handler: async (ctx) => ctx.page('signIn') },
  { method: 'POST', path: '/signin/:provider', flow: 'signIn', handler: by('startSignIn') },
  { method: 'GET', path: '/callback/:provider', flow: 'callback', handler: by('finishCallback') },
  { method: 'POST', path: '/callback/:provider', flow: 'callback', handler: by('finishCallback') },
  // No wrong path, but it names no provider: a page for users, and not "Bad request.".
  { method: 'GET', path: '/callback', handler: by('leadsNowhere') },
  { method: 'POST', path: '/callback', csrf: 'crossSite', handler: by('leadsNowhere') },
  { method: 'GET', path: '/signout', handler: by('signOutPage') },
  { method: 'POST', path: '/signout', handler: by('signOut') },
  { method: 'GET', path: '/session', handler: by('readSession'), failure: async () => json(null, 503) },
  {
    method: 'POST',
    path: '/session',
    handler: by('updateSession'),
    failure: async (_ctx, error) => json(null, error instanceof SessionTokenError ? 503 : error instanceof CrossSiteRequest ? 403 : 400),
  },
  { method: 'GET', path: '/csrf', handler: by('answerCsrf') },
  { method: 'GET', path: '/providers', public: true, handler: by('answerProviders') },
  { method: 'GET', path: '/error', handler: by('errorPage') },
  { method: 'GET', path: '/verify-request', handler: by('verifyRequestPage') },
]

/** Registered under the name `kernel`. */
export const coreRoutes: readonly OwnedBy<Route>[] = routes.map((value) => ({ value, owner: 'kernel' }))
