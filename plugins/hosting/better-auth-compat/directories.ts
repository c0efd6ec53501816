/** What moves of `@better-auth/scim`: directories, their tokens, users and groups. Version 1.6 has a provider, 1.7 connections with credentials. */
import { bytes, fromBase64, sha256, toHex } from 'authkernel/kernel'
import type { DirectoryTaken, ScimGroupTaken, ScimMemberTaken, ScimTokenTaken, ScimUserTaken } from 'authkernel/plugins/scim'
import type { SourceRow } from '../import/ledger.ts'
import type { BetterAuthModel } from './schema.ts'
import { isTrue, type Source, type SourceFields, toDate, toText } from './source.ts'
import type { Move, MovedKind } from './users.ts'

const epoch = new Date(0)

/** In the order in which they are written. */
export function directoryKinds(): readonly MovedKind<unknown>[] {
  return [
    kindOf<DirectoryTaken>(
      'scim-directories',
      ['scimProvider', 'scimManagedConnection'],
      'directoryImport',
      'scimDirectory',
      readDirectories,
    ),
    kindOf<ScimTokenTaken>('scim-tokens', ['scimProvider', 'scimManagedCredential'], 'scimTokenImport', 'scimToken', readTokens),
    kindOf<ScimUserTaken>('scim-users', ['scimUser', 'scimProvider'], 'scimUserImport', 'scimUser', readUsers),
    kindOf<ScimGroupTaken>('scim-groups', ['scimGroup'], 'scimGroupImport', 'scimGroup', readGroups),
    kindOf<ScimMemberTaken>('scim-members', ['scimGroupMember'], 'scimMemberImport', 'scimMember', readMembers),
  ]
}

/** Digests of a token for the service `scimTokenDigests`. `secret`: `credentialHashSecret` of scim(). */
export async function digestsOfToken(token: string, secret: string | undefined): Promise<string[]> {
  if (token.length > 1000) return []
  if (token.startsWith('ba_scim_credential_')) return secret === undefined ? [] : [await sign(token, secret)]
  // base64url of `secret:provider` or `secret:provider:organization`.
  try {
    const text = new TextDecoder().decode(fromBase64(token.replaceAll('-', '+').replaceAll('_', '/')))
    const [base = '', provider = ''] = text.split(':')
    return base.length >= 16 && provider !== '' ? [toHex(await sha256(base))] : []
  } catch {
    return []
  }
}

/** What a reader needs. */
type Reading = Pick<Move, 'source' | 'secrets' | 'scimSecret'> & { now: Date }
type Read<T> = (reading: Reading, model: BetterAuthModel, rows: readonly SourceFields[]) => Promise<SourceRow<T>[]>

function kindOf<T>(
  kind: string,
  models: readonly [BetterAuthModel, ...BetterAuthModel[]],
  service: string,
  record: string,
  read: Read<T>,
): MovedKind<T> {
  async function* pages(reading: Reading): AsyncGenerator<SourceRow<T>[]> {
    for (const model of models)
      if (reading.source.has(model)) for await (const rows of reading.source.pages(model)) yield read(reading, model, rows)
  }
  const keysOf = async (reading: Reading): Promise<Set<string>> => {
    const keys = new Set<string>()
    for await (const rows of pages(reading)) for (const { key } of rows) keys.add(key)
    return keys
  }
  return {
    kind,
    model: models[0],
    models,
    service,
    record,
    absent: (count) => ({ level: 'loss', message: `${count} ${kind} stay behind: use scimPlugin() and organizationsPlugin().` }),
    count: async (source, now) => (await keysOf({ source, now, secrets: [] })).size,
    pages: (move) => pages({ ...move, now: move.ctx.now }),
    async isThere(move, keys) {
      const there = await keysOf({ ...move, now: move.ctx.now })
      return new Set(keys.filter((key) => there.has(key)))
    },
  }
}

