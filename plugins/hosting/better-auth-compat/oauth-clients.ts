/** What moves of the OAuth providers of better-auth: clients with their secrets, and consents. Of oidcProvider() and mcp() in 1.6, and of `@better-auth/oauth-provider`. */
import { fromBase64, sha256, toHex } from 'authkernel/kernel'
import type { ClientTaken, ConsentTaken } from 'authkernel/plugins/authorization-server'
import type { SourceRow } from '../import/ledger.ts'
import type { BetterAuthModel } from './schema.ts'
import { isTrue, type Source, type SourceFields, toDate, toText } from './source.ts'
import type { Move, MovedKind } from './users.ts'

const models: readonly BetterAuthModel[] = ['oauthClient', 'oauthApplication']
const epoch = new Date(0)

/** Clients that are switched off stay behind. */
export function oauthKinds(): readonly MovedKind<unknown>[] {
  return [clientKind(), consentKind()]
}

function clientKind(): MovedKind<ClientTaken> {
  async function* livePages(source: Source): AsyncGenerator<{ model: BetterAuthModel; rows: SourceFields[] }> {
    for (const model of models)
      if (source.has(model))
        for await (const rows of source.pages(model)) yield { model, rows: rows.filter((row) => !isTrue(row['disabled'])) }
  }
  return {
    kind: 'oauth-clients',
    model: 'oauthClient',
    models,
    service: 'clientImport',
    record: 'oauthClient',
    absent: (count) => ({ level: 'loss', message: `${count} OAuth clients stay behind: use authorizationServerPlugin() and jwtPlugin().` }),
    async count(source) {
      let count = 0
      for await (const { rows } of livePages(source)) count += rows.length
      return count
    },
    async *pages(move) {
      let plain = 0
      for await (const { model, rows } of livePages(move.source)) {
        plain += rows.filter((row) => model === 'oauthApplication' || row['requirePKCE'] === false || row['requirePKCE'] === 0).length
        yield Promise.all(rows.map((row) => (model === 'oauthClient' ? readClient(move, row) : readApplication(move, row))))
      }
      if (plain > 0)
        move.problems.push({
          name: 'oauth-pkce',
          level: 'note',
          count: plain,
          message: `${plain} OAuth clients were not obliged to use PKCE (RFC 7636). Here every authorization request needs \`code_challenge\` with S256: look at these clients before you switch.`,
        })
    },
    async isThere({ source }, keys) {
      const there = new Set<string>()
      for (const model of models)
        if (source.has(model))
          for (const row of await source.find(model, 'clientId', keys)) if (!isTrue(row['disabled'])) there.add(String(row['clientId']))
      return there
    },
  }
}

async function readClient({ secrets }: Move, row: SourceFields): Promise<SourceRow<ClientTaken>> {
  const id = String(row['clientId'])
  const method = toText(row['tokenEndpointAuthMethod']) ?? (isTrue(row['public']) ? 'none' : 'client_secret_basic')
  const metadata = {
    client_name: nameOf(row, id),
    redirect_uris: listOf(row['redirectUris']),
    post_logout_redirect_uris: listOf(row['postLogoutRedirectUris']),
    token_endpoint_auth_method: method,
    grant_types: listOf(row['grantTypes'] ?? ['authorization_code']).flatMap((one) =>
      one === 'authorization_code' ? [one, 'refresh_token'] : [one],
    ),
    ...(row['scopes'] !== null && row['scopes'] !== undefined && { scope: listOf(row['scopes']).join(' ') }),
    application_type: (toText(row['applicationType']) ?? toText(row['type'])) === 'native' ? 'native' : 'web',
    subject_type: toText(row['subjectType']) ?? 'public',
    dpop_bound_access_tokens: isTrue(row['dpopBoundAccessTokens']),
    ...textsOf(row, { logo_uri: 'icon', client_uri: 'uri', tos_uri: 'tos', policy_uri: 'policy' }),
    ...(method === 'private_key_jwt' && keysOf(row)),
  }
  const secret = method.startsWith('client_secret') ? await readSecret(toText(row['clientSecret']), secrets, false) : null
  return { key: id, value: { id, metadata, secret, created: toDate(row['createdAt']) ?? epoch }, userId: null }
}

async function readApplication({ secrets }: Move, row: SourceFields): Promise<SourceRow<ClientTaken>> {
  const id = String(row['clientId'])
  const stored = toText(row['clientSecret'])
  const isPublic = row['type'] === 'public' || stored === null
  const metadata = {
    client_name: nameOf(row, id),
    redirect_uris: String(row['redirectUrls'])
      .split(',')
      .map((uri) => uri.trim())
      .filter((uri) => uri !== ''),
    token_endpoint_auth_method: isPublic ? 'none' : 'client_secret_basic',
    application_type: row['type'] === 'native' ? 'native' : 'web',
    ...textsOf(row, { logo_uri: 'icon' }),
  }
  const secret = isPublic ? null : await readSecret(stored, secrets, true)
  return { key: id, value: { id, metadata, secret, created: toDate(row['createdAt']) ?? epoch }, userId: null }
}

