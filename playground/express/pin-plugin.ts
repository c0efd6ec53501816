/**
 * A provider type by a stranger: people of a shared screen sign in with a PIN. It has all a plugin can have: options of its
 * own, a service, a hook, a route, a form on the sign-in page. `docs/writing-a-plugin.md` goes through it line by line.
 */
import { CredentialsSignin, equal, json } from 'authkernel/kernel'
import type { Awaitable, CommonProviderOptions, Context, Guard, Plugin, ProviderFlow, ProviderOf, User } from 'authkernel/kernel'

/** What a host may say about a PIN provider. */
export interface PinConfig extends CommonProviderOptions {
  type: 'pin'
  /** Who is at the screen; `id` is theirs for good, the PIN may change. */
  people: readonly (User & { id: string; pin: string })[]
}
/** Finds people by PIN. Another plugin may provide one over a database: it beats this default. */
export interface Pins {
  find(provider: PinConfig, pin: string): Awaitable<User | undefined>
}

declare module 'authkernel/kernel' {
  interface ProviderTypes {
    pin: PinConfig
  }
  interface Services {
    pins: Pins
  }
  interface Hooks {
    /** May this screen take PINs now? Opening hours, maintenance. All must say true. */
    pinAllowed: Guard<{ provider: PinConfig; now: Date }>
  }
}

/** The PIN did not fit; `code` is what the sign-in page may know. */
class WrongPin extends CredentialsSignin {
  override code = 'wrong_pin'
}
/** A handler of `pinAllowed` returned false. */
class PinClosed extends CredentialsSignin {
  override code = 'pin_closed'
}

/** The provider type `pin`, the given providers, and a switch on `auth`: `auth.pin.open = false` closes the screens. */
export function pinPlugin(...providers: readonly ProviderOf<'pin'>[]): Plugin<{ pin: { open: boolean } }> {
  return {
    name: ['pin', providers.map(({ id }) => id).join(',')].filter(Boolean).join(':'),
    setup(kernel) {
      kernel.declareHook('pinAllowed', 'guard')
      kernel.provide('pins', { find: findByPin }, { fallback: true })
      kernel.providerType('pin', pinFlow)
      for (const provider of providers) kernel.provider(provider)
      kernel.route({ method: 'GET', path: '/pin-status/:id', handler: async (ctx) => json({ open: await isOpen(ctx, ctx.params.id) }) })
      const api = { open: true }
      kernel.hook('pinAllowed', () => api.open)
      return { pin: api }
    },
  }
}

const pinFlow: ProviderFlow<ProviderOf<'pin'>> = {
  callback: { GET: false, POST: 'token' },
  requires: ['pins', 'limit'],
  validate({ id, people }) {
    for (const { name, pin } of people) {
      if (!/^\d{4,8}$/.test(pin)) throw new Error(`pinPlugin: the PIN of ${name} at provider "${id}" must be 4 to 8 digits.`)
    }
  },
  form: () => ({
    post: 'callback',
    fields: { pin: { label: 'PIN', type: 'password', inputmode: 'numeric', autocomplete: 'off', required: true, maxlength: 8 } },
  }),
  async finish(ctx, provider) {
    if ((await ctx.ask('pinAllowed', { provider, now: ctx.now })) !== true) throw new PinClosed('This screen is closed now.')
    // Four digits are guessed in no time: five attempts in ten minutes, for all clients together.
    const { allowed } = await ctx.limit.take(`pin:${provider.id}:${ctx.clientAddress ?? ''}`, { max: 5, seconds: 600 })
    const { pin } = await ctx.body()
    const user = allowed && typeof pin === 'string' ? await ctx.service('pins').find(provider, pin) : undefined
    if (!user?.id) throw new WrongPin('The PIN is wrong.')
    await ctx.limit.refund(`pin:${provider.id}:${ctx.clientAddress ?? ''}`)
    return { user, account: { type: 'pin', provider: provider.id, providerAccountId: user.id }, match: 'account' }
  },
}

function findByPin({ people }: PinConfig, wanted: string): User | undefined {
  const person = people.find(({ pin }) => equal(pin, wanted))
  return person && { id: person.id, name: person.name ?? null, email: person.email ?? null }
}

async function isOpen(ctx: Context, id: string | undefined): Promise<boolean> {
  const provider = (await ctx.providers()).find((candidate) => candidate.id === id && candidate.type === 'pin')
  return provider?.type === 'pin' && (await ctx.ask('pinAllowed', { provider, now: ctx.now })) === true
}