async function readDirectories(
  { source }: Reading,
  model: BetterAuthModel,
  rows: readonly SourceFields[],
): Promise<SourceRow<DirectoryTaken>[]> {
  const live = rows.filter(isLive)
  const organizations = await organizationsAmong(source, live.map(organizationOf))
  return live.map((row) => {
    const key = directoryKey(model, row)
    const organizationId = organizationOf(row)
    const value = { key, organizationId, name: nameOf(row), created: toDate(row['createdAt']) ?? epoch }
    return { key, value, userId: null, ...(!organizations.has(organizationId) && { withheld: ofNoOrganization }) }
  })
}

const ofNoOrganization = 'the directory is of no organization. Make one with auth.scim.directories, and issue a new token'

async function readTokens(reading: Reading, model: BetterAuthModel, rows: readonly SourceFields[]): Promise<SourceRow<ScimTokenTaken>[]> {
  return model === 'scimProvider' ? readPlainTokens(reading, rows) : readCredentials(reading, rows)
}

/** Of 1.6: the secret itself, its SHA-256, or the secret encrypted. */
async function readPlainTokens({ source, secrets }: Reading, rows: readonly SourceFields[]): Promise<SourceRow<ScimTokenTaken>[]> {
  const { decryptText } = await import('./xchacha.ts')
  const organizations = await organizationsAmong(source, rows.map(organizationOf))
  return Promise.all(
    rows.map(async (row): Promise<SourceRow<ScimTokenTaken>> => {
      const stored = String(row['scimToken'])
      const isSealed = /^(?:\$ba\$\d{1,9}\$)?[0-9a-f]{80,}$/.test(stored)
      const opened = isSealed ? decryptText(stored, secrets) : undefined
      const digest =
        opened !== undefined ? toHex(await sha256(opened)) : isSealed ? '' : (digestInBase64(stored) ?? toHex(await sha256(stored)))
      const directory = directoryKey('scimProvider', row)
      const value: ScimTokenTaken = { directory, digest, scope: 'write', created: epoch, expires: null }
      const withheld = organizations.has(organizationOf(row)) ? undefined : ofNoOrganization
      return { key: String(row['id']), value, userId: null, ...(withheld !== undefined && { withheld }) }
    }),
  )
}

/** Of 1.7: an HMAC of the whole token. */
async function readCredentials({ source, now, scimSecret }: Reading, rows: readonly SourceFields[]): Promise<SourceRow<ScimTokenTaken>[]> {
  const live = rows.filter((row) => row['status'] === 'active' && (toDate(row['expiresAt']) ?? now) > now)
  const connections = await connectionsBy(
    source,
    'id',
    live.map((row) => String(row['connectionRecordId'])),
  )
  const organizations = await organizationsAmong(source, [...connections.values()].map(organizationOf))
  return live.flatMap((row): SourceRow<ScimTokenTaken>[] => {
    const connection = connections.get(String(row['connectionRecordId']))
    if (!connection || !isLive(connection)) return []
    const scope = scopeOf(String(row['serializedScopes']))
    const value: ScimTokenTaken = {
      directory: directoryKey('scimManagedConnection', connection),
      digest: digestInBase64(String(row['tokenDigest'])) ?? '',
      scope: scope ?? 'read',
      created: toDate(row['createdAt']) ?? epoch,
      expires: toDate(row['expiresAt']),
    }
    const withheld = !organizations.has(organizationOf(connection))
      ? ofNoOrganization
      : scimSecret === undefined
        ? 'give `credentialHashSecret` of scim() as `scimSecret` of betterAuthCompatPlugin, or issue new tokens'
        : scope === undefined
          ? 'the token may change users or groups alone, which a token here cannot say. Issue a new one'
          : undefined
    return [{ key: String(row['credentialId'] ?? row['id']), value, userId: null, ...(withheld !== undefined && { withheld }) }]
  })
}

async function readUsers(reading: Reading, model: BetterAuthModel, rows: readonly SourceFields[]): Promise<SourceRow<ScimUserTaken>[]> {
  return model === 'scimUser' ? readManagedUsers(reading, rows) : readAccounts(reading, rows)
}

