/** The routes of the type; paths that name nobody are answered like those of other actions (row 10). */
import { type AuthError, type Context, InvalidProvider, json, lazily, type Lazy, type Route, UnknownAction } from 'authkernel/kernel'

/** Loaded by the first ceremony. */
export const ceremonies: Lazy<typeof import('./ceremonies.ts')> = /* @__PURE__ */ lazily(() => import('./ceremonies.ts'))

const optionsRoute: Route = {
  method: 'GET',
  path: '/webauthn-options/:provider',
  handler: async (ctx) => (await ceremonies()).answerOptions(ctx),
  // Scripts read this route; an error page would be noise to them. A wrong provider is a mistake of whoever wrote the script.
  failure(_ctx: Context, error: AuthError): Response | undefined {
    if (error.type === 'InvalidProvider') return undefined
    return json({ error: 'Server error' }, error.type === 'AdapterError' || error.type === 'SessionTokenError' ? 503 : 500)
  },
}

/** For whoever provides the type in another way, as the switch on the experiment does. */
export const webauthnRoutes: readonly Route[] = [
  optionsRoute,
  { method: 'GET', path: '/webauthn-options', handler: namesNobody },
  { method: 'POST', path: '/webauthn-options', csrf: 'crossSite', handler: hasNoPost },
  { method: 'POST', path: '/webauthn-options/:provider', csrf: 'crossSite', handler: hasNoPost },
]

async function namesNobody(): Promise<never> {
  throw new InvalidProvider('The path /webauthn-options names no provider.')
}

async function hasNoPost({ basePath }: Context): Promise<never> {
  throw new UnknownAction(`POST is not a method of ${basePath}/webauthn-options.`)
}
