/** API keys: programs that act for a user, for a service or for the tenant, with `Authorization: Bearer ak_…` or `x-api-key`. */
import { AccessDenied, type AnyContext, type First, type Guard, jobFor, type Kernel, type OfTenant, type Plugin } from 'authkernel/kernel'
import { authenticate, isLive, verify } from './authenticate.ts'
import { createKey, listKeys, type MadeApiKey, type NewApiKey, revokeKey, rotateKey } from './manage.ts'
import { type ApiKeysOptions, resolveOptions, type ResolvedOptions } from './options.ts'
import { addAccountSection } from './page.ts'
import { assertProof, StepUpRequired } from './proof.ts'
import { addMethods, addRoutes, type ApiKeysClient } from './routes.ts'
import { type ApiKey, type KeyOrganization, type KeyOwner, table } from './table.ts'

export { findKeys, keyPattern, scannerPattern } from './format.ts'
export { StepUpRequired }
export type { MadeApiKey, NewApiKey } from './manage.ts'
export type { ApiKeysOptions, KeyLimit } from './options.ts'
export type { ApiKeysClient } from './routes.ts'
export type { ApiKey, ApiKeyRow, KeyOrganization, KeyOwner } from './table.ts'

/** Whose keys: those of the person who is signed in on a request, or of a named owner. `tenant` names the tenant where there are several. */
export type KeysOf = Request | (KeyOwner & OfTenant)

// Where hosts add theirs: TypeScript loses one of two augmentations that come by different modules.
declare module 'authkernel' {
  interface Session {
    /** There when an API key signed the request in. */
    apiKey?: { id: string; name: string; env: string; scopes: readonly string[]; owner: KeyOwner; organization?: string }
  }
}
declare module 'authkernel/kernel' {
  interface Hooks {
    /** Whether a key counts now: banned owners. */
    apiKey: Guard<{ key: ApiKey }, AnyContext>
    /** What the owner of a key is in the organization that the key is for; null: no member, and the key is nobody. */
    keyOrganization: First<{ organizationId: string; userId: string }, KeyOrganization | null, AnyContext>
  }
}

/** What the plugin puts on `auth`. It checks whose keys are asked for, not who asks: call it behind your own routes, with the request. */
export interface ApiKeysApi {
  apiKeys: {
    /**
     * The only time that the key's text is told. Throws HttpError 400, 403, 409, AccessDenied for a request that is signed in by a key, and StepUpRequired
     * (403) for a request whose proof is older than `proofAge`, as `rotate` does.
     */
    create(who: KeysOf, wanted: NewApiKey): Promise<MadeApiKey>
    /** Newest first; empty for nobody. */
    list(who: KeysOf): Promise<ApiKey[]>
    /** The next key with the same rights. The old one ends after `overlap` seconds. Null: no such key. */
    rotate(who: KeysOf, id: string): Promise<MadeApiKey | null>
    /** It is nobody from now on. False: no such key. */
    revoke(who: KeysOf, id: string): Promise<boolean>
    /**
     * The live key of a text, with the scopes that its owner has now, for transports other than HTTP headers; null for any other, and where the owner is
     * banned or gone. Counts no use.
     */
    verify(request: Request, key: string): Promise<ApiKey | null>
  }
}

/**
 * Adds `auth.apiKeys`, and the session of requests that carry a key. A request with a key is never signed in by its cookie.
 * Throws AuthError for options of the wrong shape.
 */
