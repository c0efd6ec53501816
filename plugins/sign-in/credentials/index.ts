/** Sign-in by what the host checks itself: passwords, codes, anything in a form (D14, D52, D54). */
import {
  type Context,
  type CredentialsConfig,
  CredentialsSignin,
  type Identity,
  MissingAuthorize,
  type Plugin,
  type ProviderFlow,
  type ProviderGiven,
  type ProviderOf,
  providerPlugin,
  randomUUID,
  type User,
} from 'authkernel/kernel'

type Credentials = ProviderGiven<'credentials'>

/** A record, so that the compiler finds what is missing. */
const options: Record<keyof CredentialsConfig, true> = {
  id: true,
  name: true,
  type: true,
  signinUrl: true,
  callbackUrl: true,
  credentials: true,
  authorize: true,
  options: true,
}

const credentialsFlow: ProviderFlow<ProviderOf<'credentials'>> = {
  // A GET would put a password into a URL.
  callback: { GET: false, POST: 'csrf' },
  env: {},
  options,

  validate({ id, authorize }) {
    if (typeof authorize !== 'function') {
      throw new MissingAuthorize(`Provider "${id}" (credentials) has no \`authorize\`: give it a function that returns the user, or null.`)
    }
  },

  // Without fields there is nothing to show: such a provider is for a form of the host's own (row 278).
  form: ({ credentials }) => ({ post: 'callback', fields: credentials ?? {}, hidden: credentials === undefined }),

  async finish(ctx, provider): Promise<Identity> {
    // The one flow without a prior step: what is asked of the redirect hook is asked before any password is checked.
    await ctx.callbackUrl()
    const credentials = await ctx.body()
    const attempts = await throttle(ctx, provider, credentials)
    const user = await authorize(ctx, provider, credentials)
    if (!user)
      throw new CredentialsSignin(`authorize() of provider "${provider.id}" returned no user.`, { cause: { provider: provider.id } })
    await Promise.all(attempts.map((key) => ctx.limit.refund(key)))
    const id = user.id === undefined || user.id === null ? randomUUID(ctx.runtime) : String(user.id)
    const account = { provider: provider.id, providerAccountId: id, type: 'credentials' as const }
    return { user: { ...user, id }, account, credentials, match: 'none', proof: { amr: ['pwd'] } }
  },
}

/** Registers the type `credentials` and adds the given providers; `id` defaults to `credentials`. */
export const credentialsPlugin: (...providers: (Credentials | (() => Credentials))[]) => Plugin<void> = providerPlugin({
  type: 'credentials',
  flow: credentialsFlow,
  defaults: { id: 'credentials', name: 'Credentials' },
})

async function authorize(ctx: Context, provider: ProviderOf<'credentials'>, credentials: Record<string, unknown>): Promise<User | null> {
  const request = new Request(ctx.request.url, {
    method: 'POST',
    headers: jsonHeaders(ctx.request.headers),
    body: JSON.stringify(credentials),
  })
  const user: unknown = await provider.authorize?.(credentials, request)
  if (!user) return null
  if (typeof user === 'object') return user
  throw new TypeError(`authorize() of provider "${provider.id}" must return a user (an object) or null, not a ${typeof user}.`)
}

function jsonHeaders(original: Headers): Headers {
  const headers = new Headers(original)
  headers.set('Content-Type', 'application/json')
  headers.delete('Content-Length')
  return headers
}

/**
 * Counts before it checks, so that guesses in parallel count too; a success takes its attempt back.
 * Answers the keys that were counted. Throws CredentialsSignin with `retryAfter` in seconds.
 */
async function throttle(ctx: Context, provider: ProviderOf<'credentials'>, credentials: Record<string, unknown>): Promise<string[]> {
  const { credentials: rule } = ctx.app.config.throttle
  if (!rule) return []
  const keys = [identifierKey(provider, credentials), networkKey(ctx.clientAddress)].filter((key) => key !== undefined)
  for (const key of keys) {
    const { allowed, retryAfter } = await ctx.limit.take(key, rule)
    if (!allowed) {
      throw new CredentialsSignin(`Too many wrong credentials for provider "${provider.id}".`, {
        cause: { provider: provider.id, retryAfter },
      })
    }
  }
  return keys
}

// The field that names the person: the first declared one that is not a password.
function identifierKey({ id, credentials = {} }: ProviderOf<'credentials'>, sent: Record<string, unknown>): string | undefined {
  const declared = Object.entries(credentials).find(([, { type }]) => type !== 'password')?.[0]
  const field = [declared, 'username', 'email'].find((name) => name !== undefined && sent[name] !== undefined && sent[name] !== null)
  if (field === undefined) return undefined
  const value = sent[field]
  // JSON may wrap a name, ["ann"], which many a query reads as the name: it counts as the name.
  const text = typeof value === 'string' ? value : JSON.stringify(value).replace(/[[\]{}"]/g, '')
  return `credentials ${id} ${text.normalize('NFKC').trim().toLowerCase().slice(0, 256)}`
}

/** IPv4 address, or the /64 of an IPv6 address in one spelling: a host owns the whole /64. */
export function networkKey(address: string | undefined): string | undefined {
  if (address === undefined) return undefined
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped || !address.includes(':')) return `network ${mapped ?? address}`
  const host = address.replace(/%.*$/, '').replace(/^\[|\]$/g, '')
  if (!URL.canParse(`http://[${host}]`)) return `network ${address}`
  // The URL parser knows every spelling; the zeros it hides are put back.
  const [head = '', tail] = new URL(`http://[${host}]`).hostname.slice(1, -1).split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const groups = [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right]
  return `network ${groups.slice(0, 4).join(':')}::/64`
}
