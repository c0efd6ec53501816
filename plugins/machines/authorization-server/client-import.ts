/** Clients of another product with what users allowed them, for a move that may be run again. Ids and secrets stay. */
import type { AnyContext, ImportTarget } from 'authkernel/kernel'
import { idOfKey, recordTarget } from 'authkernel/kernel/stores'
import { readClientMetadata } from './client-metadata.ts'
import { isDocumentAddress } from './client-document.ts'
import { newClientRow } from './clients.ts'
import { OAuthRefusal } from './errors.ts'
import { certificateMethods } from './mutual-tls.ts'
import type { ResolvedOptions } from './options.ts'
import { maxClientId } from './tables.ts'

/** A client. Its key is the `client_id`. */
export interface ClientTaken {
  id: string
  /** In the form of RFC 7591. */
  metadata: Readonly<Record<string, unknown>>
  /** SHA-256 of the secret in hex; null: it has none. */
  secret: string | null
  created: Date
}
/** What a user allowed a client. */
export interface ConsentTaken {
  userId: string
  clientId: string
  /** Name of the client. */
  name: string
  scopes: readonly string[]
  created: Date
}

declare module 'authkernel/kernel' {
  interface Services {
    /** Stores clients of another product. */
    clientImport: ImportTarget<ClientTaken>
    /** Stores consents of another product. They count for this server itself: a resource is asked about again. */
    consentImport: ImportTarget<ConsentTaken>
  }
}

/** Stands for the issuer in the audiences of a consent: a move does not know under which address the app runs. */
export const issuerItself = 'issuer'

/** Where a client may authenticate by a secret, it may send it by header or form: former products tell the two not apart. */
export function clientTarget(options: ResolvedOptions): ImportTarget<ClientTaken> {
  return recordTarget<'oauthClient', ClientTaken>({
    record: 'oauthClient',
    rowId: (key) => key,
    refuse: (_ctx, client) => findReason(options, client),
    toRow: async (_ctx, { metadata: given, secret, created }) => {
      const metadata = readClientMetadata(given, 'host')
      return newClientRow({ metadata, source: 'moved', created, secret })
    },
    factsOf: ({ metadata, secret, source, registration, version, disabled }) => [metadata, secret, source, registration, version, disabled],
    guard: ['source', 'version', 'disabled'],
    keep: ['created', 'used'],
  })
}

export function consentTarget(): ImportTarget<ConsentTaken> {
  return recordTarget<'oauthConsent', ConsentTaken>({
    record: 'oauthConsent',
    rowId: idOfKey,
    toRow: async (ctx: AnyContext, { userId, clientId, name, scopes, created }) => ({
      userId,
      clientId,
      name: name.slice(0, 100),
      scopes: [...scopes],
      audiences: scopes.includes('openid') ? [issuerItself] : [],
      created,
      used: ctx.now,
    }),
    factsOf: ({ scopes, audiences }) => [scopes, audiences],
    guard: ['userId', 'clientId'],
    keep: ['created', 'used'],
  })
}

function findReason(options: ResolvedOptions, { id, metadata, secret }: ClientTaken): string | undefined {
  if (id === '' || id.length > maxClientId || isDocumentAddress(id)) return 'the `client_id` cannot be one here'
  if (options.clients.has(id)) return '`clients` of authorizationServerPlugin has a client of this id'
  try {
    const { token_endpoint_auth_method: method, subject_type: subject } = readClientMetadata(metadata, 'host')
    if (method.endsWith('tls_client_auth') && !certificateMethods(options.mutualTls).includes(method))
      return `it authenticates by \`${method}\`, which needs \`mutualTls\` of authorizationServerPlugin`
    if (subject === 'pairwise') return 'its users have pairwise ids, which would be others here. Register the client again'
    if (method.startsWith('client_secret') !== (secret !== null))
      return 'the secret is missing, or is kept in a form that is not known. Register the client again'
    return undefined
  } catch (error) {
    if (error instanceof OAuthRefusal) return error.message
    throw error
  }
}
