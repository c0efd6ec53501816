/** `.use()` accumulates: each plugin's api is on `auth`, with its types, and nothing turns into `any`. */
import { type Auth, createAuth, type Session } from 'authkernel'
import { expressBinding } from 'authkernel/bindings/express'
import { createKernel, definePlugin, type Kernel, type Plugin } from 'authkernel/kernel'
import { oidcPlugin } from 'authkernel/plugins/oidc'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
type IsAny<T> = 0 extends 1 & T ? true : false
const proves = <_T extends true>(): void => {}
const denies = <_T extends false>(): void => {}

const secret = 'a secret of at least thirty-two characters'
const base = createAuth({ secret })
export const auth = base
  .use(oidcPlugin({ id: 'acme', issuer: 'https://op.example', clientId: process.env.ACME_ID, clientSecret: process.env.ACME_SECRET }))
  .use(expressBinding())
  .use({ name: 'audit', setup: () => ({ audit: { count: (): number => 1 } }) })
  .use(
    definePlugin({
      name: 'silent',
      setup(kernel: Kernel) {
        kernel.on('signOut', () => {})
      },
    }),
  )

denies<IsAny<typeof base>>()
denies<IsAny<typeof auth>>()
denies<IsAny<typeof auth.express>>()
denies<IsAny<typeof auth.audit>>()
proves<Same<ReturnType<typeof auth.audit.count>, number>>()
proves<Same<ReturnType<typeof auth.handler>, Promise<Response>>>()
proves<Same<Awaited<ReturnType<typeof auth.session>>, Session | null>>()

// @ts-expect-error a plugin that was not used has no api
void base.audit
// @ts-expect-error a api has only what its plugin returned
void auth.audit.missing
// @ts-expect-error an option of another type
createAuth({ secret: 42 })
// @ts-expect-error a name that no hook has
auth.hook('signUp', () => true)
// @ts-expect-error the answer of a guard is a boolean or a URL
auth.hook('signIn', () => 42)

// A api survives being passed on, and a bare kernel has the same entryPoints.
function mount(app: Auth<{ audit: { count(): number } }>): number {
  return app.audit.count()
}
mount(auth)
export const bare = createKernel({ secret }).use(oidcPlugin())
denies<IsAny<typeof bare>>()
proves<Same<ReturnType<typeof bare.handler>, Promise<Response>>>()

// `Plugin<any>` would swallow every other type: what a careless author returns must not reach `auth`.
declare const careless: Plugin<ReturnType<typeof JSON.parse>>
const careful = base.use(expressBinding()).use(careless)
denies<IsAny<typeof careful>>()
