/** What moves of `@better-auth/sso`: connections by OpenID Connect and SAML, with the addresses that identity providers know. */
import type { ConnectionTaken } from 'authkernel/plugins/sso'
import type { SourceRow } from '../import/ledger.ts'
import { isTrue, type Source, type SourceFields, toDate, toText } from './source.ts'
import type { Move, MovedKind } from './users.ts'

type Json = Readonly<Record<string, unknown>>

/** Accounts stay under the ids of the providers, which are also keys of the rows. */
export function connectionKind(): MovedKind<ConnectionTaken> {
  return {
    kind: 'sso-providers',
    model: 'ssoProvider',
    service: 'connectionImport',
    record: 'ssoConnection',
    absent: (count) => ({
      level: 'loss',
      message: `${count} connections of sso() stay behind: use ssoPlugin(), and samlPlugin() for SAML.`,
    }),
    count: (source) => source.count('ssoProvider'),
    async *pages(move) {
      const rows: SourceFields[] = []
      for await (const page of move.source.pages('ssoProvider')) {
        rows.push(...page)
        yield page.map(toRow)
      }
      noteAddresses(move, rows)
    },
    async isThere({ source }: { source: Source }, keys) {
      return new Set((await source.find('ssoProvider', 'providerId', keys)).map(({ providerId }) => String(providerId)))
    },
  }
}

function toRow(row: SourceFields): SourceRow<ConnectionTaken> {
  const providerId = String(row['providerId'])
  const organizationId = toText(row['organizationId'])
  const [oidc, saml] = [parse(row['oidcConfig']), parse(row['samlConfig'])]
  const read = oidc ? readOidc(row, oidc) : readSaml(row, saml ?? {})
  const value: ConnectionTaken = {
    organizationId,
    domains: organizationId === null && isTrue(row['domainVerified']) ? domainsOf(row) : [],
    connection: { name: providerId.slice(0, 100), ...read.connection },
    former: { providerId, ...read.former },
    created: toDate(row['createdAt']) ?? new Date(0),
  }
  return { key: providerId, value, userId: null, ...(read.withheld !== undefined && { withheld: read.withheld }) }
}

interface Read {
  connection: Json
  former: Omit<ConnectionTaken['former'], 'providerId'>
  withheld?: string | undefined
}

function readOidc(row: SourceFields, config: Json): Read {
  const mapping = Object(config['mapping']) as Json
  const scopes = Array.isArray(config['scopes']) ? config['scopes'].map(String) : []
  const auth = toText(config['tokenEndpointAuthentication']) ?? 'client_secret_basic'
  return {
    connection: {
      type: 'oidc',
      issuer: toText(config['issuer']) ?? row['issuer'],
      clientId: config['clientId'],
      clientSecret: toText(config['clientSecret']) ?? undefined,
      auth,
      ...(scopes.includes('openid') && { scope: scopes.join(' ') }),
      mapping: namesOf(mapping, { id: 'sub', email: 'email', name: 'name' }),
    },
    former: { callbackPath: `/sso/callback/${String(row['providerId'])}` },
    withheld: auth === 'private_key_jwt' ? 'the private key is in the options of sso(). Make the connection again' : undefined,
  }
}

function readSaml(row: SourceFields, config: Json): Read {
  const [idp, sp] = [Object(config['idpMetadata']) as Json, Object(config['spMetadata']) as Json]
  const mapping = Object(config['mapping']) as Json
  const providerId = String(row['providerId'])
  const metadata = toText(idp['metadata'])
  const certificates = [idp['cert'] ?? config['cert'] ?? []].flat().map((one) => toPem(String(one)))
  const entry = toText(config['entryPoint']) ?? undefined
  return {
    connection: {
      type: 'saml',
      ...(metadata === null ? { entityId: idp['entityID'], signInUrl: entry, certificates } : { metadata }),
      ...(toText(config['identifierFormat']) !== null && { nameIdFormat: config['identifierFormat'] }),
      mapping: namesOf(mapping, { id: 'nameID', email: 'email', name: 'displayName' }),
    },
    former: { callbackPath: acsPathOf(config, providerId), entityId: ownEntityId(row, config, sp) },
    withheld: reasonAgainst(config, idp, sp),
  }
}