async function readManagedUsers({ source }: Reading, rows: readonly SourceFields[]): Promise<SourceRow<ScimUserTaken>[]> {
  const connections = await connectionsBy(
    source,
    'connectionId',
    rows.map((row) => String(row['connectionId'])),
  )
  return rows.flatMap((row): SourceRow<ScimUserTaken>[] => {
    const connection = connections.get(String(row['connectionId']))
    const userId = toText(row['userId'])
    if (userId === null || (connection && !isLive(connection))) return []
    const [id, created] = [String(row['id']), toDate(row['createdAt']) ?? epoch]
    const value: ScimUserTaken = {
      id,
      directory: connection ? directoryKey('scimManagedConnection', connection) : '',
      organizationId: connection ? organizationOf(connection) : '',
      userId,
      resource: resourceOf(row),
      created,
      modified: toDate(row['updatedAt']) ?? created,
    }
    return [{ key: id, value, userId, ...(!connection && { withheld: ofOptions }) }]
  })
}

const ofOptions = 'its connection is in the options of scim(). Make a directory with auth.scim.directories, and let it send its users again'

function resourceOf(row: SourceFields): Record<string, unknown> {
  const {
    meta: _meta,
    id: _id,
    schemas: _schemas,
    groups: _groups,
    ...attributes
  } = Object(parse(row['serializedAttributes'])) as Record<string, unknown>
  const text = (field: string): string | undefined => toText(row[field]) ?? undefined
  const name = { formatted: text('formattedName'), givenName: text('givenName'), familyName: text('familyName') }
  const emails = parse(row['serializedEmails'])
  return {
    ...(Object.values(name).some((part) => part !== undefined) && { name }),
    ...(text('displayName') !== undefined && { displayName: text('displayName') }),
    ...(Array.isArray(emails) && { emails }),
    ...attributes,
    userName: row['userName'],
    ...(text('externalId') !== undefined && { externalId: text('externalId') }),
    active: isTrue(row['active']),
  }
}

/** Of 1.6: users with an account of the provider. Their id is that of the user. */
async function readAccounts({ source }: Reading, rows: readonly SourceFields[]): Promise<SourceRow<ScimUserTaken>[]> {
  const providers = new Map(rows.map((row) => [String(row['providerId']), row]))
  const accounts = await source.find('account', 'providerId', [...providers.keys()])
  const users = new Map(
    (
      await source.find(
        'user',
        'id',
        accounts.map((account) => String(account['userId'])),
      )
    ).map((user) => [String(user['id']), user]),
  )
  const organizations = await organizationsAmong(source, rows.map(organizationOf))
  return accounts.flatMap((account): SourceRow<ScimUserTaken>[] => {
    const [provider, user] = [providers.get(String(account['providerId'])), users.get(String(account['userId']))]
    const email = toText(user?.['email'])
    if (!provider || !user || email === null || !organizations.has(organizationOf(provider))) return []
    const [id, created] = [String(user['id']), toDate(account['createdAt']) ?? epoch]
    const externalId = toText(account['accountId'])
    const name = toText(user['name'])
    const resource = {
      userName: email,
      ...(externalId !== null && externalId !== email && { externalId }),
      ...(name !== null && { displayName: name, name: { formatted: name } }),
      emails: [{ value: email, primary: true }],
      active: !isTrue(user['banned']),
    }
    const value = {
      id,
      directory: directoryKey('scimProvider', provider),
      organizationId: organizationOf(provider),
      userId: id,
      resource,
      created,
      modified: created,
    }
    return [{ key: id, value, userId: id }]
  })
}

