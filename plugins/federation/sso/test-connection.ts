/** Checks of a connection without a user: what `auth.sso.test` and `npx authkernel sso test` show. */
import { type AnyContext, NetworkError, type Row } from 'authkernel/kernel'
import type {} from 'authkernel/plugins/saml'
import { type Actor, requireConnection } from './actor.ts'
import { readCertificate } from './certificates.ts'
import { listConnectionDomains } from './organizations.ts'
import { secretsOf } from './provider.ts'
import type { ConnectionRow, OidcSettings, SamlSettings } from './tables.ts'

/** One check. */
export interface ConnectionCheck {
  /** What was checked: `enabled`, `domains`, `discovery`, `issuer`, `endpoints`, `auth`, `keys`, `metadata`, `certificates`. */
  name: string
  ok: boolean
  /** What was found, or what to do. */
  detail: string
}

/** Reads the discovery document and the keys of the identity provider, through `publicFetch`. */
export async function testConnection(actor: Actor, id: string): Promise<{ ok: boolean; checks: ConnectionCheck[] }> {
  const row = await requireConnection(actor, id, false)
  const { ctx } = actor
  const checks: ConnectionCheck[] = []
  const add = (name: string, ok: boolean, detail: string): boolean => checks.push({ name, ok, detail }) > 0 && ok
  add('enabled', row.enabled, row.enabled ? 'The connection is switched on.' : 'The connection is switched off. Set `enabled` to true.')
  const domains = await listConnectionDomains(ctx, row)
  add(
    'domains',
    domains.length > 0,
    domains.length > 0 ? domains.join(', ') : 'There is no proved domain. Prove one, so that users can sign in.',
  )
  await (row.type === 'oidc' ? testOidc(ctx, row, add) : testSaml(ctx, row, add))
  return { ok: checks.every(({ ok }) => ok), checks }
}

type Add = (name: string, ok: boolean, detail: string) => boolean

async function testOidc(ctx: AnyContext, row: Row<ConnectionRow>, add: Add): Promise<void> {
  const { issuer, auth = 'client_secret_basic' } = row.settings as OidcSettings
  const location = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const document = await readJson(ctx, location, (detail) => void add('discovery', false, detail))
  if (document) {
    add('discovery', true, location)
    const named = document['issuer']
    add(
      'issuer',
      named === issuer,
      named === issuer ? issuer : `The document names the issuer ${JSON.stringify(named)}. Enter it as \`issuer\`.`,
    )
    const missing = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'].filter((name) => typeof document[name] !== 'string')
    add('endpoints', missing.length === 0, missing.length === 0 ? 'All endpoints are there.' : `The document has no ${missing.join(', ')}.`)
    const methods = document['token_endpoint_auth_methods_supported']
    const takes = !Array.isArray(methods) || methods.includes(auth)
    const isStored = auth === 'private_key_jwt' ? secretsOf(row).privateKey : secretsOf(row).clientSecret
    add(
      'auth',
      takes && isStored !== undefined,
      takes ? `${auth}` : `The provider does not take ${auth}. It takes ${(methods as unknown[]).join(', ')}.`,
    )
    const keys =
      typeof document['jwks_uri'] === 'string'
        ? await readJson(ctx, document['jwks_uri'], (detail) => void add('keys', false, detail))
        : undefined
    if (keys) {
      const list = keys['keys']
      add('keys', Array.isArray(list) && list.length > 0, Array.isArray(list) ? `${list.length} keys` : 'The key set has no `keys`.')
    }
  }
}

const warningDays = 30

async function testSaml(ctx: AnyContext, row: Row<ConnectionRow>, add: Add): Promise<void> {
  const { metadataUrl, certificates = [], entityId } = row.settings as SamlSettings
  let ends: readonly Date[]
  try {
    const found = metadataUrl === undefined ? undefined : await ctx.service('samlMetadata').read(ctx, metadataUrl)
    if (found) {
      add('metadata', true, metadataUrl ?? '')
      const fits = found.entityId === entityId
      add('issuer', fits, fits ? entityId : `The metadata is of ${found.entityId}, not of ${entityId}. Make a new connection.`)
    }
    ends = found ? found.certificates.map(({ notAfter }) => notAfter) : certificates.map((pem) => readCertificate(pem).notAfter)
  } catch (error) {
    return void add('metadata', false, error instanceof Error ? error.message : 'The metadata cannot be read.')
  }
  const last = new Date(Math.max(...ends.map((end) => end.getTime())))
  const isLong = last.getTime() - ctx.now.getTime() > warningDays * 86_400_000
  const day = last.toISOString().slice(0, 10)
  add(
    'certificates',
    isLong,
    isLong ? `The last certificate ends on ${day}.` : `The last certificate ends on ${day}. Add the next one of the identity provider.`,
  )
}

async function readJson(ctx: AnyContext, url: string, fail: (detail: string) => void): Promise<Record<string, unknown> | undefined> {
  try {
    const { content } = await ctx.service('publicFetch').get(url, { signal: ctx.signal, limit: 262_144 })
    const value: unknown = JSON.parse(new TextDecoder().decode(content))
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
    fail(`${url} is no JSON object.`)
  } catch (error) {
    fail(error instanceof NetworkError ? error.message : `${url} is no JSON.`)
  }
  return undefined
}
