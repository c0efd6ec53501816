/** The routes of the type; paths without a provider are answered like those of other actions (row 10). */
import { type AuthError, type Context, json, lazily, type Lazy, type Route } from 'authkernel/kernel'
import { InvalidProvider, UnknownAction } from 'authkernel/errors'

/** Loaded by the first ceremony. */
export const loadCeremonies: Lazy<typeof import('./ceremonies.ts')> = /* @__PURE__ */ lazily(() => import('./ceremonies.ts'))

const optionsRoute: Route = {
  method: 'GET',
  path: '/webauthn-options/:provider',
  handler: async (ctx) => (await loadCeremonies()).answerOptions(ctx),
  // Scripts read this route; an error page would be noise to them. A wrong provider is a mistake of the script.
  failure(_ctx: Context, error: AuthError): Response | undefined {
    if (error.type === 'InvalidProvider') return undefined
    return json({ error: 'Server error' }, error.type === 'AdapterError' || error.type === 'SessionTokenError' ? 503 : 500)
  },
}

/** Where browsers look at the root of the origin: related origins (WebAuthn Level 3, section 5.11), and the page on which passkeys are added and managed. */
export const rootRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/.well-known/webauthn',
    at: 'root',
    optional: true,
    public: { maxAge: 300 },
    handler: async (ctx) => (await loadCeremonies()).answerRelatedOrigins(ctx),
  },
  {
    method: 'GET',
    path: '/.well-known/passkey-endpoints',
    at: 'root',
    optional: true,
    public: { maxAge: 300 },
    handler: ({ base }) => json({ enroll: `${base}/account#passkeys`, manage: `${base}/account#passkeys` }),
  },
]

/** Exported for plugins that provide the type in another way, as the switch of the experiment does. */
export const webauthnRoutes: readonly Route[] = [
  optionsRoute,
  { method: 'GET', path: '/webauthn-options', handler: refuseWithoutProvider },
  { method: 'POST', path: '/webauthn-options', csrf: 'crossSite', handler: refusePost },
  { method: 'POST', path: '/webauthn-options/:provider', csrf: 'crossSite', handler: refusePost },
]

async function refuseWithoutProvider(): Promise<never> {
  throw new InvalidProvider('The path /webauthn-options names no provider.')
}

async function refusePost({ basePath }: Context): Promise<never> {
  throw new UnknownAction(`POST is not a method of ${basePath}/webauthn-options.`)
}
