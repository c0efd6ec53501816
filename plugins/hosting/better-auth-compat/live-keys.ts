/** While both products run: an API key that better-auth has removed or switched off counts here no longer, from its next use on. */
import type { AnyContext, Kernel } from 'authkernel/kernel'
import type {} from 'authkernel/plugins/api-keys'
import { readEntries } from '../import/tables.ts'
import { removeMissing } from '../import/withdraw.ts'
import { apiKeyKind, hasLiveKey } from './api-keys.ts'
import { type LiveParts, openMove, refreshBan, sourceName } from './live.ts'
import { isOpen } from './period.ts'
import { readOrRefuse } from './source.ts'

/** Asks better-auth at each use of a key that was taken from it, and whether its owner is banned there. Throws Overloaded when its tables cannot be read. */
export function watchKeys(kernel: Kernel, parts: LiveParts): void {
  kernel.hook('access', async ({ userId, by, ctx }) => {
    // A sign-in has its own look, at second factors too.
    if (by !== 'signIn') await refreshBan(ctx, parts, userId)
    return true
  })
  kernel.hook('apiKey', async ({ key, ctx }) => isKeyThere(ctx, parts, key.id), { of: 'api-keys' })
}

async function isKeyThere(ctx: AnyContext, parts: LiveParts, id: string): Promise<boolean> {
  const { hash } = (await ctx.records('apiKey').get(id)) ?? {}
  if (hash === undefined || !(await isOpen(ctx))) return true
  const moved = apiKeyKind()
  const [entry] = await readEntries(ctx, sourceName, moved.kind, [hash])
  // Keys that were made here, and those about which a run has decided.
  if (entry === undefined || entry.digest === '') return true
  const move = await openMove(ctx, parts)
  if (!move.source.has(moved.model)) return true
  if (await readOrRefuse(() => hasLiveKey(move, hash))) return true
  const target = parts.findTarget(moved.service)
  if (target) await removeMissing(ctx, { source: sourceName, kind: moved.kind, target }, [hash], { apply: true })
  return false
}