/**
 * SHA-256 of a secret in hex. better-auth keeps its SHA-256 in base64url, the secret encrypted, or (`plain`, the default of oidcProvider) the secret. Null: a form
 * that is not known; a hash of another kind must not become a secret.
 */
async function readSecret(stored: string | null, secrets: readonly string[], plain: boolean): Promise<string | null> {
  if (stored === null) return null
  if (/^[\w-]{43}$/.test(stored)) return toHex(fromBase64(stored.replaceAll('-', '+').replaceAll('_', '/')))
  const { decryptText } = await import('./xchacha.ts')
  const opened = decryptText(stored, secrets) ?? (plain && /^[A-Za-z]{32}$/.test(stored) ? stored : undefined)
  return opened === undefined ? null : toHex(await sha256(opened))
}

function consentKind(): MovedKind<ConsentTaken> {
  const toRows = async (source: Source, rows: readonly SourceFields[]): Promise<SourceRow<ConsentTaken>[]> => {
    const [users, names] = [await verifiedAmong(source, rows), await namesAmong(source, rows)]
    return rows.filter(isGiven).flatMap((row): SourceRow<ConsentTaken>[] => {
      const [userId, clientId] = [String(row['userId']), String(row['clientId'])]
      const name = names.get(clientId)
      // A consent for an organization is for that alone, and one for a client that is gone is for none. A visitor who typed an address gave none for its owner.
      if (name === undefined || toText(row['referenceId']) !== null || !users.has(userId)) return []
      const value = { userId, clientId, name, scopes: listOf(row['scopes']), created: toDate(row['createdAt']) ?? epoch }
      return [{ key: `${userId}/${clientId}`, value, userId, compare: value.scopes }]
    })
  }
  return {
    kind: 'oauth-consents',
    model: 'oauthConsent',
    service: 'consentImport',
    record: 'oauthConsent',
    absent: (count) => ({
      level: 'loss',
      message: `${count} consents to OAuth clients stay behind: use authorizationServerPlugin() and jwtPlugin().`,
    }),
    async count(source) {
      let count = 0
      for await (const rows of source.pages('oauthConsent')) count += (await toRows(source, rows)).length
      return count
    },
    async *pages({ source, problems }) {
      let left = 0
      for await (const rows of source.pages('oauthConsent')) {
        const taken = await toRows(source, rows)
        left += rows.filter(isGiven).length - taken.length
        yield taken
      }
      if (left > 0)
        problems.push({
          name: 'oauth-consents-left',
          level: 'note',
          count: left,
          message: `${left} consents are not taken: of users with an unverified address, for an organization, or for a client that is gone or switched off. Users are asked again.`,
        })
    },
    async isThere({ source }, keys) {
      const userIds = [...new Set(keys.map((key) => key.slice(0, key.indexOf('/'))))]
      return new Set((await toRows(source, await source.find('oauthConsent', 'userId', userIds))).map(({ key }) => key))
    },
  }
}

/** oidcProvider stores a rejection, too. */
function isGiven(row: SourceFields): boolean {
  return isTrue(row['consentGiven'] ?? true)
}

async function verifiedAmong(source: Source, rows: readonly SourceFields[]): Promise<Set<string>> {
  const users = await source.find('user', 'id', [...new Set(rows.map((row) => String(row['userId'])))])
  return new Set(users.filter((user) => isTrue(user['emailVerified'])).map(({ id }) => String(id)))
}

async function namesAmong(source: Source, rows: readonly SourceFields[]): Promise<Map<string, string>> {
  const names = new Map<string, string>()
  const ids = [...new Set(rows.map((row) => String(row['clientId'])))]
  for (const model of models)
    if (source.has(model))
      for (const row of await source.find(model, 'clientId', ids))
        if (!isTrue(row['disabled'])) names.set(String(row['clientId']), nameOf(row, String(row['clientId'])))
  return names
}

function nameOf(row: SourceFields, id: string): string {
  return (toText(row['name'])?.trim() || id).slice(0, 100)
}

/** A list of a database: an array, its JSON, or texts with blanks or commas between. */
function listOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.map(String)
  const text = toText(value) ?? ''
  if (text.startsWith('[')) {
    try {
      return (JSON.parse(text) as unknown[]).map(String)
    } catch {
      return []
    }
  }
  return text.split(/[ ,]/).filter((one) => one !== '')
}

/** Addresses that cannot be shown here are left out: they are pictures and pages. */
function textsOf(row: SourceFields, names: Readonly<Record<string, string>>): Record<string, string> {
  const found = Object.entries(names).map(([member, field]) => [member, toText(row[field])] as const)
  return Object.fromEntries(found.filter((one): one is [string, string] => one[1]?.startsWith('https://') === true && URL.canParse(one[1])))
}

function keysOf(row: SourceFields): Record<string, unknown> {
  const uri = toText(row['jwksUri'])
  if (uri !== null) return { jwks_uri: uri }
  try {
    const jwks: unknown = typeof row['jwks'] === 'string' ? JSON.parse(row['jwks']) : row['jwks']
    return { jwks: Array.isArray(jwks) ? { keys: jwks } : jwks }
  } catch {
    return {}
  }
}
