/** The grant of RFC 8628: the device asks for its tokens (sections 3.4 and 3.5). */
import { type AppClient, type AppTokens, AuthError, type Context, type Kernel, type TokenAnswer } from 'authkernel/kernel'
import { findCode } from './codes.ts'
import { countPoll } from './limits.ts'
import type { ResolvedOptions } from './options.ts'

const grantType = 'urn:ietf:params:oauth:grant-type:device_code'

/** Adds the grant to the token endpoint, and tells clients of it. */
export function addGrant(kernel: Kernel, { apps }: ResolvedOptions): void {
  kernel.decorate('appTokens', (inner) => {
    for (const id of apps) {
      if (!inner.client(id)) throw new AuthError(`Plugin "device-flow": \`apps\` names "${id}", which is no app of bearerPlugin.`)
    }
    return {
      grant: (ctx, client, form) =>
        form.get('grant_type') === grantType && apps.has(client.id)
          ? pollForTokens(ctx, inner, client, form)
          : inner.grant(ctx, client, form),
      async metadata(ctx) {
        const members = await inner.metadata(ctx)
        const types = (members['grant_types_supported'] ?? []) as readonly string[]
        return { ...members, device_authorization_endpoint: `${ctx.base}/oauth/device`, grant_types_supported: [...types, grantType] }
      },
    }
  })
}

async function pollForTokens(ctx: Context, tokens: AppTokens, client: AppClient, form: URLSearchParams): Promise<TokenAnswer> {
  const code = form.get('device_code')
  if (!code) return { error: 'invalid_request', error_description: '`device_code` is needed.' }
  const row = code.length === 43 ? await findCode(ctx, 'device', code) : null
  if (!row || row.clientId !== client.id) return { error: 'invalid_grant' }
  if (row.until <= ctx.now) return { error: 'expired_token' }
  if (row.status === 'denied') return { error: 'access_denied' }
  if (row.status === 'pending') return { error: await countPoll(ctx, ctx.records('deviceCode'), row) }
  const { id, userId, attributes, scopes, access } = row
  if (userId === null) return { error: 'invalid_grant' }
  // In one write with the app session: one of several polls gets the tokens, and what ends the sessions of the user comes before or after.
  return tokens.issue(ctx, { client, userId, attributes, scopes, access, by: 'device' }, [
    { record: 'deviceCode', take: id, if: { status: 'approved' } },
  ])
}
