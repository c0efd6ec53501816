/** `/api-keys`: users manage their own keys. JSON, and only from pages of the same origin. */
import type { Context, Kernel, RouteMethod } from 'authkernel/kernel'
import { StepUpRequired } from './errors.ts'
import { createKey, listKeys, parseNewKey, revokeKey, rotateKey } from './manage.ts'
import type { ResolvedOptions } from './options.ts'
import { assertProof, findUserId } from './owner.ts'

/** Adds the four routes. */
export function addRoutes(kernel: Kernel, options: ResolvedOptions): void {
  addJsonRoute(kernel, 'GET', '/api-keys', async (ctx, userId) => ({ keys: await listKeys(ctx, options, { userId }) }))
  addJsonRoute(kernel, 'POST', '/api-keys', async (ctx, userId) => {
    await assertProof(ctx, options, 'create')
    return createKey(ctx, options, { userId }, parseNewKey(await ctx.body()))
  })
  addJsonRoute(kernel, 'POST', '/api-keys/:id/rotate', async (ctx, userId) => {
    await assertProof(ctx, options, 'rotate')
    return rotateKey(ctx, options, { userId }, ctx.params['id'] ?? '')
  })
  addJsonRoute(
    kernel,
    'DELETE',
    '/api-keys/:id',
    async (ctx, userId) => (await revokeKey(ctx, { userId }, ctx.params['id'] ?? '')) && { revoked: true },
  )
}

type Answer = (ctx: Context, userId: string) => Promise<unknown>

function addJsonRoute(kernel: Kernel, method: RouteMethod, path: `/${string}`, answer: Answer): void {
  kernel.route({
    method,
    path,
    ...(method !== 'GET' && { csrf: 'origin' as const, body: { bytes: 8192, types: ['json' as const] } }),
    async handler(ctx) {
      const userId = await findUserId(ctx)
      if (userId === null) return jsonResponse({ message: 'Sign in first.' }, 401, { 'WWW-Authenticate': 'Bearer realm="api-keys"' })
      const result = await answer(ctx, userId)
      return result === null || result === false
        ? jsonResponse({ message: 'No such key.' }, 404)
        : jsonResponse(result, method === 'POST' ? 201 : 200)
    },
    failure: (_ctx, error) =>
      error.type === StepUpRequired.type
        ? jsonResponse({ error: 'insufficient_user_authentication', type: error.type, message: 'Prove again who you are.' }, 403)
        : jsonResponse({ message: error.status < 500 ? 'This was refused.' : 'Something failed.' }, error.status),
  })
}

function jsonResponse(value: unknown, status: number, headers: Record<string, string> = {}): Response {
  return Response.json(value, { status, headers })
}