export function apiKeysPlugin(options: ApiKeysOptions = {}): Plugin<ApiKeysApi & ApiKeysClient> {
  const resolved = resolveOptions(options)
  return {
    name: 'api-keys',
    requires: ['records', 'limit'],
    prefers: ['session:attributes'],
    setup(kernel) {
      kernel.records('apiKey', table)
      kernel.declareHook('apiKey', 'guard')
      kernel.declareHook('keyOrganization', 'first')
      // The hook belongs to jwtPlugin, which may be absent: its types are not there then.
      kernel.hook('accessToken', ({ claims, ctx }: Issued) => claims['key'] === undefined || isLive(ctx, resolved, claims['key']), {
        of: 'jwt',
      })
      // The event belongs to the plugin of organizations, which may be absent.
      kernel.on('organizationChanged', endForLeavers, { of: 'organizations' })
      // Also what is no key of ours: a broken or foreign one must not lead to the cookie.
      kernel.credential((headers) => headers.get('x-api-key')?.trim())
      kernel.credential((headers) => /^(?:Bearer|DPoP) +(.*)$/is.exec(headers.get('authorization') ?? '')?.[1])
      kernel.hook('authenticate', ({ ctx }) => authenticate(ctx, resolved))
      kernel.onAccessEnd('key', (ctx, { which, reason }) =>
        'userId' in which && (reason === 'deletion' || (reason === 'passwordReset' && resolved.onPasswordReset === 'end'))
          ? ctx.records('apiKey').deleteWhere({ where: { userId: which.userId } })
          : 0,
      )
      if (resolved.routes) {
        addRoutes(kernel, resolved)
        addMethods(kernel, resolved)
      }
      if (resolved.accountSection) addAccountSection(kernel, resolved)
      return { apiKeys: api(kernel, resolved) }
    },
  }
}

function api(kernel: Kernel, options: ResolvedOptions): ApiKeysApi['apiKeys'] {
  return {
    async create(who, wanted) {
      const { ctx, owner } = await find(kernel, who, 'create')
      if (!owner) throw new AccessDenied('apiKeys.create: nobody is signed in on this request.')
      if (who instanceof Request && ctx.request) await assertProof(ctx, options, 'create')
      return createKey(ctx, options, owner, wanted)
    },
    async list(who) {
      const { ctx, owner } = await find(kernel, who)
      return owner ? listKeys(ctx, options, owner) : []
    },
    async rotate(who, id) {
      const { ctx, owner } = await find(kernel, who, 'rotate')
      if (owner && who instanceof Request && ctx.request) await assertProof(ctx, options, 'rotate')
      return owner ? rotateKey(ctx, options, owner, id) : null
    },
    async revoke(who, id) {
      const { ctx, owner } = await find(kernel, who, 'revoke')
      return owner ? revokeKey(ctx, owner, id) : false
    },
    async verify(request, key) {
      const found = typeof key === 'string' ? await verify(await kernel.contextOf(request), options, key) : null
      return found && 'key' in found ? found.key : null
    },
  }
}

interface Issued {
  claims: Readonly<Record<string, unknown>>
  ctx: AnyContext
}
interface OrganizationLeft {
  act: string
  organizationId: string
  userId?: string
  ctx: AnyContext
}

// The key is nobody at once, because the membership is read at each use. Without its row it stays nobody when the person comes back.
async function endForLeavers({ act, organizationId: organization, userId, ctx }: OrganizationLeft): Promise<void> {
  const isOne = act === 'member.removed' || act === 'member.left'
  if (isOne && userId !== undefined) await ctx.records('apiKey').deleteWhere({ where: { organization, userId } })
  if (act === 'deleted') await ctx.records('apiKey').deleteWhere({ where: { organization } })
}

/** `change`: a session by key may look, and may change no credential. */
async function find(kernel: Kernel, who: KeysOf, change?: string): Promise<{ ctx: AnyContext; owner: KeyOwner | undefined }> {
  if (!(who instanceof Request)) {
    const { of: former, tenant, ...owner } = who
    return { ctx: await kernel.contextOf(jobFor('apiKeys', { tenant, of: former })), owner }
  }
  const ctx = await kernel.contextOf(who)
  const session = await ctx.currentSession()
  if (session?.apiKey && change) throw new AccessDenied(`apiKeys.${change}: a request that is signed in by an API key cannot change keys.`)
  if (session?.apiKey) return { ctx, owner: session.apiKey.owner }
  if (session && 'bearer' in session) {
    if (change) throw new AccessDenied(`apiKeys.${change}: an app cannot change keys.`)
    return { ctx, owner: undefined }
  }
  const userId = session && (await ctx.session.user(ctx))?.id
  return { ctx, owner: userId ? { userId } : undefined }
}
