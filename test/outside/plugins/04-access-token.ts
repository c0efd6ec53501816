/** Access tokens of providers that are good when you get them: refreshed when needed, once for all who ask at the same time, also between processes. */
import { AuthError, type Context, type Plugin, type TokenSet } from 'authkernel/kernel'

declare module 'authkernel/kernel' {
  interface Records {
    accessToken: { person: string; provider: string; access: string; refresh: string | null; expires: Date | null }
  }
}
/** The person has to sign in at the provider again. */
export class TokenRefreshError extends AuthError {
  static override type = 'TokenRefreshError'
}
export interface AccessTokens {
  /** Null: no user is signed in, or not by this provider. Throws TokenRefreshError. */
  accessToken(request: Request, provider: string): Promise<string | null>
}

/** `early`: seconds before the end at which a token is renewed. */
export function accessTokenPlugin({ early = 60 }: { early?: number } = {}): Plugin<AccessTokens> {
  return {
    name: 'access-token',
    requires: ['records', 'oauth', 'session:attributes'],
    setup(kernel) {
      kernel.records('accessToken', {
        fields: {
          person: { type: 'string' },
          provider: { type: 'string' },
          access: { type: 'text', sealed: true },
          refresh: { type: 'text', sealed: true, optional: true },
          expires: { type: 'date', optional: true },
        },
        unique: [['person', 'provider']],
      })
      const fields = (tokens: TokenSet) => ({
        access: tokens.access_token ?? '',
        expires: tokens.expires_at === undefined ? null : new Date(tokens.expires_at * 1000),
        ...(tokens.refresh_token !== undefined && { refresh: tokens.refresh_token }),
      })
      kernel.on('signedIn', async ({ login: { account, person }, ctx }) => {
        if (account.access_token === undefined) return
        const table = ctx.records('accessToken')
        const key = { person, provider: account.provider }
        const kept = await table.get(key)
        await table.put({ ...key, ...fields(account), id: kept?.id ?? crypto.randomUUID() })
      })

      async function fresh(ctx: Context, key: { person: string; provider: string }): Promise<string | null> {
        const table = ctx.records('accessToken')
        // A request that waits reads again: the holder of the lease has written what came.
        for (let tries = 0; tries < 50; tries++) {
          const row = await table.get(key)
          if (!row || row.expires === null || row.expires.getTime() - early * 1000 > ctx.now.getTime()) return row?.access ?? null
          if (row.refresh === null) throw new TokenRefreshError(`Provider "${key.provider}" gave no refresh token.`)
          const lease = await ctx.lease(`access-token ${row.id}`, 30)
          if (!lease) await new Promise((done) => setTimeout(done, 100))
          else if ((await table.get(row.id))?.refresh !== row.refresh) await lease.release()
          else {
            const tokens = await ctx.service('oauth').refresh(ctx, key.provider, row.refresh)
            await table.update(row.id, fields(tokens))
            await lease.release()
            return tokens.access_token ?? null
          }
        }
        throw new TokenRefreshError(`Another process did not finish the refresh at "${key.provider}".`)
      }

      return {
        async accessToken(request, provider) {
          const ctx = await kernel.contextOf(request)
          const person = await personOf(ctx)
          return person && fresh(ctx, { person, provider })
        },
      }
    },
  }
}

/** The same text as `login.person`. */
async function personOf(ctx: Context): Promise<string | null> {
  const user = await ctx.session.user(ctx)
  if (!user || ctx.store) return user && `user:${user.id}`
  const attributes = await ctx.session.attributes?.(ctx)
  return attributes ? `account:${attributes.provider}:${attributes.sub}` : null
}
