/** `auth.apiKeys` for the host app and `client.apiKeys` for its pages. */
import {
  AccessDenied,
  clientMethod,
  clientMethods,
  type ClientPart,
  type Context,
  HttpError,
  type Kernel,
  type Wire,
} from 'authkernel/kernel'
import { verifyKey } from './authenticate.ts'
import { createKey, listKeys, type CreatedApiKey, type NewApiKey, parseNewKey, revokeKey, rotateKey } from './manage.ts'
import type { ResolvedOptions } from './options.ts'
import { assertProof, findKeyOwner, findUserId, type KeysOf } from './owner.ts'
import type { ApiKey } from './tables.ts'

/** What the plugin puts on `auth`. It checks whose keys are meant, not CSRF: call it from your own protected routes, with the request. */
export interface ApiKeysApi {
  apiKeys: {
    /**
     * The only time that the key's text is returned. Throws HttpError 400, 403 and 409. Throws AccessDenied for a request that is signed in by a key, and, like `rotate`, StepUpRequired (403) for a proof that is older than `proofAge`.
     */
    create(who: KeysOf, wanted: NewApiKey): Promise<CreatedApiKey>
    /** Newest first; empty for a visitor. */
    list(who: KeysOf): Promise<ApiKey[]>
    /** The next key with the same rights. The old one ends after `overlap` seconds. Null: no such key. */
    rotate(who: KeysOf, id: string): Promise<CreatedApiKey | null>
    /** The key is rejected from now on. False: no such key. */
    revoke(who: KeysOf, id: string): Promise<boolean>
    /**
     * The live key of a text, with the scopes that its owner has now, for transports other than HTTP headers. Null for any other text, and where the owner is banned or gone. Counts no use.
     */
    verify(request: Request, key: string): Promise<ApiKey | null>
  }
}

/** `client.apiKeys` with the option `routes`: the keys of the user who is signed in. Each rejects with `AccessDenied` (403) for a request by a key or an app. */
export type ApiKeysClient = ClientPart<{
  readonly apiKeys: {
    /** What a new key may have. `scopes` null: any text. `maxAge` in seconds; null: no limit. */
    getChoices(): Promise<{ scopes: string[] | null; maxAge: number | null }>
    /** Newest first, without their texts. Rejects with status 401 for a visitor, as all do. */
    list(): Promise<Wire<ApiKey>[]>
    /** The only time that the key's text is returned. Rejects with status 400 for what no key may have, 403 for a scope that the user lacks, 409 for too many keys. */
    create(input: { name: string; scopes?: readonly string[]; expiresIn?: number; env?: string }): Promise<Wire<CreatedApiKey>>
    /** The next key with the same rights. Rejects with status 404 for no such key; with type `StepUpRequired` (403), as `create`, for a proof older than `proofAge`. */
    rotate(input: { id: string }): Promise<Wire<CreatedApiKey>>
    /** Ends a key. Rejects with status 404 for no such key. */
    revoke(input: { id: string }): Promise<boolean>
  }
}>

/** The methods of `auth.apiKeys`. */
export function createApi(kernel: Kernel, options: ResolvedOptions): ApiKeysApi['apiKeys'] {
  return {
    async create(who, wanted) {
      const { ctx, owner } = await findKeyOwner(kernel, who, 'create')
      if (!owner) throw new AccessDenied('apiKeys.create: no user is signed in on this request.')
      if (who instanceof Request && ctx.request) await assertProof(ctx, options, 'create')
      return createKey(ctx, options, owner, wanted)
    },
    async list(who) {
      const { ctx, owner } = await findKeyOwner(kernel, who)
      return owner ? listKeys(ctx, options, owner) : []
    },
    async rotate(who, id) {
      const { ctx, owner } = await findKeyOwner(kernel, who, 'rotate')
      if (owner && who instanceof Request && ctx.request) await assertProof(ctx, options, 'rotate')
      return owner ? rotateKey(ctx, options, owner, id) : null
    },
    async revoke(who, id) {
      const { ctx, owner } = await findKeyOwner(kernel, who, 'revoke')
      return owner ? revokeKey(ctx, owner, id) : false
    },
    async verify(request, key) {
      const result = typeof key === 'string' ? await verifyKey(await kernel.contextOf(request), options, key) : null
      return result && 'key' in result ? result.key : null
    },
  }
}

/** Adds the methods of `client.apiKeys`. */
export function addClientMethods(kernel: Kernel, options: ResolvedOptions): void {
  clientMethods(kernel, 'apiKeys', {
    getChoices: clientMethod(async (ctx) => {
      await requireOwner(ctx)
      return { scopes: options.scopes ? [...options.scopes] : null, maxAge: options.maxAge ?? null }
    }),
    list: clientMethod(async (ctx) => listKeys(ctx, options, await requireOwner(ctx))),
    create: clientMethod(
      (sent) => parseNewKey(Object(sent) as Record<string, unknown>),
      async (ctx, wanted) => createKey(ctx, options, await requireProvedOwner(ctx, options, 'create'), wanted),
    ),
    rotate: clientMethod(parseId, async (ctx, { id }) =>
      requireKey(await rotateKey(ctx, options, await requireProvedOwner(ctx, options, 'rotate'), id)),
    ),
    revoke: clientMethod(parseId, async (ctx, { id }) => requireKey(await revokeKey(ctx, await requireOwner(ctx), id))),
  })
}

async function requireOwner(ctx: Context): Promise<{ userId: string }> {
  const userId = await findUserId(ctx)
  if (userId === null) throw new HttpError(401, 'Sign in first.')
  return { userId }
}

async function requireProvedOwner(ctx: Context, options: ResolvedOptions, what: string): Promise<{ userId: string }> {
  const owner = await requireOwner(ctx)
  await assertProof(ctx, options, what)
  return owner
}

function requireKey<T>(result: T | null | false): T {
  if (result === null || result === false) throw new HttpError(404, 'No such key.')
  return result
}

function parseId(sent: unknown): { id: string } {
  return { id: String((Object(sent) as { id?: unknown }).id ?? '') }
}
