/** Parses an authorization request (RFC 6749 section 4.1.1 with PKCE). */
import type { AppClient, Context } from 'authkernel/kernel'
import { AppRequestRefused } from './errors.ts'
import { scopesFor } from './grants.ts'
import { issuerOf, type ResolvedOptions } from './options.ts'
import { isRegistered, type Target } from './redirect.ts'

/** What an app asks for. */
export interface AppRequest extends Target {
  app: AppClient
  challenge: string
  /** Thumbprint of the key that the app will prove for the code (RFC 9449 section 10); null: it named none. */
  jkt: string | null
  scopes: readonly string[]
}
/** What is wrong with a request that may be answered. */
interface RefusedRequest extends Target {
  error: string
  description: string
}

/** Throws AppRequestRefused where the answer would have to go to an unknown address. */
export function parseRequest(ctx: Context, options: ResolvedOptions, query: URLSearchParams): AppRequest | RefusedRequest {
  const one = (name: string): string | undefined => (query.getAll(name).length === 1 ? (query.get(name) as string) : undefined)
  const app = options.apps.get(one('client_id') ?? '')
  if (!app) throw new AppRequestRefused('An authorization request names no app of bearerPlugin: look at its `client_id` and at `apps`.')
  const redirectUri = one('redirect_uri')
  if (redirectUri === undefined || !app.redirectUris.some((registered) => isRegistered(registered, redirectUri)))
    throw new AppRequestRefused(
      `An authorization request of the app "${app.id}" has a redirect_uri that is not among its \`redirectUris\`.`,
    )
  const target = { redirectUri, state: one('state'), issuer: one('iss') === ctx.base ? ctx.base : issuerOf(ctx, options) }
  const refuse = (error: string, description: string): RefusedRequest => ({ ...target, error, description })
  for (const name of new Set(query.keys()))
    if (query.getAll(name).length > 1) return refuse('invalid_request', `${printableName(name)} is repeated.`)
  if (one('response_type') !== 'code')
    return refuse(query.has('response_type') ? 'unsupported_response_type' : 'invalid_request', 'response_type must be code.')
  if (!['query', undefined].includes(one('response_mode'))) return refuse('invalid_request', 'response_mode must be query.')
  if (query.has('request') || query.has('request_uri')) return refuse('request_not_supported', 'Send the parameters themselves.')
  const challenge = one('code_challenge') ?? ''
  if (!/^[\w-]{43}$/.test(challenge) || one('code_challenge_method') !== 'S256')
    return refuse('invalid_request', 'PKCE is needed: code_challenge with code_challenge_method S256.')
  const jkt = one('dpop_jkt') ?? null
  if (jkt !== null && !/^[\w-]{43}$/.test(jkt)) return refuse('invalid_request', 'dpop_jkt must be a SHA-256 thumbprint.')
  if ((target.state?.length ?? 0) > 1000) return refuse('invalid_request', 'state is longer than 1000 characters.')
  const scopes = scopesFor(app, query.get('scope'))
  if (!scopes) return refuse('invalid_scope', 'The app may not ask for one of these scopes.')
  return { ...target, app, challenge, jkt, scopes }
}

function printableName(name: string): string {
  return name.replace(/[^\w-]/g, '').slice(0, 40)
}