async function readGroups(
  { source }: Reading,
  _model: BetterAuthModel,
  rows: readonly SourceFields[],
): Promise<SourceRow<ScimGroupTaken>[]> {
  const connections = await connectionsBy(
    source,
    'connectionId',
    rows.map((row) => String(row['connectionId'])),
  )
  return rows.flatMap((row): SourceRow<ScimGroupTaken>[] => {
    const connection = connections.get(String(row['connectionId']))
    if (connection && !isLive(connection)) return []
    const [id, created] = [String(row['id']), toDate(row['createdAt']) ?? epoch]
    const value: ScimGroupTaken = {
      id,
      directory: connection ? directoryKey('scimManagedConnection', connection) : '',
      displayName: String(row['displayName']),
      externalId: toText(row['externalId']),
      created,
      modified: toDate(row['updatedAt']) ?? created,
    }
    return [{ key: id, value, userId: null, ...(!connection && { withheld: ofOptions }) }]
  })
}

async function readMembers(
  { source }: Reading,
  _model: BetterAuthModel,
  rows: readonly SourceFields[],
): Promise<SourceRow<ScimMemberTaken>[]> {
  const users = new Map(
    (
      await source.find(
        'scimUser',
        'id',
        rows.map((row) => String(row['scimUserId'])),
      )
    ).map((user) => [String(user['id']), user]),
  )
  const connections = await connectionsBy(
    source,
    'connectionId',
    [...users.values()].map((user) => String(user['connectionId'])),
  )
  return rows.flatMap((row): SourceRow<ScimMemberTaken>[] => {
    const user = users.get(String(row['scimUserId']))
    const connection = connections.get(String(user?.['connectionId']))
    const userId = toText(user?.['userId'])
    if (!user || !connection || !isLive(connection) || userId === null) return []
    const [groupId, scimUserId] = [String(row['groupId']), String(row['scimUserId'])]
    const value = { groupId, directory: directoryKey('scimManagedConnection', connection), scimUserId, userId }
    return [{ key: `${groupId}/${scimUserId}`, value, userId }]
  })
}

async function connectionsBy(source: Source, field: 'id' | 'connectionId', values: readonly string[]): Promise<Map<string, SourceFields>> {
  if (!source.has('scimManagedConnection')) return new Map()
  const rows = await source.find('scimManagedConnection', field, [...new Set(values)])
  return new Map(rows.map((row) => [String(row[field]), row]))
}

async function organizationsAmong(source: Source, ids: readonly string[]): Promise<Set<string>> {
  if (!source.has('organization')) return new Set()
  return new Set((await source.find('organization', 'id', [...new Set(ids)])).map(({ id }) => String(id)))
}

function organizationOf(row: SourceFields): string {
  return toText(row['organizationId'] ?? row['provisioningDomainId']) ?? ''
}

/** A connection that was ended stays behind. A provider of 1.6 has no status. */
function isLive(row: SourceFields): boolean {
  return (row['status'] ?? 'active') === 'active'
}

function directoryKey(model: BetterAuthModel, row: SourceFields): string {
  return model === 'scimProvider' ? `provider ${String(row['id'])}` : String(row['connectionId'])
}

function nameOf(row: SourceFields): string {
  return (toText(row['providerId']) ?? toText(row['connectionId']) ?? 'directory').slice(0, 100)
}

/** Undefined: it may write one of both. */
function scopeOf(serialized: string): 'read' | 'write' | undefined {
  const scopes = parse(serialized)
  const has = (scope: string): boolean => Array.isArray(scopes) && scopes.includes(scope)
  const [users, groups] = [has('scim.users.write'), has('scim.groups.write')]
  if (users !== groups) return undefined
  return users ? 'write' : 'read'
}

/** 32 bytes in base64url become hex; undefined: it is something else. */
function digestInBase64(text: string): string | undefined {
  return /^[\w-]{43}$/.test(text) ? toHex(fromBase64(text.replaceAll('-', '+').replaceAll('_', '/'))) : undefined
}

async function sign(token: string, secret: string): Promise<string> {
  const key = await crypto.subtle.importKey('raw', bytes(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return toHex(new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes(token))))
}

function parse(json: unknown): unknown {
  if (typeof json === 'object') return json
  try {
    return JSON.parse(String(json))
  } catch {
    return undefined
  }
}
