/** `/api-keys`: people manage their own keys. JSON, and only from pages of the same origin. */
import {
  AccessDenied,
  clientMethod,
  clientMethods,
  type ClientPart,
  type Context,
  HttpError,
  type Kernel,
  type RouteMethod,
  type Wire,
} from 'authkernel/kernel'
import { createKey, listKeys, type MadeApiKey, type NewApiKey, revokeKey, rotateKey } from './manage.ts'
import type { ResolvedOptions } from './options.ts'
import { assertProof, StepUpRequired } from './proof.ts'
import type { ApiKey } from './table.ts'

/** `client.apiKeys` with the option `routes`: the keys of the person who is signed in. Each rejects with `AccessDenied` (403) for a request by a key or an app. */
export type ApiKeysClient = ClientPart<{
  readonly apiKeys: {
    /** Newest first, without their texts. Rejects with status 401 for nobody, as all do. */
    list(): Promise<Wire<ApiKey>[]>
    /** The only time that the key's text is told. Rejects with status 400 for what no key may have, 403 for a scope that the person lacks, 409 for too many keys. */
    create(input: { name: string; scopes?: readonly string[]; expiresIn?: number; env?: string }): Promise<Wire<MadeApiKey>>
    /** The next key with the same rights. Rejects with status 404 for no such key; with type `StepUpRequired` (403), as `create`, for a proof older than `proofAge`. */
    rotate(input: { id: string }): Promise<Wire<MadeApiKey>>
    /** Ends a key. Rejects with status 404 for no such key. */
    revoke(input: { id: string }): Promise<boolean>
  }
}>

/** Adds the four routes. */
export function addRoutes(kernel: Kernel, options: ResolvedOptions): void {
  const route = (method: RouteMethod, path: `/${string}`, answer: (ctx: Context, userId: string) => Promise<unknown>): void =>
    kernel.route({
      method,
      path,
      ...(method !== 'GET' && { csrf: 'origin' as const, body: { bytes: 8192, types: ['json' as const] } }),
      async handler(ctx) {
        const userId = await owner(ctx)
        if (userId === null) return json({ message: 'Sign in first.' }, 401, { 'WWW-Authenticate': 'Bearer realm="api-keys"' })
        const found = await answer(ctx, userId)
        return found === null || found === false ? json({ message: 'No such key.' }, 404) : json(found, method === 'POST' ? 201 : 200)
      },
      failure: (_ctx, error) =>
        error.type === StepUpRequired.type
          ? json({ error: 'insufficient_user_authentication', type: error.type, message: 'Prove again who you are.' }, 403)
          : json({ message: error.status < 500 ? 'This was refused.' : 'Something failed.' }, error.status),
    })
  route('GET', '/api-keys', async (ctx, userId) => ({ keys: await listKeys(ctx, options, { userId }) }))
  route('POST', '/api-keys', async (ctx, userId) => {
    await assertProof(ctx, options, 'create')
    return createKey(ctx, options, { userId }, wantedOf(await ctx.body()))
  })
  route('POST', '/api-keys/:id/rotate', async (ctx, userId) => {
    await assertProof(ctx, options, 'rotate')
    return rotateKey(ctx, options, { userId }, ctx.params['id'] ?? '')
  })
  route('DELETE', '/api-keys/:id', async (ctx, userId) => (await revokeKey(ctx, { userId }, ctx.params['id'] ?? '')) && { revoked: true })
}

/** Adds the methods of the client. */
export function addMethods(kernel: Kernel, options: ResolvedOptions): void {
  const signedIn = async (ctx: Context): Promise<{ userId: string }> => {
    const userId = await owner(ctx)
    if (userId === null) throw new HttpError(401, 'Sign in first.')
    return { userId }
  }
  const proved = async (ctx: Context, what: string): Promise<{ userId: string }> => {
    const person = await signedIn(ctx)
    await assertProof(ctx, options, what)
    return person
  }
  const found = <T>(answer: T | null | false): T => {
    if (answer === null || answer === false) throw new HttpError(404, 'No such key.')
    return answer
  }
  const withId = (sent: unknown): { id: string } => ({ id: String((Object(sent) as { id?: unknown }).id ?? '') })
  clientMethods(kernel, 'apiKeys', {
    list: clientMethod(async (ctx) => listKeys(ctx, options, await signedIn(ctx))),
    create: clientMethod(
      (sent) => wantedOf(Object(sent) as Record<string, unknown>),
      async (ctx, wanted) => createKey(ctx, options, await proved(ctx, 'create'), wanted),
    ),
    rotate: clientMethod(withId, async (ctx, { id }) => found(await rotateKey(ctx, options, await proved(ctx, 'rotate'), id))),
    revoke: clientMethod(withId, async (ctx, { id }) => found(await revokeKey(ctx, await signedIn(ctx), id))),
  })
}

/** Whose keys: of the person who is signed in; null for nobody. A key must not make keys: throws AccessDenied. */
async function owner(ctx: Context): Promise<string | null> {
  const session = await ctx.currentSession()
  if (session && ('apiKey' in session || 'bearer' in session))
    throw new AccessDenied('A request that is signed in by an API key or by an app cannot manage keys.')
  return (session && (await ctx.session.user(ctx))?.id) ?? null
}

function wantedOf({ name, scopes, expiresIn, env, organization }: Record<string, unknown>): NewApiKey {
  return {
    name: name as string,
    scopes: Array.isArray(scopes) ? scopes.map(String) : [],
    ...(typeof expiresIn === 'number' && { expiresIn }),
    ...(typeof env === 'string' && { env }),
    ...(typeof organization === 'string' && { organization }),
  }
}

function json(value: unknown, status: number, headers: Record<string, string> = {}): Response {
  return Response.json(value, { status, headers })
}

/** The same for pages, where a key or an app is simply nobody. */
export async function personOf(ctx: Context): Promise<string | null> {
  const session = await ctx.currentSession()
  if (!session || 'apiKey' in session || 'bearer' in session || 'actor' in session) return null
  return (await ctx.session.user(ctx))?.id ?? null
}