function reasonAgainst(config: Json, idp: Json, sp: Json): string | undefined {
  if (isTrue(sp['isAssertionEncrypted']) || isTrue(idp['isAssertionEncrypted']))
    return 'its assertions are encrypted. Make the connection again'
  return isTrue(config['authnRequestsSigned'])
    ? 'its requests are signed, and better-auth keeps no certificate. Make the connection again'
    : undefined
}

/** Where the identity provider sends its answers: below the base path, as better-auth says it in its requests. */
function acsPathOf(config: Json, providerId: string): string {
  const written = /\/sso\/saml2\/callback\/[\w.~-]{1,64}$/.exec(toText(config['callbackUrl']) ?? '')
  return written ? written[0] : `/sso/saml2/sp/acs/${providerId}`
}

/** What better-auth calls itself at the identity provider. */
function ownEntityId(row: SourceFields, config: Json, sp: Json): string {
  const inMetadata = /\bentityID="([^"]{1,1024})"/.exec(toText(sp['metadata']) ?? '')?.[1]
  return toText(config['audience']) ?? inMetadata ?? toText(sp['entityID']) ?? toText(config['issuer']) ?? String(row['issuer'])
}

/** Names of claims or attributes, where they are not those that better-auth takes itself. */
function namesOf(mapping: Json, usual: Readonly<Record<'id' | 'email' | 'name', string>>): Json {
  const named = Object.entries(usual).flatMap(([field, name]) => {
    const given = toText(mapping[field])
    return given === null || (field === 'id' && given === name) ? [] : [[field, given] as const]
  })
  return Object.fromEntries(named)
}

/** What the host and the organizations have to do. */
function noteAddresses({ problems }: Move, rows: readonly SourceFields[]): void {
  if (rows.length === 0) return
  const addresses = rows.map((row) => {
    const { former } = toRow(row).value
    return `${former.providerId}: ${former.callbackPath}`
  })
  problems.push({
    name: 'sso-addresses',
    level: 'note',
    count: rows.length,
    message: `${rows.length} connections go on with the redirect URI or ACS that their identity providers know, below the base path: ${addresses.slice(0, 10).join(', ')}. betterAuthCompatPlugin answers there. Nothing has to be registered again. If you set \`redirectURI\` of sso(), register these in its place. Try each with \`npx authkernel sso test\`.`,
    examples: addresses.slice(0, 100),
  })
  const claimed = rows.filter((row) => toText(row['organizationId']) !== null || !isTrue(row['domainVerified']))
  if (claimed.length === 0) return
  const names = claimed.map((row) => `${String(row['providerId'])}: ${domainsOf(row).join(', ')}`)
  problems.push({
    name: 'sso-domains',
    level: 'note',
    count: claimed.length,
    message: `The domains of ${claimed.length} connections must be proved here: by the organization on its page of domains, or by you with auth.sso.update for a connection of the host. Until then users with an account sign in, addresses of new users are not verified, and a typed address does not lead to the connection.`,
    examples: names.slice(0, 100),
  })
}

function domainsOf(row: SourceFields): string[] {
  return String(row['domain'] ?? '')
    .split(',')
    .map((domain) => domain.trim().toLowerCase())
    .filter((domain) => domain !== '')
}

function toPem(certificate: string): string {
  const text = certificate.trim()
  if (text === '' || text.includes('-----BEGIN ')) return text
  const lines = text.replaceAll(/\s/g, '').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----`
}

function parse(json: unknown): Json | undefined {
  if (typeof json === 'object' && json !== null) return json as Json
  try {
    const parsed: unknown = JSON.parse(String(json ?? ''))
    return typeof parsed === 'object' && parsed !== null ? (parsed as Json) : undefined
  } catch {
    return undefined
  }
}
