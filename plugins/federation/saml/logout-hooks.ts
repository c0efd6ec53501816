/** Where a sign-out here goes on at the identity provider. */
import { type Context, type Kernel, type Lazy, type SessionAttributes } from 'authkernel/kernel'

interface Work {
  leaveProvider(ctx: Context, attributes: SessionAttributes): Promise<string | undefined>
}

/** Registers the hook `signOut`: after a session that began at a SAML provider the browser goes there too, where the provider has `signOutUrl` and `signing`. */
export function addLogout(kernel: Kernel, load: Lazy<Work>): void {
  const endings = new WeakMap<Context, SessionAttributes>()
  kernel.decorate('session', (inner) => ({
    async end(ctx) {
      const attributes = await inner.attributes?.(ctx)
      if (attributes) endings.set(ctx, attributes)
      return inner.end(ctx)
    },
  }))
  kernel.hook('signOut', async ({ ctx }) => {
    const attributes = endings.get(ctx)
    if (!attributes) return undefined
    try {
      return await (await load()).leaveProvider(ctx, attributes)
    } catch (error) {
      // The sign-out here counts, whatever becomes of the one at the provider.
      ctx.logger.error(error instanceof Error ? error : new Error(String(error)))
      return undefined
    }
  })
}
