/** Declaration merging against the built declarations: hosts extend `authkernel`, plugin authors `authkernel/kernel`. */
import { createAuth, type Account, type JWT, type Profile, type Session } from 'authkernel'
import type { Context, Hooks, Events, First, Provider, ProviderFlow, ProviderOf, ProviderTypes, Services, User } from 'authkernel/kernel'
import { definePlugin } from 'authkernel/kernel'

declare module 'authkernel' {
  interface User {
    role?: string
  }
  interface Session {
    tenant?: string
  }
  interface JWT {
    role?: string | undefined
  }
  interface Account {
    organisation?: string
  }
}
declare module 'authkernel/kernel' {
  interface ProviderTypes {
    magic: { id: string; name: string; wand: 'oak' | 'elder' }
  }
  interface Services {
    wands: { wave(): number }
  }
  interface Hooks {
    wand: First<{ owner: string }, 'oak' | 'elder'>
  }
  interface Events {
    waved: { times: number }
  }
}

// What a host adds is there in every place where the type appears, whichever entry names it.
const auth = createAuth({ secret: 'a secret of at least thirty-two characters' })
auth.hook('jwt', ({ token, user }) => (user ? { ...token, role: user.role } : token))
auth.hook('session', ({ session, token }) => ({ ...session, tenant: token?.role ?? '' }))
auth.on('signIn', ({ user, account, profile }) => {
  const role: string | undefined = user.role
  const organisation: string | undefined = account?.organisation
  const claims: Profile | undefined = profile
  return [role, organisation, claims]
})
export const kernelUser: User = { role: 'admin' }
export const tenant: string | undefined = ({ expires: '' } as Session).tenant
export const role: string | undefined = ({} as JWT).role
export const organisation: Account['organisation'] = 'acme'

// What a plugin author adds is a provider type, a service, a hook and an event like the built-in ones.
const wand: ProviderOf<'magic'> = { id: 'a', name: 'A', type: 'magic', wand: 'oak' }
export const provider: Provider = wand
const flow: ProviderFlow<ProviderOf<'magic'>> = {
  async finish(ctx: Context, { id, wand }) {
    ctx.service('wands').wave().toFixed()
    const chosen: 'oak' | 'elder' | undefined = await ctx.ask('wand', { owner: id })
    await ctx.emit('waved', { times: 1 })
    // @ts-expect-error a field that the event does not have
    await ctx.emit('waved', { often: 1 })
    return {
      user: { id, name: chosen ?? wand },
      account: { provider: id, providerAccountId: '1', type: 'magic' },
      match: 'account',
    }
  },
}
export const magicPlugin = definePlugin({
  name: 'magic',
  requires: ['wands'],
  setup(kernel) {
    kernel.declareHook('wand', 'first')
    kernel.provide('wands', { wave: () => 1 })
    kernel.providerType('magic', flow)
    kernel.provider(wand)
    kernel.hook('wand', ({ owner }) => (owner === 'a' ? 'elder' : undefined))
    kernel.on('waved', ({ times }) => times.toFixed())
    // @ts-expect-error a service that is not declared
    kernel.provide('brooms', {})
    return { magic: { cast: (): string => 'cast' } }
  },
})
export const cast: string = auth.use(magicPlugin).magic.cast()
export type Merged = [ProviderTypes['magic'], Services['wands'], Hooks['wand'], Events['waved']]
