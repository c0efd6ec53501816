/** What better-auth calls its tables and columns, and what an app calls them instead. */
import { AuthError } from 'authkernel/kernel'

/** Tables of better-auth and of its plugins, by the names of its models. */
export type BetterAuthModel =
  | 'user'
  | 'account'
  | 'session'
  | 'twoFactor'
  | 'passkey'
  | 'organization'
  | 'member'
  | 'invitation'
  | 'team'
  | 'teamMember'
  | 'apikey'
  | 'ssoProvider'
  | 'scimProvider'
  | 'scimManagedConnection'
  | 'scimManagedCredential'
  | 'scimUser'
  | 'scimGroup'
  | 'scimGroupMember'
  | 'oauthApplication'
  | 'oauthClient'
  | 'oauthConsent'

/** Names of tables and columns where they differ from those of better-auth. Give the same object to `betterAuthNames` and to `betterAuthCompatPlugin`. */
export interface BetterAuthSchema {
  /** `snake`: columns and tables are `email_verified`, `two_factor`. Default `camel`, as better-auth makes them. */
  casing?: 'camel' | 'snake' | undefined
  /** As the options of better-auth say it: `{ user: { modelName: 'people', fields: { emailVerified: 'verified' } } }`. */
  models?: { readonly [M in BetterAuthModel]?: { modelName?: string; fields?: Readonly<Record<string, string>> } } | undefined
}

/** Fields that a table must have, or it is not the one that is meant. */
export const neededFields: Readonly<Record<BetterAuthModel, readonly string[]>> = {
  user: ['id', 'email', 'emailVerified'],
  account: ['id', 'userId', 'providerId', 'accountId', 'password'],
  session: ['id', 'userId', 'token', 'expiresAt'],
  twoFactor: ['id', 'userId', 'secret', 'backupCodes'],
  passkey: ['id', 'userId', 'publicKey', 'credentialID'],
  organization: ['id', 'name', 'slug'],
  member: ['id', 'organizationId', 'userId', 'role'],
  invitation: ['id', 'organizationId', 'email', 'role', 'status', 'expiresAt'],
  team: ['id', 'name', 'organizationId'],
  teamMember: ['id', 'teamId', 'userId'],
  // Without these a key that is switched off, over or used up would sign in.
  apikey: ['id', 'key', 'enabled', 'expiresAt', 'remaining', 'permissions'],
  // Without its organization a connection would be one of the host.
  ssoProvider: ['id', 'providerId', 'issuer', 'domain', 'oidcConfig', 'samlConfig', 'organizationId'],
  // Of 1.6.
  scimProvider: ['id', 'providerId', 'scimToken'],
  // Of 1.7.
  scimManagedConnection: ['id', 'connectionId', 'provisioningDomainId', 'status'],
  scimManagedCredential: ['id', 'connectionRecordId', 'tokenDigest', 'status', 'serializedScopes', 'expiresAt'],
  scimUser: ['id', 'connectionId', 'userName', 'active'],
  scimGroup: ['id', 'connectionId', 'displayName'],
  scimGroupMember: ['id', 'groupId', 'scimUserId'],
  // Of oidcProvider() and mcp(), then of @better-auth/oauth-provider.
  oauthApplication: ['id', 'clientId', 'redirectUrls', 'clientSecret', 'type', 'disabled'],
  oauthClient: ['id', 'clientId', 'redirectUris', 'clientSecret', 'disabled'],
  oauthConsent: ['id', 'userId', 'clientId', 'scopes'],
}

/** The table of a model. */
export function tableOf({ casing, models }: BetterAuthSchema, model: BetterAuthModel): string {
  return models?.[model]?.modelName ?? (casing === 'snake' ? snakeCase(model) : model)
}

/** The column of a field. */
export function columnOf({ casing, models }: BetterAuthSchema, model: BetterAuthModel, field: string): string {
  return models?.[model]?.fields?.[field] ?? (casing === 'snake' ? snakeCase(field) : field)
}

/** Throws AuthError for a schema of the wrong shape. */
export function checkSchema({ casing, models = {} }: BetterAuthSchema): void {
  if (casing !== undefined && casing !== 'camel' && casing !== 'snake')
    throw new AuthError('better-auth-compat: `schema.casing` must be "camel" or "snake".')
  const unknown = Object.keys(models).filter((model) => !Object.hasOwn(neededFields, model))
  if (unknown.length > 0)
    throw new AuthError(
      `better-auth-compat: \`schema.models\` has no model ${unknown.join(', ')}. Known: ${Object.keys(neededFields).join(', ')}.`,
    )
}

/** `credentialID` is `credential_id`. */
function snakeCase(name: string): string {
  return name.replaceAll(/([a-z\d])([A-Z]+)/g, '$1_$2').toLowerCase()
}
